"""Hold'em subgames as Algorithm 1 of Tammelin (2014) tells them: the specification of ``kernels.cpu.holdem``.

A recursion over public nodes with a vector of hands for each player. Terminals are tables of hands against hands, all
turn and river cards are dealt in all suits, and nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats

Strength = Callable[[tuple[int, ...], npt.NDArray[np.int64]], npt.NDArray[np.int64]]


class Rules(NamedTuple):
    """What the recursion needs to know. Nodes have ``kind``, ``player``, ``actions``, ``children`` and ``paid``."""

    root: Any
    board: tuple[int, ...]
    hands: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # [H, 2] cards
    weights: tuple[Floats, Floats]  # [H]
    pot: float
    rake: Callable[[float], float]
    strength: Strength  # of hands [H, 2] on a board of five cards
    positive: Callable[[int], float]  # discounts after an iteration
    negative: Callable[[int], float]
    weight: Callable[[int], float]  # of an iteration in the average
    predict: float = 0.0


class Memory(NamedTuple):
    """Regrets, hopes and sums of strategies [actions, H], by player, board and line."""

    regret: dict[Any, Floats]
    hope: dict[Any, Floats]
    average: dict[Any, Floats]


def new_memory() -> Memory:
    """Nothing is known yet."""
    return Memory({}, {}, {})


def iterate(rules: Rules, memory: Memory, t: int) -> None:
    """One iteration: a pass a player, in turn; ``memory`` is modified in place."""
    for player in (0, 1):
        _pass(rules, memory, t, player, rules.root, rules.board, (), rules.weights[1 - player])


def shares(numbers: Floats) -> Floats:
    """sigma(a) ~ max(R(a), 0), even where nothing is positive."""
    positive = np.maximum(numbers, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), 1.0 / len(numbers))


def _pass(
    rules: Rules, memory: Memory, t: int, player: int, node: Any, board: tuple[int, ...], line: tuple[Any, ...],
    reach: Floats,
) -> Floats:  # fmt: skip
    """Counterfactual values [H] of ``player``; ``reach`` [H'] is the rival's (lines 4 to 42 of Algorithm 1)."""
    if node.kind in ("fold", "showdown"):
        return terminal(rules, node, board, player) @ reach
    if node.kind == "chance":
        left = 52 - len(board) - 4  # cards that are in nobody's hand
        total = np.zeros(rules.hands[player].shape[0])
        for card in range(52):
            if card in board:
                continue
            free = [(hands != card).all(axis=1) for hands in rules.hands]
            deeper = _pass(
                rules, memory, t, player, node.children[0], (*board, card), (*line, card),
                reach * free[1 - player] / left,
            )  # fmt: skip
            total += deeper * free[player]
        return total
    key = (node.player, board, line)
    owner: int = node.player
    size = (len(node.children), len(rules.hands[owner]))
    sigma = shares(memory.hope.setdefault(key, np.zeros(size)))
    children = [(child, (*line, action)) for action, child in enumerate(node.children)]
    if node.player == player:
        values = np.array([_pass(rules, memory, t, player, child, board, way, reach) for child, way in children])
        worth = (sigma * values).sum(axis=0)
        gain = values - worth
        regret: Floats = memory.regret.get(key, np.zeros(size)) + gain
        regret = np.where(regret > 0.0, regret * rules.positive(t), regret * rules.negative(t))
        memory.regret[key] = regret
        memory.hope[key] = regret + rules.predict * gain
        return worth
    added = memory.average.setdefault(key, np.zeros(size))
    added += rules.weight(t) * sigma * reach
    return np.sum(
        [
            _pass(rules, memory, t, player, child, board, way, reach * sigma[a])
            for a, (child, way) in enumerate(children)
        ],
        axis=0,
    )


def terminal(rules: Rules, node: Any, board: tuple[int, ...], player: int) -> Floats:
    """[H, H'] what each hand of ``player`` wins of each of the rival's, beside half the pot at the start."""
    ours, theirs = rules.hands[player], rules.hands[1 - player]
    shared: Any = ours[:, None, :, None] == theirs[None, :, None, :]
    possible: Any = ~shared.any(axis=(2, 3))
    for hands, axis in ((ours, 1), (theirs, 0)):
        dead: Any = np.isin(hands, board).any(axis=1)
        possible &= np.expand_dims(~dead, axis)
    half = rules.pot / 2 + node.paid
    rake = rules.rake(2 * half)
    if node.kind == "fold":
        return np.where(possible, -half if node.player == player else half - rake, 0.0)
    first, second = rules.strength(board, ours)[:, None], rules.strength(board, theirs)[None, :]
    won = np.where(first > second, half - rake, np.where(first < second, -half, -rake / 2))
    return np.where(possible, won, 0.0)
