"""Lines of play as people write them, ``check, bet 75%, call, 2c``, followed in a betting tree."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, Action, BettingNode, below_card, card_word
from treeplex.games.holdem.cards import card_name, parse_card
from treeplex.games.holdem.classes import class_of
from treeplex.games.holdem.spot import Spot
from treeplex.games.holdem.words import SINCE, Word, words_of

SHOWN: Final = 6  # number of actions that an error lists
CLOSE: Final = 0.75  # allowed error of a size in per cent of the pot: people write 33% for a third


class LineStep(NamedTuple):
    """An action on the path to a node."""

    node: BettingNode
    action: int
    depth: int  # streets dealt since the start


class Path(NamedTuple):
    """A node, the cards on the board there, and the actions that lead to it."""

    node: BettingNode
    cards: tuple[int, ...]
    steps: tuple[LineStep, ...]


def follow(spot: Spot, root: BettingNode, line: str) -> Path:
    """Follow a line from the root of a betting tree.

    A line names every card that is dealt. Percentages are of the pot after a call.
    """
    path = Path(root, spot.cards, ())
    for number, word in enumerate(words_of(line), 1):
        if path.node.kind == CHANCE:
            path = _deal(path, word, number)
        elif path.node.kind == DECISION:
            action = _choose(spot, path.node, word, number)
            step = LineStep(path.node, action, len(path.cards) - len(spot.cards))
            path = path._replace(node=path.node.children[action], steps=(*path.steps, step))
        else:
            raise ParameterError(f"{_which(word, number)} comes too late: no player acts after a {path.node.kind}.")
    return path


def require_decision(node: BettingNode) -> None:
    """Reject a node at which no player acts."""
    if node.kind != DECISION:
        raise ParameterError(f"This is a {node.kind} node: no player acts here.")


def action_named(spot: Spot, node: BettingNode, text: str) -> int:
    """Return the only action at a node that a text names, in the notation of lines."""
    words = words_of(text)
    return _choose(spot, node, words[0] if len(words) == 1 else Word(text, "", None, ""), 1)


def _choose(spot: Spot, node: BettingNode, word: Word, number: int) -> int:
    """Return the action that a word names; raise ParameterError if there is none, or more than one."""
    matching = _matching(spot, node, word)
    if len(matching) == 1:
        return matching[0]
    named = [name_of(spot, node, node.actions[k]) for k in matching or range(len(node.actions))]
    listed = ", ".join(named[:SHOWN]) + (", ..." if len(named) > SHOWN else "")
    if matching:
        raise ParameterError(f"{_which(word, number)} may be each of these, so write one in full: {listed}.")
    raise ParameterError(
        f"{_which(word, number)} is not possible there; these are possible: {listed}. Words are separated by commas,"
        " slashes or blanks."
    )


def _matching(spot: Spot, node: BettingNode, word: Word) -> list[int]:
    """Return all actions that a word may name."""
    kinds = [action.kind for action in node.actions]
    if word.verb in ("bet", "raise", "all-in"):
        sized = [k for k, a in enumerate(node.actions) if a.amount and (word.verb != "all-in" or a.kind == "all-in")]
        if word.number is not None:
            return _of_size(spot, node, word, word.number, sized)
        return (
            [kinds.index(word.verb)] if kinds.count(word.verb) == 1 else sized
        )  # the only raise beside all-in may be called "raise"
    if word.text == "c" and "check" in kinds:  # without a bet, PioSOLVER writes "c" for a check
        return [kinds.index("check")]
    return [kinds.index(word.verb)] if word.verb in kinds and word.number is None else []


def _of_size(spot: Spot, node: BettingNode, word: Word, n: float, sized: list[int]) -> list[int]:
    """Return bets and raises of a size. A bare number is an amount or per cent of the pot, below 10 also a fraction."""
    chip, actions = spot.chip, node.actions
    since = node.paid + node.to_call - node.faced if word.unit == SINCE else 0.0
    equal = [
        k for k in sized if abs(since + actions[k].amount - (n * node.faced if word.unit == "x" else n)) < chip / 2
    ]
    if word.unit in (SINCE, "x"):
        return equal
    if word.unit == "%":
        return [k for k in sized if _is_percent(spot, node, actions[k], n)]
    named = [k for k in equal if actions[k].kind == word.verb]
    if word.full and named:  # the program's own notation is never ambiguous
        return named
    shares = (n, 100.0 * n) if n < 10.0 else (n,)
    return [k for k in sized if k in equal or any(_is_percent(spot, node, actions[k], share) for share in shares)]


def _is_percent(spot: Spot, node: BettingNode, action: Action, number: float) -> bool:
    """Whether an action is ``number`` per cent of the pot, up to rounding to whole chips."""
    pot = spot.pot + 2 * (node.paid + node.to_call)
    off = abs(action.amount - node.faced - number * pot / 100.0)
    return off <= spot.chip * 0.500001 or off < CLOSE * pot / 100.0


def _which(word: Word, number: int) -> str:
    text = quoted(word.text)
    return f"Word {number} of the line, {text if len(text) <= 40 else text[:37] + '...'},"


def percent(spot: Spot, node: BettingNode, action: Action) -> float:
    """Size of a bet or raise as a percentage of the pot after a call."""
    return 100.0 * (action.amount - node.faced) / (spot.pot + 2 * (node.paid + node.to_call))


def name_of(spot: Spot, node: BettingNode, action: Action) -> str:
    """Return an action with its percentage of the pot.

    ``bet 330 (33%)``
    """
    return f"{action.name} ({percent(spot, node, action):.0f}%)" if action.amount else action.name


def _deal(path: Path, word: Word, number: int) -> Path:
    if word.verb != "card":
        raise ParameterError(f"{_which(word, number)} is not a card. A card is dealt here: name one such as 2c.")
    card = parse_card(word.text)
    if card in path.cards:
        raise ParameterError(f"The card {card_name(card)} is already on the board.")
    after = below_card(path.node, card_word(class_of(path.cards, card)))
    return path._replace(node=after, cards=(*path.cards, card))
