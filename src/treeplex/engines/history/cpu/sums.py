"""Sums of strategies that are passed down the treeplex only when needed, and what they say of a pruned sequence.

SUM of a sequence is complete once every infoset on the way has passed on what its parent sequence has gained since it
last did. So an iteration costs nothing where nothing happens. Parts of the kernels in ``prune``. Float64; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import PLAYED, SUM, TOTAL_REACH
from treeplex.engines.history.cpu.walk import pass_on
from treeplex.kernels.jit import Index, inlined, kernel


@inlined
def pass_to(first: Ints, parent: Ints, play: Floats, sequences: Floats, infosets: Floats, infoset: Index) -> None:
    """Pass on to an infoset's sequences what its parent sequence has gained since."""
    i = np.uint64(infoset)
    begin, end = np.uint64(first[i]), np.uint64(first[i + np.uint64(1)])
    pass_on(play, sequences, infosets, i, np.uint64(parent[i]), begin, end)


@kernel
def complete_sums(treeplex: Treeplex, play: Floats, sequences: Floats, infosets: Floats) -> None:
    """Pass on everything, from the top down."""
    first, parent = treeplex
    for infoset in range(len(parent)):
        pass_to(first, parent, play, sequences, infosets, infoset)


@inlined
def reopen(first: Ints, pruned: Bytes, open_: Ints, width: Ints, infoset: Index) -> None:
    """List the sequences of an infoset that are not pruned."""
    begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    free = begin
    for s in range(begin, end):
        if pruned[s] == 0:
            open_[free] = s
            free += np.uint64(1)
    width[infoset] = free - begin


@inlined
def infosets_below(first: Ints, child_start: Ints, child: Ints, s: Index, found: Ints) -> Index:
    """D(I, a): the infosets below a sequence, parents first, into ``found``; returns how many."""
    count, done, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for place in range(np.uint64(child_start[np.uint64(s)]), np.uint64(child_start[np.uint64(s) + one])):
        found[count] = child[place]
        count += one
    while done < count:
        infoset = np.uint64(found[done])
        done += one
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        for place in range(np.uint64(child_start[begin]), np.uint64(child_start[end])):
            found[count] = child[place]
            count += one
    return count


@inlined
def look_below(
    rows: Csr, first: Ints, child_start: Ints, child: Ints, infosets: Floats, found: Ints, paid: Floats,
    paid_then: Floats, first_1: Ints, parent_1: Ints, owner_1: Ints, play_1: Floats, sequences_1: Floats,
    infosets_1: Floats, stamp_1: Ints, stack_1: Ints, s: Index, count: Index, now: int,
) -> None:  # fmt: skip
    """What the opponent's play has paid the own terminals of ``s`` and of the first ``count`` infosets ``found`` below.

    Since it was last looked at, into ``paid``; TOTAL_REACH of those infosets is brought up to date; the sums of the
    opponent, whose arrays end in 1, are completed on the way. Arrays come one by one, because taking them out of a
    tuple costs a count of references each; for the same reason the loop over a row is written out here.
    """
    start, column, data = rows
    one, sequences = np.uint64(1), np.uint64(len(paid))
    played = np.uint64(PLAYED if sequences_1.shape[1] > PLAYED else SUM)
    begin, end = np.uint64(s), np.uint64(s) + one
    for step in range(np.uint64(count) + one):
        for q in range(begin, end):
            place, last = np.uint64(child_start[q]), np.uint64(child_start[q + one])
            row = np.uint64(q)
            while True:
                total = 0.0
                for entry in range(np.uint64(start[row]), np.uint64(start[row + one])):
                    other = np.uint64(column[entry])
                    infoset, height = owner_1[other], np.uint64(0)
                    while infoset >= 0 and stamp_1[np.uint64(infoset)] != now:  # up to what is complete
                        stack_1[height] = infoset
                        height += one
                        infoset = owner_1[np.uint64(parent_1[np.uint64(infoset)])]
                    while height > 0:  # and down again
                        height -= one
                        here = np.uint64(stack_1[height])
                        pass_to(first_1, parent_1, play_1, sequences_1, infosets_1, here)
                        stamp_1[here] = now
                    total += data[entry] * sequences_1[other, played]
                if row < sequences:
                    paid[q] = total - paid_then[q]
                    paid_then[q] = total
                else:
                    infosets[row - sequences, TOTAL_REACH] = total
                if place == last:
                    break
                row = sequences + np.uint64(child[place])
                place += one
        if step < count:
            begin = np.uint64(first[np.uint64(found[step])])
            end = np.uint64(first[np.uint64(found[step]) + one])
