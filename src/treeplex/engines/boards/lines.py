"""Lines of play as people write them, ``check, bet 75%, call, 2c``: where they lead in a subgame."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.engines.boards.boards import SAME, Deal, Suits
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Decision
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, Action, Node, below_card, card_word
from treeplex.games.holdem.cards import card_name, parse_card
from treeplex.games.holdem.classes import class_of
from treeplex.games.holdem.words import SINCE, Word, words_of

SHOWN: Final = 6  # actions that a refusal lists
CLOSE: Final = 0.75  # per cent of the pot that a size may be off: people write 33% for a third


class Step(NamedTuple):
    """An action taken on the way to a place."""

    decision: Decision
    action: int
    depth: int
    board: int
    suits: Suits


class Place(NamedTuple):
    """A public node. Hands of the board that was named become hands of the stored board by changing suits."""

    node: Node
    depth: int  # streets dealt since the start
    board: int  # among the stored boards of that street
    cards: tuple[int, ...]  # the board as it was named
    suits: Suits  # what each suit is on the stored board
    steps: tuple[Step, ...]


def follow(game: HoldemGame, line: str) -> Place:
    """The node a line leads to. Cards may be left out nowhere; percentages are of the pot after a call."""
    root = game.streets[0].decisions[0].node
    place = Place(root, 0, 0, game.spot.cards, SAME, ())
    for number, word in enumerate(words_of(line), 1):
        if place.node.kind == CHANCE:
            place = _deal(game, place, word, number)
        elif place.node.kind == DECISION:
            place = _act(game, place, word, number)
        else:
            raise ParameterError(f"{_which(word, number)} comes too late: no player acts after a {place.node.kind}.")
    return place


def decision_at(game: HoldemGame, place: Place) -> Decision:
    """The decision of a place at which a player decides."""
    for decision in game.streets[place.depth].decisions:
        if decision.node is place.node:
            return decision
    raise ParameterError(f"This is a {place.node.kind} node: no player acts here.")


def action_named(game: HoldemGame, node: Node, text: str) -> int:
    """The one action at a node that a text names, in the words of a line."""
    words = words_of(text)
    return _choose(game, node, words[0] if len(words) == 1 else Word(text, "", None, ""), 1)


def _act(game: HoldemGame, place: Place, word: Word, number: int) -> Place:
    node = place.node
    action = _choose(game, node, word, number)
    step = Step(decision_at(game, place), action, place.depth, place.board, place.suits)
    return place._replace(node=node.children[action], steps=(*place.steps, step))


def _choose(game: HoldemGame, node: Node, word: Word, number: int) -> int:
    """The action that a word names."""
    found = _meant(game, node, word)
    if len(found) == 1:
        return found[0]
    named = [name_of(game, node, node.actions[k]) for k in found or range(len(node.actions))]
    listed = ", ".join(named[:SHOWN]) + (", ..." if len(named) > SHOWN else "")
    if found:
        raise ParameterError(f"{_which(word, number)} may be each of these, so write one in full: {listed}.")
    raise ParameterError(
        f"{_which(word, number)} is not possible there; these are possible: {listed}. Words are separated by commas,"
        " slashes or blanks."
    )


def _meant(game: HoldemGame, node: Node, word: Word) -> list[int]:
    """All actions that a word may name."""
    kinds = [action.kind for action in node.actions]
    if word.verb in ("bet", "raise", "all-in"):
        sized = [k for k, a in enumerate(node.actions) if a.amount and (word.verb != "all-in" or a.kind == "all-in")]
        if word.number is not None:
            return _of_size(game, node, word, word.number, sized)
        return [kinds.index(word.verb)] if kinds.count(word.verb) == 1 else sized  # beside all-in, one raise is "raise"
    if word.text == "c" and "check" in kinds:  # where there is nothing to call, as PioSOLVER writes it
        return [kinds.index("check")]
    return [kinds.index(word.verb)] if word.verb in kinds and word.number is None else []


def _of_size(game: HoldemGame, node: Node, word: Word, n: float, sized: list[int]) -> list[int]:
    """Bets and raises of a size. A bare number is an amount or per cent of the pot, below 10 also a share of it."""
    chip, actions = game.spot.chip, node.actions
    since = node.paid + node.to_call - node.faced if word.unit == SINCE else 0.0
    equal = [
        k for k in sized if abs(since + actions[k].amount - (n * node.faced if word.unit == "x" else n)) < chip / 2
    ]
    if word.unit in (SINCE, "x"):
        return equal
    if word.unit == "%":
        return [k for k in sized if _is_percent(game, node, actions[k], n)]
    named = [k for k in equal if actions[k].kind == word.verb]
    if word.full and named:  # as the program itself writes actions: never ambiguous
        return named
    shares = (n, 100.0 * n) if n < 10.0 else (n,)
    return [k for k in sized if k in equal or any(_is_percent(game, node, actions[k], share) for share in shares)]


def _is_percent(game: HoldemGame, node: Node, action: Action, wanted: float) -> bool:
    """Is an action so many per cent of the pot, but for rounding to whole chips?"""
    pot = game.spot.pot + 2 * (node.paid + node.to_call)
    off = abs(action.amount - node.faced - wanted * pot / 100.0)
    return off <= game.spot.chip * 0.500001 or off < CLOSE * pot / 100.0


def _which(word: Word, number: int) -> str:
    text = quoted(word.text)
    return f"Word {number} of the line, {text if len(text) <= 40 else text[:37] + '...'},"


def percent(game: HoldemGame, node: Node, action: Action) -> float:
    """A bet or raise as a percentage of the pot after a call."""
    return 100.0 * (action.amount - node.faced) / (game.spot.pot + 2 * (node.paid + node.to_call))


def name_of(game: HoldemGame, node: Node, action: Action) -> str:
    """An action with its share of the pot.

    ``bet 330 (33%)``
    """
    return f"{action.name} ({percent(game, node, action):.0f}%)" if action.amount else action.name


def _deal(game: HoldemGame, place: Place, word: Word, number: int) -> Place:
    if word.verb != "card":
        raise ParameterError(f"{_which(word, number)} is no card. A card is dealt here: name one such as 2c.")
    card = parse_card(word.text)
    if card in place.cards:
        raise ParameterError(f"The card {card_name(card)} lies on the board already.")
    depth, cards = place.depth + 1, (*place.cards, card)
    stored = card // 4 * 4 + place.suits[card % 4]
    boards = game.boards[place.depth]
    for board in range(int(boards.child[place.board]), int(boards.child[place.board + 1])):
        back = _image(game.deals[depth][board], stored)
        if back is not None:
            suits = tuple(back[suit] for suit in place.suits)
            after = below_card(place.node, card_word(class_of(place.cards, card)))
            return Place(after, depth, board, cards, (suits[0], suits[1], suits[2], suits[3]), place.steps)
    raise ParameterError(f"The card {card_name(card)} cannot be dealt here.")


def _image(deal: Deal, card: int) -> Suits | None:
    """The change of suits that takes ``card``, of the board or an image of it, back to the board's last card."""
    last = deal.cards[-1]
    for suits in deal.images:
        if last // 4 == card // 4 and suits[last % 4] == card % 4:
            return suits.index(0), suits.index(1), suits.index(2), suits.index(3)
    return None
