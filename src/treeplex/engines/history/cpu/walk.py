"""A walk over the history tree that enters only relevant nodes, and counts them.

Nodes are entered level by level, each with the counterfactual reach of both players. A child is skipped, without a
memory access, if its sequence is pruned or if neither player's reach is positive (partial pruning). A terminal pays the
last sequences of both players, each times its own counterfactual reach. The treeplex then gives the values of infosets,
so there is no second pass over nodes. The set of nodes entered does not depend on their order; this order reads and
writes memory sequentially. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.functions import FunctionTable
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Pruning, WalkingPlayer, Worklist
from treeplex.engines.history.levels import CHILD, FIRST, INFOSET, MOVER, Walked
from treeplex.kernels.jit import Index, inlined, inlined_loop, kernel
from treeplex.updates.turns import SIMULTANEOUS


@inlined_loop
def pass_on(
    play: Floats, sequences: Floats, infosets: Floats, infoset: Index, above: Index, begin: Index, end: Index
) -> None:
    """Pass recent gains of the sums of the parent sequence ``above`` on to the sequences of an infoset."""
    gained = sequences[above, layout.SUM] - infosets[infoset, layout.PASSED]
    if gained != 0.0:
        infosets[infoset, layout.PASSED] = sequences[above, layout.SUM]
        for s in range(begin, end):
            sequences[s, layout.SUM] += gained * play[s, layout.STRATEGY]
    if sequences.shape[1] > layout.PLAYED:
        gained = sequences[above, layout.PLAYED] - infosets[infoset, layout.PASSED_PLAYED]
        if gained != 0.0:
            infosets[infoset, layout.PASSED_PLAYED] = sequences[above, layout.PLAYED]
            for s in range(begin, end):
                sequences[s, layout.PLAYED] += gained * play[s, layout.STRATEGY]
            if sequences.shape[1] > layout.LAST:
                for s in range(begin, end):
                    if play[s, layout.STRATEGY] > 0.0:
                        sequences[s, layout.LAST] = sequences[above, layout.LAST]


@inlined_loop
def _enter_moves(
    tree: Walked, mover: WalkingPlayer, other: WalkingPlayer, sign: float,
    nodes: tuple[Ints, Floats, Floats, Ints, Ints], position: Index, count: Index, met: Index,
    cut: tuple[bool, float], now: int,
) -> tuple[int, Index, Index]:  # fmt: skip
    """Enter the children of the node at ``position`` of a worklist whose columns begin with the mover's.

    ``sign`` turns payoffs into those of the mover. ``cut``: whether nodes that nobody reaches are skipped, and the
    least reach that counts. Return the number of children entered, the length of the worklist, and the number of the
    mover's infosets visited.
    """
    (record, _, outcome), (partial, least) = tree, cut
    node, own_reach, other_reach, own_last, other_last = nodes
    play, infosets, one = mover.tables.play, mover.tables.infosets, np.uint64(1)
    here, above, reach = np.uint64(node[position]), own_reach[position], other_reach[position]
    before, last = np.uint64(own_last[position]), np.uint64(other_last[position])
    infoset, first = np.uint64(record[here, INFOSET]), np.uint64(record[here, FIRST])
    begin, touched = np.uint64(record[here, CHILD]), 0
    if above > 0.0:
        if infosets[infoset, layout.REACH] == 0.0:
            mover.scratch.visited[met] = infoset
            met += one
            mover.scratch.stamp[infoset] = now
            end = first + np.uint64(record[here + one, CHILD]) - begin
            pass_on(play, mover.tables.sequences, infosets, infoset, before, first, end)
        infosets[infoset, layout.REACH] += above
    for free in range(first, first + np.uint64(mover.open.width[infoset])):
        s = np.uint64(mover.open.sequence[free])
        below = reach * play[s, layout.STRATEGY]
        if below < least:
            below = 0.0
        if partial and above == 0.0 and below == 0.0:
            continue
        touched += 1
        child = begin + (s - first)
        payoff = sign * outcome[child]
        if not math.isnan(payoff):  # the game ends here
            play[s, layout.VALUE] += above * payoff
            other.tables.play[last, layout.VALUE] -= below * payoff
        else:
            node[count], own_last[count], other_last[count] = child, s, last
            own_reach[count], other_reach[count] = above, below
            count += one
    return touched, count, met


@inlined_loop
def _enter_chance(
    tree: Walked,
    first: WalkingPlayer,
    second: WalkingPlayer,
    work: Worklist,
    position: Index,
    count: Index,
    cut: tuple[bool, float],
) -> tuple[int, Index]:
    """Enter the children of the chance node at ``position``; return their number and the length of the worklist."""
    (record, probability, outcome), (partial, least) = tree, cut
    node, reach0, reach1, last0, last1 = work
    here, one = np.uint64(node[position]), np.uint64(1)
    before0, before1 = np.uint64(last0[position]), np.uint64(last1[position])
    above0, above1, touched = reach0[position], reach1[position], 0
    for child in range(np.uint64(record[here, CHILD]), np.uint64(record[here + one, CHILD])):
        below0, below1 = above0 * probability[child], above1 * probability[child]
        below0, below1 = below0 if below0 >= least else 0.0, below1 if below1 >= least else 0.0
        if partial and below0 == 0.0 and below1 == 0.0:
            continue
        touched += 1
        payoff = outcome[child]
        if not math.isnan(payoff):  # the game ends here
            first.tables.play[before0, layout.VALUE] += below0 * payoff
            second.tables.play[before1, layout.VALUE] -= below1 * payoff
        else:
            node[count], last0[count], last1[count] = child, before0, before1
            reach0[count], reach1[count] = below0, below1
            count += one
    return touched, count


@kernel
def enter(
    tree: Walked, players: tuple[WalkingPlayer, WalkingPlayer], pruning: Pruning, who: int, now: int, work: Worklist
) -> tuple[int, Index, Index]:
    """Enter the nodes that matter to ``who`` (0, 1, or 2 for both), in pass ``now``.

    A visited infoset passes on the gains of its parent sequence's sums since its last visit. Return the number of nodes
    entered and, for each player, the number of infosets visited.
    """
    first, second = players
    cut = pruning.partial, pruning.least
    node, reach0, reach1, last0, last1 = work
    node[0], last0[0], last1[0] = 0, 0, 0
    reach0[0] = 0.0 if who == 1 else 1.0  # a player who does not learn needs no counterfactual reach
    reach1[0] = 0.0 if who == 0 else 1.0
    zero, one = np.uint64(0), np.uint64(1)
    position, count, touched, met0, met1 = zero, one, 1, zero, zero
    while position < count:
        mover = tree.record[np.uint64(node[position]), MOVER]
        if mover == 0:
            own = node, reach0, reach1, last0, last1
            entered, count, met0 = _enter_moves(tree, first, second, 1.0, own, position, count, met0, cut, now)
        elif mover == 1:
            own = node, reach1, reach0, last1, last0
            entered, count, met1 = _enter_moves(tree, second, first, -1.0, own, position, count, met1, cut, now)
        else:
            entered, count = _enter_chance(tree, first, second, work, position, count, cut)
        touched += entered
        position += one
    return touched, met0, met1


@inlined
def begin_turn(player: WalkingPlayer, opponent: WalkingPlayer, weight: float, pass_number: int) -> None:
    """Count this pass: the learner's strategy with ``weight`` in its average, the opponent's as played once more."""
    player.tables.sequences[0, layout.SUM] += weight
    met = opponent.tables.sequences
    if met.shape[1] > layout.PLAYED:
        met[0, layout.PLAYED] += 1.0
    if met.shape[1] > layout.LAST:
        met[0, layout.LAST] = pass_number


@inlined
def iterations(
    end_turn: Callable[[WalkingPlayer, WalkingPlayer, Any, Index, Pruning, float, int, int], int], tree: Walked,
    players: tuple[WalkingPlayer, WalkingPlayer], functions: tuple[FunctionTable, FunctionTable] | tuple[None, None],
    work: Worklist, start: int, weight: Floats, pruning: Pruning, turns: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Run one iteration per entry of ``weight``, numbered from ``start + 1``, and return three counts.

    They are nodes entered, nodes touched by best responses, and infosets visited, with repetitions. ``end_turn``
    updates a player from the infosets visited in iteration t, and returns the nodes that best responses touched.
    """
    nodes, responses, visits = 0, 0, 0
    first, second = players
    passes = 1 if turns == SIMULTANEOUS else 2
    for i in range(len(weight)):
        t = float(start + i + 1)
        for turn in range(passes):
            who = 2 if passes == 1 else turn
            now = 2 * i + turn
            if who != 1:
                begin_turn(first, second, weight[i], 2 * start + now + 1)
            if who != 0:
                begin_turn(second, first, weight[i], 2 * start + now + 1)
            touched, visited0, visited1 = enter(tree, players, pruning, who, now, work)
            nodes += touched
            visits += int(visited0 + visited1)
            if who != 1:
                responses += end_turn(first, second, functions[0], visited0, pruning, t, start, now)
            if who != 0:
                responses += end_turn(second, first, functions[1], visited1, pruning, t, start, now)
    return nodes, responses, visits
