"""Terminals of one street on one board: winnings of every hand of the learner against the opponent's reach.

16 reach rows are interleaved (``vectors``), so one sweep from the weakest hand to the strongest serves all of them.
For each lane and each of our hands, with sums over hands of the opponent that have no card in common with ours:

    ahead = weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have subtracted         folds

Hands that can be dealt with ours are all hands, less those with our first card and those with our second card.
No fastmath: every lane adds in the order of the hands. One thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Betting, BoardIndex, BoardPath, Hands, PassArrays, StreetScratch
from treeplex.engines.boards.cpu.addresses import betting_at, boards_at, hands_at, scratch_at
from treeplex.kernels.jit import callee, inlined
from treeplex.kernels.vectors import LANES, load, spread, store, transpose

SQUARE = LANES * LANES


@callee
def settle(tables: PassArrays, path: BoardPath, part: int, player: int) -> None:
    """Add the values of terminals to the learner's value rows, 16 reach rows at a time."""
    level, board = path.level, path.board
    betting, boards = betting_at(tables, 2 * level + player), boards_at(tables, level)
    mine, theirs = hands_at(tables, 2 * level + player), hands_at(tables, 2 * level + 1 - player)
    scratch = scratch_at(tables, level)
    wide = theirs.start[board + 1] - theirs.start[board]
    groups, rows = scratch.lanes[:LANES], scratch.lanes[LANES : 2 * LANES]
    filled, shows, folds = 0, False, False
    stop = betting.tile[part + 1, layout.GROUP]
    for n in range(betting.tile[part, layout.GROUP], stop):
        row = betting.terminal_group[n, layout.ROW]
        if scratch.alive[row]:
            groups[filled], rows[filled] = n, row * wide
            shows |= betting.terminal_group[n, layout.SHOWS] != 0
            folds |= betting.terminal_group[n, layout.FOLDS] != 0
            filled += 1
        if filled == LANES or (n + 1 == stop and filled > 0):
            for k in range(filled, LANES):
                rows[k] = np.int64(len(scratch.reach) - wide)  # the last row is always zero
            _settle_lanes(betting, boards, mine, theirs, board, player, filled, shows, folds, scratch)
            filled, shows, folds = 0, False, False


@inlined
def _settle_lanes(
    betting: Betting, boards: BoardIndex, mine: Hands, theirs: Hands, board: int, player: int, filled: int, shows: bool,
    folds: bool, scratch: StreetScratch,
) -> None:  # fmt: skip
    wide = theirs.start[board + 1] - theirs.start[board]
    rows = scratch.lanes[LANES : 2 * LANES]
    zero = spread(scratch.sums.dtype.type(0.0))
    for h in range(0, wide, LANES):
        transpose(scratch.dealt, h * LANES, scratch.reach, rows, 0, 1, h)
    for card in range(layout.ROWS_OF_SUMS):
        store(scratch.sums, card * LANES, zero)
    whole = _sweep(boards, mine, theirs, board, player, shows, scratch)
    _pay(betting, mine, board, filled, shows, folds, whole, scratch)


@inlined
def _sweep(
    boards: BoardIndex, mine: Hands, theirs: Hands, board: int, player: int, shows: bool, scratch: StreetScratch
) -> Any:
    """Sweep from the weakest group of hands to the strongest, and fill ``ahead``: weaker hands plus not stronger ones.

    Return the opponent's total reach, and leave its reach with each card in ``sums``. Without showdowns all of its
    hands are one group.
    """
    ours, start, ahead, sums = mine.start[board], theirs.start[board], scratch.ahead, scratch.sums
    whole = spread(sums.dtype.type(0.0))
    group = np.int64(boards.group_start[board]) if shows else np.int64(0)
    last = np.int64(boards.group_start[board + 1]) if shows else np.int64(1)
    i = j = np.int64(0)
    while group < last:
        end, stop = np.int64(0), np.int64(theirs.counts[board])
        if shows:
            end, stop = np.int64(boards.group[group, player]), np.int64(boards.group[group, 1 - player])
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]) * LANES, np.int64(mine.second[ours + k]) * LANES
            store(ahead, k * LANES, whole - (load(sums, one) + load(sums, two)))
        for k in range(j, stop):
            x = load(scratch.dealt, k * LANES)
            one, two = np.int64(theirs.first[start + k]) * LANES, np.int64(theirs.second[start + k]) * LANES
            store(sums, one, load(sums, one) + x)
            store(sums, two, load(sums, two) + x)
            whole += x
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]) * LANES, np.int64(mine.second[ours + k]) * LANES
            store(ahead, k * LANES, load(ahead, k * LANES) + (whole - (load(sums, one) + load(sums, two))))
        i, j = end, stop
        group += 1
    return whole


@inlined
def _pay(
    betting: Betting, mine: Hands, board: int, filled: int, shows: bool, folds: bool, whole: Any, scratch: StreetScratch
) -> None:
    """Add chips for the opponent's reach against each of our hands to value rows, 16 hands at a time."""
    start, hands = mine.start[board], np.int64(mine.counts[board])
    width = mine.start[board + 1] - start
    sums, square, value = scratch.sums, scratch.square, scratch.value
    places, counts = scratch.lanes[2 * LANES : 3 * LANES], scratch.lanes[3 * LANES :]
    zero = spread(sums.dtype.type(0.0))
    counts[layout.BY_STRENGTH], counts[layout.BY_HANDS] = shows, folds
    for kind in range(2):
        if counts[kind] > 0:
            counts[kind] = _list(betting, filled, width, kind, scratch)
    for h in range(0, width, LANES):
        stop = min(h + LANES, hands)
        for i in range(stop, h + LANES):
            store(square, (i - h) * LANES, zero)
        for kind in range(2):
            if counts[kind] == 0:
                continue
            for i in range(h, stop):
                one, two = np.int64(mine.first[start + i]) * LANES, np.int64(mine.second[start + i]) * LANES
                met = whole - (load(sums, one) + load(sums, two))
                if kind == layout.BY_STRENGTH:
                    met = load(scratch.ahead, i * LANES) - met
                else:
                    met = met + load(scratch.dealt, np.int64(mine.same[start + i]) * LANES)
                store(square, (i - h) * LANES, met)
            transpose(square, SQUARE, square, places, 0, 1, 0)
            rows, lanes, chips = scratch.terminal[kind], scratch.lane[kind], scratch.chips[kind]
            for n in range(counts[kind]):
                at = rows[n] + h
                store(value, at, load(value, at) + spread(chips[n]) * load(square, lanes[n]))


@inlined
def _list(betting: Betting, filled: int, width: int, kind: int, scratch: StreetScratch) -> Any:
    """List terminals of a kind below the 16 reach rows: value rows, lanes and chips. Return their number."""
    groups, count = scratch.lanes[:LANES], np.int64(0)
    rows, lanes, chips = scratch.terminal[kind], scratch.lane[kind], scratch.chips[kind]
    for k in range(filled):
        n = groups[k]
        for z in range(betting.terminal_group[n, layout.TERMINAL], betting.terminal_group[n, layout.END]):
            if betting.amount[z, kind] != 0:
                rows[count] = np.int64(betting.terminal[z]) * width
                lanes[count] = SQUARE + k * LANES
                chips[count] = betting.amount[z, kind]
                count += 1
    return count
