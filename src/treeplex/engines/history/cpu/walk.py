"""A walk over the history tree that enters only what can matter, and counts it.

Nodes are entered level by level, each with the counterfactual reach of both players; a child is left out, without a
look at it, where its sequence is pruned or where neither player's reach is positive (partial pruning). At a terminal
both players' last sequences are paid, each by its own counterfactual reach; values of infosets follow from that over
the treeplex, so there is no second pass over nodes. The order of nodes does not change which are entered; this one
reads and writes memory in order. Float64; one thread; no fastmath.
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
from treeplex.kernels.jit import Index, inlined, inlined_loop, uncounted_kernel
from treeplex.updates.turns import SIMULTANEOUS


@inlined_loop
def pass_on(
    play: Floats, sequences: Floats, infosets: Floats, infoset: Index, above: Index, begin: Index, end: Index
) -> None:
    """Pass on to an infoset's sequences what the sums of its parent sequence ``above`` have gained since."""
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
    nodes: tuple[Ints, Floats, Floats, Ints, Ints], place: Index, count: Index, met: Index, partial: bool, now: int,
) -> tuple[int, Index, Index]:  # fmt: skip
    """Enter the children of the node at ``place`` of a worklist, in which the mover's columns come first.

    ``sign``: of payoffs, for the mover. Returns how many were entered, the length of the worklist, and how many of the
    mover's infosets were met.
    """
    record, _, outcome = tree
    node, own_reach, other_reach, own_last, other_last = nodes
    play, infosets, one = mover.tables.play, mover.tables.infosets, np.uint64(1)
    here, above, reach = np.uint64(node[place]), own_reach[place], other_reach[place]
    before, last = np.uint64(own_last[place]), np.uint64(other_last[place])
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
    tree: Walked, first: WalkingPlayer, second: WalkingPlayer, work: Worklist, place: Index, count: Index, partial: bool
) -> tuple[int, Index]:
    """Enter what chance may do at ``place``; returns how many were entered, and the length of the worklist."""
    record, probability, outcome = tree
    node, reach0, reach1, last0, last1 = work
    here, one = np.uint64(node[place]), np.uint64(1)
    before0, before1 = np.uint64(last0[place]), np.uint64(last1[place])
    above0, above1, touched = reach0[place], reach1[place], 0
    for child in range(np.uint64(record[here, CHILD]), np.uint64(record[here + one, CHILD])):
        below0, below1 = above0 * probability[child], above1 * probability[child]
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


@uncounted_kernel
def enter(
    tree: Walked, players: tuple[WalkingPlayer, WalkingPlayer], partial: bool, who: int, now: int, work: Worklist
) -> tuple[int, Index, Index]:
    """Enter the nodes that matter to ``who`` (0, 1, or 2 for both), in pass ``now``.

    An infoset visited passes on what its parent sequence's sums have gained since it last did. Returns how many nodes
    were entered and how many infosets of each player were visited.
    """
    first, second = players
    node, reach0, reach1, last0, last1 = work
    node[0], last0[0], last1[0] = 0, 0, 0
    reach0[0] = 0.0 if who == 1 else 1.0  # a player who does not learn needs no counterfactual reach
    reach1[0] = 0.0 if who == 0 else 1.0
    zero, one = np.uint64(0), np.uint64(1)
    place, count, touched, met0, met1 = zero, one, 1, zero, zero
    while place < count:
        mover = tree.record[np.uint64(node[place]), MOVER]
        if mover == 0:
            own = node, reach0, reach1, last0, last1
            entered, count, met0 = _enter_moves(tree, first, second, 1.0, own, place, count, met0, partial, now)
        elif mover == 1:
            own = node, reach1, reach0, last1, last0
            entered, count, met1 = _enter_moves(tree, second, first, -1.0, own, place, count, met1, partial, now)
        else:
            entered, count = _enter_chance(tree, first, second, work, place, count, partial)
        touched += entered
        place += one
    return touched, met0, met1


@inlined
def begin_turn(player: WalkingPlayer, opponent: WalkingPlayer, weight: float, moment: int) -> None:
    """The player who learns plays with this weight in the average; the opponent's strategy is met once more."""
    player.tables.sequences[0, layout.SUM] += weight
    met = opponent.tables.sequences
    if met.shape[1] > layout.PLAYED:
        met[0, layout.PLAYED] += 1.0
    if met.shape[1] > layout.LAST:
        met[0, layout.LAST] = moment


@inlined
def iterations(
    end_turn: Callable[[WalkingPlayer, WalkingPlayer, Any, Index, Pruning, float, int, int], int], tree: Walked,
    players: tuple[WalkingPlayer, WalkingPlayer], functions: tuple[FunctionTable, FunctionTable] | tuple[None, None],
    work: Worklist, start: int, weight: Floats, pruning: Pruning, turns: int,
) -> tuple[int, int, int]:  # fmt: skip
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns what was counted.

    Nodes entered, nodes that responses looked at, and infosets visited, each as often as it was. ``end_turn``: what a
    player learns from the infosets visited in iteration t; returns how many nodes best responses have looked at.
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
            touched, visited0, visited1 = enter(tree, players, pruning.partial, who, now, work)
            nodes += touched
            visits += int(visited0 + visited1)
            if who != 1:
                responses += end_turn(first, second, functions[0], visited0, pruning, t, start, now)
            if who != 0:
                responses += end_turn(second, first, functions[1], visited1, pruning, t, start, now)
    return nodes, responses, visits
