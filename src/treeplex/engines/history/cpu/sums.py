"""Sums of strategies that are passed down the treeplex only when needed, and payments of pruned sequences.

SUM of a sequence is complete once every infoset on the path to it has passed on the recent gains of its parent
sequence. An iteration therefore costs nothing in parts of the tree that it does not visit. Parts of the kernels in
``prune``. Float64; no fastmath.
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
    """Pass the gains of an infoset's parent sequence, since the last time, on to the sequences of the infoset."""
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
    while infoset >= 0 and stamp[np.uint64(infoset)] != now:  # up to an infoset that is complete
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
    """Complete the sums of all sequences, from the top down."""
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
def infosets_below(player: WalkingPlayer, s: Index, subtree: Ints) -> Index:
    """Write D(I, a), the infosets below a sequence, parents first, to ``subtree``; return their number."""
    first, child_start, child = player.treeplex.first, player.side.child_start, player.side.child
    count, done, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for position in range(np.uint64(child_start[np.uint64(s)]), np.uint64(child_start[np.uint64(s) + one])):
        subtree[count] = child[position]
        count += one
    while done < count:
        infoset = np.uint64(subtree[done])
        done += one
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        for position in range(np.uint64(child_start[begin]), np.uint64(child_start[end])):
            subtree[count] = child[position]
            count += one
    return count


@inlined_loop
def update_payments(player: WalkingPlayer, opponent: WalkingPlayer, s: Index, count: Index, now: int) -> None:
    """Write payments under the opponent's play, since the last evaluation, to ``paid``.

    They are those of the own terminals of ``s``, and of the first ``count`` infosets of ``subtree``. TOTAL_REACH of
    these infosets is updated. So are the sums of the opponent's sequences that are needed.
    """
    (start, column, data), first = player.rows, player.treeplex.first
    child_start, child, infosets = player.side.child_start, player.side.child, player.tables.infosets
    subtree, paid, paid_then = player.scratch.subtree, player.scratch.paid, player.tables.paid_then
    met = opponent.tables.sequences
    one, sequences = np.uint64(1), np.uint64(len(paid))
    played = np.uint64(PLAYED if met.shape[1] > PLAYED else SUM)
    begin, end = np.uint64(s), np.uint64(s) + one
    for step in range(np.uint64(count) + one):
        for q in range(begin, end):
            position, last = np.uint64(child_start[q]), np.uint64(child_start[q + one])
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
                if position == last:
                    break
                row = sequences + np.uint64(child[position])
                position += one
        if step < count:
            begin = np.uint64(first[np.uint64(subtree[step])])
            end = np.uint64(first[np.uint64(subtree[step]) + one])
