"""Gradients: by a product with the payoff operator, or by a walk over the history tree that is truncated.

A walk enters a history if chance and the opponent get there with a probability of at least ``limit``, and adds up
payoffs in depth-first order. Float64; one thread; no fastmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.engines.history.levels import CHILD, FIRST, MOVER, LevelTree
from treeplex.engines.sequence.cpu.operators import Side, gradient
from treeplex.games.protocol import TERMINAL
from treeplex.jit import kernel


class TreeSide(NamedTuple):
    """The history tree as one player's gradients need it; the last five are scratch, one number per depth."""

    tree: LevelTree
    player: int
    limit: Floats  # [1] what the probability of chance and opponent must reach; modified in place
    entered: npt.NDArray[np.int64]  # [1] nodes entered so far; modified in place
    node: Ints
    next: Ints  # the next child of ``node``
    chance: Floats  # chance's probability of ``node``
    own: Ints  # the player's last sequence on the way there
    other: Ints  # the opponent's


class TreeOperator(NamedTuple):
    """The payoff operator as walks over the history tree."""

    rows: TreeSide
    columns: TreeSide


def _ask(side: Any, sign: float, opponent: Any, values: Any) -> None:
    """As ``ask``; callable inside kernels."""


@overload(_ask, strict=False)
def _choose(side: Any, sign: Any, opponent: Any, values: Any) -> Callable[..., None]:  # pyright: ignore[reportUnusedFunction]
    return _walk if getattr(side, "instance_class", None) is TreeSide else _product


def _product(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    gradient(side, sign, opponent, values)


def _walk(side: TreeSide, sign: float, opponent: Floats, values: Floats) -> None:
    tree, player, limit, total, node, next_, chance, own, other = side
    record, probability, payoff = tree
    least, one = limit[0], np.uint64(1)
    values[:] = 0.0
    if opponent[0] < least:
        return
    entered, depth = np.int64(1), np.uint64(0)
    node[0], next_[0], chance[0], own[0], other[0] = 0, record[0, CHILD], 1.0, 0, 0
    while True:
        here, child = np.uint64(node[depth]), np.uint64(next_[depth])
        if child == np.uint64(record[here + one, CHILD]):
            if depth == np.uint64(0):
                break
            depth -= one
            continue
        next_[depth] = child + one
        mover, s, q = record[here, MOVER], np.uint64(own[depth]), np.uint64(other[depth])
        if mover >= 0:
            chosen = np.uint64(record[here, FIRST]) + (child - np.uint64(record[here, CHILD]))
            if mover == player:
                s = chosen
            else:
                q = chosen
        reach, weight = chance[depth] * probability[child], opponent[q]
        if reach * weight < least:
            continue
        entered += 1
        if record[child, MOVER] == TERMINAL:
            values[s] += sign * (reach * payoff[child]) * weight
        else:
            depth += one
            node[depth], next_[depth], chance[depth] = child, record[child, CHILD], reach
            own[depth], other[depth] = s, q
    total[0] += entered


@kernel
def ask(side: Side | TreeSide, sign: float, opponent: Floats, values: Floats) -> None:
    """values(s) = sign * sum_t A(s, t) opponent(t); ``values`` [S] is modified in place."""
    _ask(side, sign, opponent, values)
