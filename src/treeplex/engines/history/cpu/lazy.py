"""Lazy-CFR: an infoset waits until enough of the opponent's reach has come to it, and updates for all of it at once.

Reach runs down the tree like water. A unit of mass per iteration runs from the root through moves of chance and of the
opponent to the player's histories, where it waits. An infoset whose histories hold more than a threshold lets all of it
run on, behind each of its actions, and then updates. Mass that comes to a terminal counts its payoff.

Float64; one thread; no fastmath. Maths: ``tests/unit/test_lazy.py`` writes it out over histories.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints, Longs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.levels import CHILD, FIRST, INFOSET, MOVER, Walked
from treeplex.kernels.jit import Index, inlined_loop, kernel
from treeplex.updates.rules import floored, normalise_span, positive_sum
from treeplex.updates.turns import SIMULTANEOUS

ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)


class LazyTables(NamedTuple):
    """State of one player between iterations; modified in place."""

    strategy: Floats  # [S]
    regret: Floats  # [S]
    total: Floats  # [S] sums of the strategies by reach, without what has not been passed on
    passed: Floats  # [I] the part of the parent sequence's total that an infoset has passed on
    reach: Floats  # [I] mass that waits at an infoset's histories
    waiting: Floats  # [H] mass that waits at each of the player's histories, sorted by infoset


class LazySide(NamedTuple):
    """A player's tables, the tables of its paths, and scratch arrays."""

    treeplex: Treeplex
    child_start: Ints  # [S + 1] where the infosets directly below a sequence begin in ``child``
    child: Ints  # [I] infosets, sorted by their parent sequence
    start: Longs  # [I + 1] where the histories of an infoset begin in ``node``
    node: Ints  # [H] the player's histories, sorted by infoset
    position: Ints  # [N] where a history stands in ``node``
    tables: LazyTables
    value: Floats  # [S] payoffs that the mass behind a sequence has earned; zero between iterations
    ready: Ints  # [I] infosets that update, parents first
    stack: Ints  # [N] histories that mass runs to
    mass: Floats  # [N] their masses


@kernel
def _run(tree: Walked, player: int, side: LazySide, other: Floats, sequence: Index, node: Index, mass: float) -> int:
    """Let mass run from a node to terminals and to the player's histories; return the number of nodes entered."""
    record, probability, outcome = tree
    stack, masses, tables, sign = side.stack, side.mass, side.tables, 1.0 if player == 0 else -1.0
    stack[ZERO], masses[ZERO], height, touched = node, mass, ONE, 0
    while height > ZERO:
        height -= ONE
        here, arrived = np.uint64(stack[height]), masses[height]
        touched += 1
        payoff, mover = outcome[here], record[here, MOVER]
        if not math.isnan(payoff):
            side.value[sequence] += arrived * (sign * payoff)
            continue
        if mover == player:
            tables.waiting[np.uint64(side.position[here])] += arrived
            tables.reach[np.uint64(record[here, INFOSET])] += arrived
            continue
        first, begin = np.uint64(record[here, FIRST]), np.uint64(record[here, CHILD])
        for child in range(begin, np.uint64(record[here + ONE, CHILD])):
            below = arrived * (probability[child] if mover < 0 else other[first + (child - begin)])
            if below > 0.0:
                stack[height], masses[height] = child, below
                height += ONE
    return touched


@inlined_loop
def _wake(side: LazySide, sequence: Index, threshold: float, count: Index) -> Index:
    """List the infosets directly below a sequence that hold more than the threshold; return the length of the list."""
    for c in range(np.uint64(side.child_start[sequence]), np.uint64(side.child_start[sequence + ONE])):
        infoset = np.uint64(side.child[c])
        if side.tables.reach[infoset] > threshold:
            side.ready[count] = infoset
            count += ONE
    return count


@inlined_loop
def pass_on(treeplex: Treeplex, strategy: Floats, total: Floats, passed: Floats, infoset: Index) -> None:
    """Add what the parent sequence's total has gained since the last time, times the strategy since then."""
    above = np.uint64(treeplex.parent[infoset])
    gained = total[above] - passed[infoset]
    passed[infoset] = total[above]
    for s in range(np.uint64(treeplex.first[infoset]), np.uint64(treeplex.first[infoset + ONE])):
        total[s] += gained * strategy[s]


@kernel
def pass_all(treeplex: Treeplex, strategy: Floats, total: Floats, passed: Floats) -> None:
    """Complete the sums of all infosets, parents first."""
    for infoset in range(np.uint64(len(passed))):
        pass_on(treeplex, strategy, total, passed, infoset)


@kernel
def descend(
    tree: Walked, player: int, side: LazySide, other: Floats, threshold: float, weight: float
) -> tuple[int, Index]:
    """Let a unit of mass run from the root; return the number of nodes entered, and of infosets that update."""
    first, tables, record = side.treeplex.first, side.tables, tree.record
    tables.total[ZERO] += weight
    touched = _run(tree, player, side, other, ZERO, ZERO, 1.0)
    position, count = ZERO, _wake(side, ZERO, threshold, ZERO)
    while position < count:
        infoset = np.uint64(side.ready[position])
        position += ONE
        pass_on(side.treeplex, tables.strategy, tables.total, tables.passed, infoset)
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + ONE])
        for h in range(np.uint64(side.start[infoset]), np.uint64(side.start[infoset + ONE])):
            mass = tables.waiting[h]
            if mass > 0.0:
                tables.waiting[h] = 0.0
                child = np.uint64(record[np.uint64(side.node[h]), CHILD])
                for s in range(begin, end):
                    touched += _run(tree, player, side, other, s, child + (s - begin), mass)
        tables.reach[infoset] = 0.0
        for s in range(begin, end):
            count = _wake(side, s, threshold, count)
    return touched, count


@kernel
def learn(side: LazySide, count: Index, plus: bool) -> None:
    """Update the first ``count`` infosets of ``ready``, children first, by what their actions have earned."""
    (first, parent), tables, value = side.treeplex, side.tables, side.value
    for back in range(ONE, count + ONE):
        infoset = np.uint64(side.ready[count - back])
        begin, end, expected = np.uint64(first[infoset]), np.uint64(first[infoset + ONE]), 0.0
        for s in range(begin, end):
            expected += tables.strategy[s] * value[s]
        for s in range(begin, end):
            tables.regret[s] = floored(tables.regret[s] + (value[s] - expected), plus)
            value[s] = 0.0
        value[np.uint64(parent[infoset])] += expected
        total = positive_sum(tables.regret, begin, end, None)
        normalise_span(tables.regret, tables.strategy, begin, end, None, total)
    value[ZERO] = 0.0


@kernel
def lazy_iterations(
    tree: Walked, sides: tuple[LazySide, LazySide], threshold: float, weight: Floats, plus: bool, turns: int
) -> tuple[int, int]:
    """Run one iteration per entry of ``weight``; return the nodes entered and the updates of infosets."""
    first, second = sides
    nodes, updates = 0, 0
    for i in range(len(weight)):
        entered, count = descend(tree, 0, first, second.tables.strategy, threshold, weight[i])
        if turns != SIMULTANEOUS:
            learn(first, count, plus)
        more, others = descend(tree, 1, second, first.tables.strategy, threshold, weight[i])
        if turns == SIMULTANEOUS:
            learn(first, count, plus)
        learn(second, others, plus)
        nodes += entered + more
        updates += int(count + others)
    return nodes, updates
