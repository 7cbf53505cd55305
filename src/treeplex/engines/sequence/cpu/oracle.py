"""Gradients, by a product with the payoff operator or by a truncated walk over the history tree.

A walk enters a history if chance and the opponent reach it with a probability of at least ``limit``. It adds up payoffs
in depth-first order. Float64; one thread; no fastmath.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.engines.history.levels import CHILD, FIRST, MOVER, LevelTree
from treeplex.engines.sequence.cpu.operators import Side, gradient
from treeplex.games.protocol import TERMINAL
from treeplex.kernels.jit import kernel, specialised


class TreeSide(NamedTuple):
    """The history tree for one player's gradients; the last five fields are the stack of a walk, [depth]."""

    tree: LevelTree
    player: int
    limit: Floats  # [1] least probability of chance and opponent at which a node is entered; modified in place
    entered: npt.NDArray[np.int64]  # [1] number of nodes entered so far; modified in place
    node: Ints
    next: Ints  # the next child of ``node``
    chance: Floats  # chance's probability of ``node``
    own: Ints  # the player's last sequence on the path to ``node``
    other: Ints  # the opponent's last sequence on this path


class TreeOperator(NamedTuple):
    """The payoff operator as walks over the history tree."""

    rows: TreeSide
    columns: TreeSide


def _walk(side: TreeSide, sign: float, opponent: Floats, values: Floats) -> None:
    """Walk depth first; a node with children left to visit waits on the stack while a child is entered."""
    tree, player, limit, total, node, next_, chance, own, other = side
    record, probability, payoff = tree
    least, one, depth = limit[0], np.uint64(1), np.uint64(0)
    values[:] = 0.0
    here, child, reach, s, q = np.uint64(0), np.uint64(record[0, CHILD]), 1.0, np.uint64(0), np.uint64(0)
    weight = opponent[0]
    entered = np.int64(weight >= least)
    while entered > 0:
        mover, base = record[here, MOVER], np.uint64(record[here, FIRST]) - np.uint64(record[here, CHILD])
        end, descend = np.uint64(record[here + one, CHILD]), False
        while child < end:
            below, mine, theirs, plan = reach, s, q, weight
            if mover == player:
                mine = base + child
            elif mover >= 0:
                theirs = base + child
                plan = opponent[theirs]
            else:
                below = reach * probability[child]
            child += one
            if below * plan < least:
                continue
            entered += 1
            if record[child - one, MOVER] == TERMINAL:
                values[mine] += sign * (below * payoff[child - one]) * plan
            else:
                if child < end:  # to be resumed
                    node[depth], next_[depth], chance[depth], own[depth], other[depth] = here, child, reach, s, q
                    depth += one
                here, reach, s, q, weight, descend = child - one, below, mine, theirs, plan, True
                break
        if descend:
            child = np.uint64(record[here, CHILD])
        elif depth == np.uint64(0):
            break
        else:
            depth -= one
            here, child, reach = np.uint64(node[depth]), np.uint64(next_[depth]), chance[depth]
            s, q = np.uint64(own[depth]), np.uint64(other[depth])
            weight = opponent[q]
    total[0] += entered


@specialised("side", {TreeSide: _walk})
def _gradient_of(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    """Compute the gradient for ``gradient_of``; callable inside kernels."""
    gradient(side, sign, opponent, values)


@kernel
def gradient_of(side: Side | TreeSide, sign: float, opponent: Floats, values: Floats) -> None:
    """Compute values(s) = sign * sum_t A(s, t) opponent(t); ``values`` [S] is modified in place."""
    _gradient_of(side, sign, opponent, values)
