"""A walk over the history tree that enters only what can matter, and counts it.

Nodes are entered level by level, each with the counterfactual reach of both players; a child is left out, without a
look at it, where its sequence is pruned or where neither player's reach is positive (partial pruning). At a terminal
both players' last sequences earn its payoff, each by its own reach; values of infosets follow from that over the
treeplex, so there is no second pass over nodes. The order of nodes does not change which are entered; this one reads
and writes memory in order. Float64; one thread; no fastmath.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.history.arrays import BEHAVIOUR, EARNED, MASS, PLAYED, SUM, TAKEN, TAKEN_PLAYED, Open, Scratch
from treeplex.engines.history.levels import LevelTree
from treeplex.games.protocol import TERMINAL
from treeplex.jit import Index, inlined, kernel


@inlined
def pass_on(cells: Floats, tallies: Floats, infoset: Index, above: Index, begin: Index, end: Index) -> None:
    """Pass on to an infoset's sequences what the sums of its parent sequence ``above`` have gained since."""
    gained = cells[above, SUM] - tallies[infoset, TAKEN]
    if gained != 0.0:
        tallies[infoset, TAKEN] = cells[above, SUM]
        for s in range(begin, end):
            cells[s, SUM] += gained * cells[s, BEHAVIOUR]
    if cells.shape[1] > PLAYED:
        gained = cells[above, PLAYED] - tallies[infoset, TAKEN_PLAYED]
        if gained != 0.0:
            tallies[infoset, TAKEN_PLAYED] = cells[above, PLAYED]
            for s in range(begin, end):
                cells[s, PLAYED] += gained * cells[s, BEHAVIOUR]


class Ground(NamedTuple):
    """Scratch for every inner node entered."""

    node: Ints
    reach0: Floats  # counterfactual reach of player 0: by player 1 and chance
    reach1: Floats
    last0: Ints  # the last sequence of player 0
    last1: Ints


@kernel
def enter(
    tree: LevelTree,
    cells: tuple[Floats, Floats],
    tallies: tuple[Floats, Floats],
    open_sequences: tuple[Open, Open],
    scratches: tuple[Scratch, Scratch],
    partial: bool,
    who: int,
    now: int,
    ground: Ground,
) -> tuple[int, Index, Index]:
    """Enter the nodes that matter to ``who`` (0, 1, or 2 for both), in pass ``now``.

    An infoset met passes on what its parent sequence's sums have gained since it last did. Returns how many nodes were
    entered and how many infosets of each player were met.
    """
    record, probability, payoff = tree
    node, reach0, reach1, last0, last1 = ground
    cells0, cells1 = cells
    tallies0, tallies1 = tallies
    open0, opened0 = open_sequences[0]
    open1, opened1 = open_sequences[1]
    meeting0, meeting1 = scratches[0].met, scratches[1].met
    stamp0, stamp1 = scratches[0].stamp, scratches[1].stamp
    one = np.uint64(1)
    child, mover, infoset, first = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
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
        begin = np.uint64(record[here, child])
        actor = record[here, mover]
        if actor == 0:
            own, s = np.uint64(record[here, infoset]), np.uint64(record[here, first])
            if above0 > 0.0:
                if tallies0[own, MASS] == 0.0:
                    meeting0[met0] = own
                    met0 += one
                    stamp0[own] = now
                    pass_on(cells0, tallies0, own, before0, s, s + np.uint64(record[here + one, child]) - begin)
                tallies0[own, MASS] += above0
            for free in range(s, s + np.uint64(opened0[own])):
                mine = np.uint64(open0[free])
                below1 = above1 * cells0[mine, BEHAVIOUR]
                if partial and above0 == 0.0 and below1 == 0.0:
                    continue
                touched += 1
                c = begin + (mine - s)
                if record[c, mover] == TERMINAL:
                    cells0[mine, EARNED] += above0 * payoff[c]
                    cells1[before1, EARNED] -= below1 * payoff[c]
                else:
                    node[count], last0[count], last1[count] = c, mine, before1
                    reach0[count], reach1[count] = above0, below1
                    count += one
        elif actor == 1:
            own, s = np.uint64(record[here, infoset]), np.uint64(record[here, first])
            if above1 > 0.0:
                if tallies1[own, MASS] == 0.0:
                    meeting1[met1] = own
                    met1 += one
                    stamp1[own] = now
                    pass_on(cells1, tallies1, own, before1, s, s + np.uint64(record[here + one, child]) - begin)
                tallies1[own, MASS] += above1
            for free in range(s, s + np.uint64(opened1[own])):
                mine = np.uint64(open1[free])
                below0 = above0 * cells1[mine, BEHAVIOUR]
                if partial and above1 == 0.0 and below0 == 0.0:
                    continue
                touched += 1
                c = begin + (mine - s)
                if record[c, mover] == TERMINAL:
                    cells1[mine, EARNED] -= above1 * payoff[c]
                    cells0[before0, EARNED] += below0 * payoff[c]
                else:
                    node[count], last0[count], last1[count] = c, before0, mine
                    reach0[count], reach1[count] = below0, above1
                    count += one
        else:
            for c in range(begin, np.uint64(record[here + one, child])):
                below0, below1 = above0 * probability[c], above1 * probability[c]
                if partial and below0 == 0.0 and below1 == 0.0:
                    continue
                touched += 1
                if record[c, mover] == TERMINAL:
                    cells0[before0, EARNED] += below0 * payoff[c]
                    cells1[before1, EARNED] -= below1 * payoff[c]
                else:
                    node[count], last0[count], last1[count] = c, before0, before1
                    reach0[count], reach1[count] = below0, below1
                    count += one
    return touched, met0, met1
