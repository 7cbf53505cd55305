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

from treeplex.arrays import Floats
from treeplex.engines.functions import FunctionTable
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Player, Pruning, Worklist
from treeplex.engines.history.levels import CHILD, FIRST, INFOSET, MOVER, Walked
from treeplex.kernels.jit import Index, inlined, kernel
from treeplex.updates.turns import SIMULTANEOUS


@inlined
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


@kernel
def enter(
    tree: Walked, players: tuple[Player, Player], partial: bool, who: int, now: int, work: Worklist
) -> tuple[int, Index, Index]:
    """Enter the nodes that matter to ``who`` (0, 1, or 2 for both), in pass ``now``.

    An infoset visited passes on what its parent sequence's sums have gained since it last did. Returns how many nodes
    were entered and how many infosets of each player were visited. The branches of both players differ in names and
    signs alone: one function inlined twice makes the walk three times as slow, by counting references to its arrays.
    """
    record, probability, outcome = tree
    node, reach0, reach1, last0, last1 = work
    play0, play1 = players[0].tables.play, players[1].tables.play
    sequences0, sequences1 = players[0].tables.sequences, players[1].tables.sequences
    infosets0, infosets1 = players[0].tables.infosets, players[1].tables.infosets
    open0, width0 = players[0].open
    open1, width1 = players[1].open
    visited0, visited1 = players[0].scratch.visited, players[1].scratch.visited
    stamp0, stamp1 = players[0].scratch.stamp, players[1].scratch.stamp
    one = np.uint64(1)
    node[0], last0[0], last1[0] = 0, 0, 0
    reach0[0] = 0.0 if who == 1 else 1.0  # a player who does not learn needs no counterfactual reach
    reach1[0] = 0.0 if who == 0 else 1.0
    place, count = np.uint64(0), one
    touched, met0, met1 = 1, np.uint64(0), np.uint64(0)
    while place < count:
        here = np.uint64(node[place])
        above0, above1 = reach0[place], reach1[place]
        before0, before1 = np.uint64(last0[place]), np.uint64(last1[place])
        place += one
        begin = np.uint64(record[here, CHILD])
        mover = record[here, MOVER]
        if mover == 0:
            infoset, first = np.uint64(record[here, INFOSET]), np.uint64(record[here, FIRST])
            if above0 > 0.0:
                if infosets0[infoset, layout.REACH] == 0.0:
                    visited0[met0] = infoset
                    met0 += one
                    stamp0[infoset] = now
                    end = first + np.uint64(record[here + one, CHILD]) - begin
                    pass_on(play0, sequences0, infosets0, infoset, before0, first, end)
                infosets0[infoset, layout.REACH] += above0
            for free in range(first, first + np.uint64(width0[infoset])):
                s = np.uint64(open0[free])
                below1 = above1 * play0[s, layout.STRATEGY]
                if partial and above0 == 0.0 and below1 == 0.0:
                    continue
                touched += 1
                child = begin + (s - first)
                payoff = outcome[child]
                if not math.isnan(payoff):  # the game ends here
                    play0[s, layout.VALUE] += above0 * payoff
                    play1[before1, layout.VALUE] -= below1 * payoff
                else:
                    node[count], last0[count], last1[count] = child, s, before1
                    reach0[count], reach1[count] = above0, below1
                    count += one
        elif mover == 1:
            infoset, first = np.uint64(record[here, INFOSET]), np.uint64(record[here, FIRST])
            if above1 > 0.0:
                if infosets1[infoset, layout.REACH] == 0.0:
                    visited1[met1] = infoset
                    met1 += one
                    stamp1[infoset] = now
                    end = first + np.uint64(record[here + one, CHILD]) - begin
                    pass_on(play1, sequences1, infosets1, infoset, before1, first, end)
                infosets1[infoset, layout.REACH] += above1
            for free in range(first, first + np.uint64(width1[infoset])):
                s = np.uint64(open1[free])
                below0 = above0 * play1[s, layout.STRATEGY]
                if partial and above1 == 0.0 and below0 == 0.0:
                    continue
                touched += 1
                child = begin + (s - first)
                payoff = outcome[child]
                if not math.isnan(payoff):  # the game ends here
                    play1[s, layout.VALUE] -= above1 * payoff
                    play0[before0, layout.VALUE] += below0 * payoff
                else:
                    node[count], last0[count], last1[count] = child, before0, s
                    reach0[count], reach1[count] = below0, above1
                    count += one
        else:
            for child in range(begin, np.uint64(record[here + one, CHILD])):
                below0, below1 = above0 * probability[child], above1 * probability[child]
                if partial and below0 == 0.0 and below1 == 0.0:
                    continue
                touched += 1
                payoff = outcome[child]
                if not math.isnan(payoff):  # the game ends here
                    play0[before0, layout.VALUE] += below0 * payoff
                    play1[before1, layout.VALUE] -= below1 * payoff
                else:
                    node[count], last0[count], last1[count] = child, before0, before1
                    reach0[count], reach1[count] = below0, below1
                    count += one
    return touched, met0, met1


@inlined
def begin_turn(player: Player, opponent: Player, weight: float, moment: int) -> None:
    """The player who learns plays with this weight in the average; the opponent's strategy is met once more."""
    player.tables.sequences[0, layout.SUM] += weight
    met = opponent.tables.sequences
    if met.shape[1] > layout.PLAYED:
        met[0, layout.PLAYED] += 1.0
    if met.shape[1] > layout.LAST:
        met[0, layout.LAST] = moment


@inlined
def iterations(
    end_turn: Callable[[Player, Player, Any, Index, Pruning, float, int, int], int], tree: Walked,
    players: tuple[Player, Player], functions: tuple[FunctionTable, FunctionTable] | tuple[None, None],
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
