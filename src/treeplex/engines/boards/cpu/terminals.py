"""Terminals of one street on one board: what every hand of the learner wins against the opponent's reach.

16 reach rows lie side by side (``vectors``), so one sweep from the weakest hand to the strongest serves all of them.
For each lane and each of our hands, with sums over hands of the opponent that have no card in common with ours:

    ahead = weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have taken off          folds

Hands that meet ours are those that are dealt, less those with our first and those with our second card.
No fastmath: every lane adds in the order of the hands. One thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Betting, BoardIndex, Hands, Place, Scratch, Tables
from treeplex.engines.boards.cpu.addresses import betting_at, boards_at, hands_at, scratch_at
from treeplex.jit import callee, inlined
from treeplex.vectors import LANES, load, spread, store, transpose

Array = npt.NDArray[Any]
SQUARE = LANES * LANES


@callee
def settle(tables: Tables, place: Place, part: int, player: int) -> None:
    """Add the values of terminals to the learner's value rows, 16 reach rows at a time."""
    level, board = place.level, place.board
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
    folds: bool, scratch: Scratch,
) -> None:  # fmt: skip
    wide = theirs.start[board + 1] - theirs.start[board]
    rows = scratch.lanes[LANES : 2 * LANES]
    zero = spread(scratch.sums.dtype.type(0.0))
    for h in range(0, wide, LANES):
        transpose(scratch.dealt, h * LANES, scratch.reach, rows, h)
    for card in range(layout.ROWS_OF_SUMS):
        store(scratch.sums, card * LANES, zero)
    if shows:
        whole = _sweep(boards, mine, theirs, board, player, scratch)
    else:
        whole = _count(theirs, board, 0, theirs.held[board], zero, scratch)
    _spread(betting, mine, board, filled, shows, folds, whole, scratch)


@inlined
def _count(theirs: Hands, board: int, begin: Any, stop: Any, whole: Any, scratch: Scratch) -> Any:
    """Add what the opponent holds from ``begin`` to ``stop`` to the sums of each card, and to ``whole``."""
    start, sums = theirs.start[board], scratch.sums
    for j in range(begin, stop):
        x = load(scratch.dealt, j * LANES)
        one, two = np.int64(theirs.first[start + j]) * LANES, np.int64(theirs.second[start + j]) * LANES
        store(sums, one, load(sums, one) + x)
        store(sums, two, load(sums, two) + x)
        whole = whole + x
    return whole


@inlined
def _sweep(boards: BoardIndex, mine: Hands, theirs: Hands, board: int, player: int, scratch: Scratch) -> Any:
    """From the weakest group of hands to the strongest: ``ahead`` gets what is weaker, and what is not stronger."""
    ours, ahead, sums = mine.start[board], scratch.ahead, scratch.sums
    whole = spread(sums.dtype.type(0.0))
    i = j = 0
    for g in range(boards.group_start[board], boards.group_start[board + 1]):
        end, stop = np.int64(boards.group[g, player]), np.int64(boards.group[g, 1 - player])
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]) * LANES, np.int64(mine.second[ours + k]) * LANES
            store(ahead, k * LANES, whole - (load(sums, one) + load(sums, two)))
        whole = _count(theirs, board, j, stop, whole, scratch)
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]) * LANES, np.int64(mine.second[ours + k]) * LANES
            store(ahead, k * LANES, load(ahead, k * LANES) + (whole - (load(sums, one) + load(sums, two))))
        i, j = end, stop
    return whole


@inlined
def _spread(
    betting: Betting, mine: Hands, board: int, filled: int, shows: bool, folds: bool, whole: Any, scratch: Scratch
) -> None:
    """What each hand of ours meets, turned back into rows, 16 hands at a time, and added to value rows as chips."""
    start, held = mine.start[board], np.int64(mine.held[board])
    width = mine.start[board + 1] - start
    sums, square, dealt = scratch.sums, scratch.square, scratch.dealt
    places = scratch.lanes[2 * LANES :]
    zero = spread(sums.dtype.type(0.0))
    showdowns = _list(betting, filled, width, layout.BY_STRENGTH, scratch) if shows else np.int64(0)
    others = _list(betting, filled, width, layout.BY_HANDS, scratch) if folds else np.int64(0)
    for h in range(0, width, LANES):
        stop = min(h + LANES, held)
        for i in range(stop, h + LANES):
            store(square, (i - h) * LANES, zero)
        if showdowns > 0:
            for i in range(h, stop):
                one, two = np.int64(mine.first[start + i]) * LANES, np.int64(mine.second[start + i]) * LANES
                met = whole - (load(sums, one) + load(sums, two))
                store(square, (i - h) * LANES, load(scratch.ahead, i * LANES) - met)
            transpose(square, SQUARE, square, places, 0)
            _add(showdowns, layout.BY_STRENGTH, h, scratch)
        if others > 0:
            for i in range(h, stop):
                one, two = np.int64(mine.first[start + i]) * LANES, np.int64(mine.second[start + i]) * LANES
                met = whole - (load(sums, one) + load(sums, two))
                store(square, (i - h) * LANES, met + load(dealt, np.int64(mine.same[start + i]) * LANES))
            transpose(square, SQUARE, square, places, 0)
            _add(others, layout.BY_HANDS, h, scratch)


@inlined
def _list(betting: Betting, filled: int, width: int, kind: int, scratch: Scratch) -> Any:
    """Terminals of a kind below the 16 reach rows: their value rows, lanes and chips. Returns how many there are."""
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


@inlined
def _add(count: Any, kind: int, h: int, scratch: Scratch) -> None:
    """Add chips times the rows of a square to 16 hands of their terminals' value rows."""
    rows, lanes, chips = scratch.terminal[kind], scratch.lane[kind], scratch.chips[kind]
    value, square = scratch.value, scratch.square
    for n in range(count):
        at = rows[n] + h
        store(value, at, load(value, at) + spread(chips[n]) * load(square, lanes[n]))
