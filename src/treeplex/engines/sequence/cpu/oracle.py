"""What every sequence earns against an opponent's plan, by a product with the payoff operator or by a walk that is cut.

A walk enters a history if chance and the opponent get there with a probability of at least ``limit``. Float64; one
thread; no fastmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.compile.history import HistoryTree
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import Side, gradient
from treeplex.jit import kernel


class TreeRows(NamedTuple):
    """The history tree as one player's gradients need it."""

    size: Ints  # [N] nodes in the subtree, the node itself included
    chance: Floats  # [N] chance's probability of getting here
    pays: Floats  # [N] player 0's payoff at a terminal, times ``chance``
    own: Ints  # [N] the player's last sequence on the way here
    other: Ints  # [N] the opponent's
    limit: Floats  # [1] what the probability of chance and opponent must reach; modified in place
    entered: npt.NDArray[np.int64]  # [1] nodes entered so far; modified in place


class TreeOperator(NamedTuple):
    """The payoff operator as walks over the history tree."""

    rows: TreeRows
    columns: TreeRows


def _ask(side: Any, sign: float, opponent: Any, values: Any) -> None:
    """As ``ask``; callable inside kernels."""


@overload(_ask, strict=False)
def _choose(side: Any, sign: Any, opponent: Any, values: Any) -> Callable[..., None]:  # pyright: ignore[reportUnusedFunction]
    return _walk if getattr(side, "instance_class", None) is TreeRows else _product


def _product(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    gradient(side, sign, opponent, values)


def _walk(side: TreeRows, sign: float, opponent: Floats, values: Floats) -> None:
    size, chance, pays, own, other, limit, total = side
    least = limit[0]
    values[:] = 0.0
    entered = np.int64(0)
    node, nodes = np.uint64(0), np.uint64(len(size))
    while node < nodes:
        weight = opponent[np.uint64(other[node])]
        length = np.uint64(size[node])
        if chance[node] * weight < least:
            node += length
            continue
        entered += 1
        if length == np.uint64(1):
            values[np.uint64(own[node])] += sign * pays[node] * weight
        node += np.uint64(1)
    total[0] += entered


@kernel
def ask(side: Side | TreeRows, sign: float, opponent: Floats, values: Floats) -> None:
    """values(s) = sign * sum_t A(s, t) opponent(t); ``values`` [S] is modified in place."""
    _ask(side, sign, opponent, values)


@kernel
def ways(tree: HistoryTree, treeplexes: tuple[Treeplex, Treeplex], chance: Floats, first: Ints, second: Ints) -> None:
    """Chance's probability of every node and each player's last sequence there, into arrays [N]."""
    children = np.zeros(len(tree.parent), dtype=np.int32)  # seen so far, of each node: they stand in order
    chance[0], first[0], second[0] = 1.0, 0, 0
    for node in range(1, len(tree.parent)):
        above = tree.parent[node]
        actor, infoset = tree.mover[above], tree.infoset[above]
        chance[node] = chance[above] * tree.probability[node]
        first[node], second[node] = first[above], second[above]
        if actor == 0:
            first[node] = treeplexes[0].first[infoset] + children[above]
        elif actor == 1:
            second[node] = treeplexes[1].first[infoset] + children[above]
        children[above] += 1
