"""The NumPy reference on a spot: its rules, and which of its decisions the kernels' rows belong to."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from places import Rows

from treeplex.algorithms.cfr import CFR
from treeplex.engines.boards.reference import Key, Rules, terminal
from treeplex.engines.boards.strength import strengths
from treeplex.engines.boards.tables import schedules
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.cards import HAND_CARDS, RANKS, SUITS
from treeplex.holdem import HoldemGame, Spot, sizes_for
from treeplex.updates.rule import Rule

RIVER = Spot(
    "Ks 9h 6d 3c Jh",
    100,
    130,
    "AsAh:0.83,QcTc:0.37,9s8s:0.71,7s7c:0.61",
    "KdQd:0.59,QhTh:0.93,AsJs:0.31,7s7c:0.47,5d4d:0.67",
    sizes_for("50%", "a"),
)
"""No two actions are worth the same. A tie of straights, a hand both can hold, cards that block, a bluff, a raise."""

TURN = Spot("Ks 9h 6d 3h", 60, 50, "AhQh:0.83,KcQc:0.37,7s7c:0.61", "AsKd:0.59,QhJh:0.93,8c7c:0.31", sizes_for("a", ""))
"""Flushes and straights to come, and cards that take a hand away."""


@lru_cache(maxsize=4096)
def _strength(board: tuple[int, ...], hands: bytes) -> Any:
    held = np.frombuffer(hands, np.uint8).reshape(-1, 2)
    cards = np.concatenate([np.tile(np.array(board, np.uint8), (len(held), 1)), held], axis=1)
    return strengths(cards).astype(np.int64)


def strength(board: tuple[int, ...], hands: Any) -> Any:
    """Strengths of hands [H, 2]; ``test_cards.py`` holds them against an evaluator of others."""
    return _strength(board, hands.astype(np.uint8).tobytes())


_TABLES: dict[Any, Any] = {}


def remembered(rules: Rules, node: Any, board: tuple[int, ...], player: int) -> Any:
    """The reference's ``terminal``, computed once per pot, board and pair of ranges."""
    ranges = tuple(hands.tobytes() for hands in rules.hands)
    raked = rules.rake(rules.pot + 2 * node.paid)
    key = (ranges, rules.pot, node.paid, raked, node.kind, node.player, board, player)
    if key not in _TABLES:
        _TABLES[key] = terminal(rules, node, board, player)
    return _TABLES[key]


def numbers_of(spot: Spot, player: int) -> Any:
    """The numbers of the hands the reference has columns for."""
    return np.flatnonzero(spot.weights(player) > 0)


def rules_of(spot: Spot, solver: CFR, **changed: Any) -> Rules:
    """The reference's rules for a spot and the discounts and weights of an algorithm; nothing pruned or rounded."""
    held = [numbers_of(spot, player) for player in (0, 1)]
    rule = schedules(solver.scheme, solver.storage, 50)
    plain = Rules(
        betting_tree(spot),
        spot.cards,
        (HAND_CARDS[held[0]], HAND_CARDS[held[1]]),
        (spot.weights(0)[held[0]], spot.weights(1)[held[1]]),
        spot.pot,
        spot.rake,
        strength,
        lambda t: rule.positive[t],
        lambda t: rule.negative[t],
        lambda t: rule.weight[t],
        0.0 if isinstance(solver.rule, Rule) else solver.rule.predict,
        child=behind,
    )
    return plain._replace(**changed)


def behind(node: Any, board: tuple[int, ...], card: int) -> Any:
    """The child of a chance node behind a card; of classes of cards, as players would say them. None: not there."""
    if not node.actions:
        return node.children[0]
    text = [RANKS[other // 4] + SUITS[other % 4] for other in (*board, card)]
    before, (rank, suit) = text[:-1], text[-1]
    if sum(other[1] == suit for other in text) in (3, 4, 5):
        name = "[flush]"
    elif any(other[0] == rank for other in before):
        name = "[pair]"
    else:
        name = "[over]" if all(RANKS.index(other[0]) < RANKS.index(rank) for other in before) else "[other]"
    words = [word.name for word in node.actions]
    return node.children[words.index(name)] if name in words else None


def lines(game: HoldemGame) -> dict[int, tuple[Any, ...]]:
    """Every node's line, as the reference names it but for cards."""
    found, waiting = {}, [(game.streets[0].decisions[0].node, ())]
    while waiting:
        node, line = waiting.pop()
        found[id(node)] = line
        for action, child in enumerate(node.children):
            waiting.append((child, (*line, "card" if node.kind == "chance" else action)))
    return found


def key_of(spot: Spot, rows: Rows, ways: dict[int, tuple[Any, ...]]) -> Key:
    """What the reference calls the decision of the kernels' rows."""
    cards = iter(rows.cards[len(spot.cards) :])
    line = tuple(next(cards) if step == "card" else step for step in ways[id(rows.decision.node)])
    return (rows.decision.player, rows.cards, line)


def columns_of(spot: Spot, rows: Rows) -> Any:
    """Where the reference has the hands of the kernels' rows."""
    return np.searchsorted(numbers_of(spot, rows.decision.player), rows.hands)
