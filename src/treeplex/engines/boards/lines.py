"""Lines of play as people write them, ``check, bet 75%, call, 2c``: where they lead in a subgame."""

from __future__ import annotations

import re
from typing import NamedTuple

from treeplex.engines.boards.boards import SAME, Deal, Suits
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Decision
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import CHANCE, DECISION, Action, Node
from treeplex.games.holdem.cards import card_name, parse_card

_CARD = re.compile(r"^(?:turn|river)?\s*([2-9tjqka][cdhs])$", re.IGNORECASE)
_BET = re.compile(r"^(bet|raise|all-?in|allin)\s*(?:to\s*)?(?:(\d+(?:\.\d+)?)(%?))?$")


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
    for word in (part.strip().lower() for part in line.split(",")):
        if not word:
            continue
        if place.node.kind == CHANCE:
            place = _deal(game, place, word)
        elif place.node.kind == DECISION:
            place = _act(game, place, word)
        else:
            raise ParameterError(f"The line ends before {word!r}: no player acts after a {place.node.kind}.")
    return place


def decision_at(game: HoldemGame, place: Place) -> Decision:
    """The decision of a place at which a player decides."""
    for decision in game.streets[place.depth].decisions:
        if decision.node is place.node:
            return decision
    raise ParameterError(f"This is a {place.node.kind} node: no player acts here.")


def _act(game: HoldemGame, place: Place, word: str) -> Place:
    node = place.node
    action = _choose(game, node, word)
    step = Step(decision_at(game, place), action, place.depth, place.board, place.suits)
    return place._replace(node=node.children[action], steps=(*place.steps, step))


def _choose(game: HoldemGame, node: Node, word: str) -> int:
    """The action that a word names."""
    names = [action.name for action in node.actions]
    if word in names:
        return names.index(word)
    kinds = {"c": "call", "x": "check", "k": "check", "f": "fold"}
    plain = kinds.get(word, word)
    same = [k for k, action in enumerate(node.actions) if action.kind == plain]
    if len(same) == 1:
        return same[0]
    found = _BET.match(word)
    if found and found[2] is None and found[1].startswith("all"):
        same = [k for k, action in enumerate(node.actions) if action.kind == "all-in"]
    elif found and found[2] is None:
        same = [k for k, action in enumerate(node.actions) if action.amount]
    elif found:
        wanted = float(found[2])
        sizes = [percent(game, node, a) if found[3] else float(a.amount) for a in node.actions]
        same = [
            k for k, a in enumerate(node.actions) if a.amount and abs(sizes[k] - wanted) < (0.75 if found[3] else 0.5)
        ]
    if len(same) == 1:
        return same[0]
    legal = ", ".join(name_of(game, node, action) for action in node.actions)
    raise ParameterError(f"The line says {word!r} where these are possible: {legal}.")


def percent(game: HoldemGame, node: Node, action: Action) -> float:
    """A bet or raise as a percentage of the pot after a call."""
    return 100.0 * (action.amount - node.faced) / (game.spot.pot + 2 * (node.paid + node.to_call))


def name_of(game: HoldemGame, node: Node, action: Action) -> str:
    """An action with its share of the pot.

    ``bet 330 (33%)``
    """
    return f"{action.name} ({percent(game, node, action):.0f}%)" if action.amount else action.name


def _deal(game: HoldemGame, place: Place, word: str) -> Place:
    found = _CARD.match(word)
    if found is None:
        raise ParameterError(f"A card is dealt here: name one such as 2c, got {word!r}.")
    card = parse_card(found[1])
    if card in place.cards:
        raise ParameterError(f"The card {card_name(card)} lies on the board already.")
    depth, cards = place.depth + 1, (*place.cards, card)
    stored = card // 4 * 4 + place.suits[card % 4]
    boards = game.boards[place.depth]
    for board in range(int(boards.child[place.board]), int(boards.child[place.board + 1])):
        swap = _image(game.deals[depth][board], stored)
        if swap is not None:
            suits = tuple(swap[suit] for suit in place.suits)
            return Place(
                place.node.children[0], depth, board, cards, (suits[0], suits[1], suits[2], suits[3]), place.steps
            )
    raise ParameterError(f"The card {card_name(card)} cannot be dealt here.")


def _image(deal: Deal, card: int) -> Suits | None:
    """The change of suits, its own inverse, under which the board's last card is ``card``."""
    last = deal.cards[-1]
    for suits in deal.images:
        if last // 4 == card // 4 and suits[last % 4] == card % 4:
            return suits
    return None
