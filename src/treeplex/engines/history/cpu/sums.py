"""Sums of strategies that are passed down the treeplex only when needed, and what they say of a pruned sequence.

SUM of a sequence is complete once every infoset on the way has passed on what its parent sequence has gained since it
last did. So an iteration costs nothing where nothing happens. Parts of the kernels in ``prune``. Float64; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import PLAYED, SUM, TOTAL_REACH, WalkingPlayer
from treeplex.engines.history.cpu.walk import pass_on
from treeplex.kernels.jit import Index, inlined_loop, kernel


@inlined_loop
def pass_to(player: WalkingPlayer, infoset: Index) -> None:
    """Pass on to an infoset's sequences what its parent sequence has gained since."""
    (first, parent), i = player.treeplex, np.uint64(infoset)
    play, sequences, infosets = player.tables.play, player.tables.sequences, player.tables.infosets
    begin, end = np.uint64(first[i]), np.uint64(first[i + np.uint64(1)])
    pass_on(play, sequences, infosets, i, np.uint64(parent[i]), begin, end)


@inlined_loop
def pass_down_to(player: WalkingPlayer, s: Index, now: int) -> None:
    """Complete the sums of a sequence, from the last infoset above it that is complete in pass ``now``."""
    owner, parent = player.side.owner, player.treeplex.parent
    stack, stamp = player.scratch.stack, player.scratch.stamp
    one, height, infoset = np.uint64(1), np.uint64(0), owner[s]
    while infoset >= 0 and stamp[np.uint64(infoset)] != now:  # up to what is complete
        stack[height] = infoset
        height += one
        infoset = owner[np.uint64(parent[np.uint64(infoset)])]
    while height > 0:  # and down again
        height -= one
        here = np.uint64(stack[height])
        pass_to(player, here)
        stamp[here] = now


@kernel
def complete_sums(treeplex: Treeplex, play: Floats, sequences: Floats, infosets: Floats) -> None:
    """Pass on everything, from the top down."""
    first, parent = treeplex
    for infoset in range(np.uint64(len(parent))):
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
        pass_on(play, sequences, infosets, infoset, np.uint64(parent[infoset]), begin, end)


@inlined_loop
def reopen(player: WalkingPlayer, infoset: Index) -> None:
    """List the sequences of an infoset that are not pruned."""
    first, pruned, (open_, width) = player.treeplex.first, player.tables.pruned, player.open
    begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    free = begin
    for s in range(begin, end):
        if pruned[s] == 0:
            open_[free] = s
            free += np.uint64(1)
    width[infoset] = free - begin


@inlined_loop
def infosets_below(player: WalkingPlayer, s: Index, found: Ints) -> Index:
    """D(I, a): the infosets below a sequence, parents first, into ``found``; returns how many."""
    first, child_start, child = player.treeplex.first, player.side.child_start, player.side.child
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


@inlined_loop
def look_below(player: WalkingPlayer, opponent: WalkingPlayer, s: Index, count: Index, now: int) -> None:
    """What the opponent's play has paid the own terminals of ``s`` and of the first ``count`` infosets ``found`` below.

    Since it was last looked at, into ``paid``; TOTAL_REACH of those infosets is brought up to date; the sums of the
    opponent are completed on the way.
    """
    (start, column, data), first = player.rows, player.treeplex.first
    child_start, child, infosets = player.side.child_start, player.side.child, player.tables.infosets
    found, paid, paid_then = player.scratch.found, player.scratch.paid, player.tables.paid_then
    met = opponent.tables.sequences
    one, sequences = np.uint64(1), np.uint64(len(paid))
    played = np.uint64(PLAYED if met.shape[1] > PLAYED else SUM)
    begin, end = np.uint64(s), np.uint64(s) + one
    for step in range(np.uint64(count) + one):
        for q in range(begin, end):
            place, last = np.uint64(child_start[q]), np.uint64(child_start[q + one])
            row = np.uint64(q)
            while True:
                total = 0.0
                for entry in range(np.uint64(start[row]), np.uint64(start[row + one])):
                    other = np.uint64(column[entry])
                    pass_down_to(opponent, other, now)
                    total += data[entry] * met[other, played]
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
