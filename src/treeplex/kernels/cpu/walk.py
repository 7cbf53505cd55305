"""A walk over the history tree that enters only what can matter, and counts it.

Down: nodes in depth-first order with the counterfactual reach of both players; a subtree is skipped where its incoming
sequence is pruned, or where neither player's reach is positive (partial pruning). Up: the same nodes in reverse, with
expected values, the gain of every action, and for every infoset its counterfactual value and reach. Float64; one
thread; no fastmath.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compiled.history import HistoryTree
from treeplex.kernels.cpu.jit import kernel


class Trail(NamedTuple):
    """What a walk writes for one player; all modified in place."""

    gain: Floats  # [S] r^t(I, a), zero outside a walk
    worth: Floats  # [I] v^t(I), zero outside a walk
    mass: Floats  # [I] the opponent's and chance's probability of reaching I, zero outside a walk
    met: Ints  # [I] the infosets met, in the first ``count`` places


class Ground(NamedTuple):
    """Scratch for every node."""

    order: Ints  # [N] nodes entered
    reach: Floats  # [2, N] counterfactual reach: by the opponent and chance
    value: Floats  # [N] expected payoff of player 0
    entered: Bytes  # [N] 1 while a walk is under way


@kernel
def down(
    tree: HistoryTree,
    sequence: Ints,
    behaviour: tuple[Floats, Floats],
    pruned: tuple[Bytes, Bytes],
    partial: bool,
    who: int,
    ground: Ground,
) -> int:
    """Enter the nodes that matter to ``who`` (0, 1, or 2 for both); returns how many."""
    mover, parent, size, _, _, probability, payoff = tree
    order, reach, value, entered = ground
    nodes = np.int64(len(mover))
    count = 0
    node = np.int64(0)
    while node < nodes:
        here = np.uint64(node)
        first, second = 1.0, 1.0
        if node > 0:
            above = np.uint64(parent[here])
            first, second = reach[0, above], reach[1, above]
            actor, s = mover[above], np.uint64(sequence[here])
            if actor == 0:
                second *= behaviour[0][s]
                if pruned[0][s] == 1:
                    node += size[here]
                    continue
            elif actor == 1:
                first *= behaviour[1][s]
                if pruned[1][s] == 1:
                    node += size[here]
                    continue
            else:
                first *= probability[here]
                second *= probability[here]
            if partial and (first == 0.0 or who == 1) and (second == 0.0 or who == 0):
                node += size[here]
                continue
        reach[0, here], reach[1, here] = first, second
        value[here] = payoff[here]
        entered[here] = 1
        order[np.uint64(count)] = node
        count += 1
        node += 1
    return count


@kernel
def up(
    tree: HistoryTree,
    sequence: Ints,
    behaviour: tuple[Floats, Floats],
    who: int,
    count: int,
    ground: Ground,
    trails: tuple[Trail, Trail],
) -> tuple[int, int]:
    """Values and gains from the ``count`` nodes entered; returns how many infosets of each player were met."""
    mover, parent, size, infoset, _, probability, _ = tree
    order, reach, value, entered = ground
    met0, met1 = 0, 0
    for place in range(count - 1, -1, -1):
        here = np.uint64(order[np.uint64(place)])
        actor = mover[here]
        if actor >= 0 and (who == 2 or who == actor):  # noqa: PLR1714 - Numba has no `in` for this
            weight = reach[np.uint64(actor), here]
            if weight > 0.0:
                own = np.uint64(infoset[here])
                sign = 1.0 if actor == 0 else -1.0
                trail = trails[0] if actor == 0 else trails[1]
                if trail.mass[own] == 0.0:
                    if actor == 0:
                        trail.met[np.uint64(met0)] = own
                        met0 += 1
                    else:
                        trail.met[np.uint64(met1)] = own
                        met1 += 1
                trail.mass[own] += weight
                trail.worth[own] += sign * weight * value[here]
                child, end = here + np.uint64(1), here + np.uint64(size[here])
                while child < end:
                    if entered[child] == 1:
                        trail.gain[np.uint64(sequence[child])] += sign * weight * (value[child] - value[here])
                    child += np.uint64(size[child])
        if here > 0:
            above = np.uint64(parent[here])
            by, s = mover[above], np.uint64(sequence[here])
            factor = probability[here]
            if by == 0:
                factor = behaviour[0][s]
            elif by == 1:
                factor = behaviour[1][s]
            value[above] += factor * value[here]
    for place in range(count):
        entered[np.uint64(order[np.uint64(place)])] = 0
    return met0, met1
