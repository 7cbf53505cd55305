"""Terminals on one board: a warp adds up a reach row, and looks up what every hand of the learner meets.

For each of our hands, with sums over hands of the opponent that have no card in common with ours:

    weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have taken off  folds

Shared memory of a warp: sums over all hands in the order of strength, 1 + each x lanes numbers of which the first is
zero; sums over the hands of each card, (steps + 1) x lanes, of which the first row is zero (see ``matches``).

Per row of H hands against H' of the opponent: H' numbers read and H or 2 H written where rows are kept; 7 H bytes of
programs (a little more than 4 H' on average) and 16 H of places, from caches. No sum is shared by two threads.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any

from treeplex.cuda.kernels import SIMULATED, callee, uint32
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.arrays import AGAIN
from treeplex.engines.boards.cuda.meeting import LANES, before, meet_warp, uint64


def _part(function):
    return function if SIMULATED else callee(function)


@cache
def settling(number: Any) -> Any:
    """The part of kernels that work in numbers of a type."""
    zero = number(0.0)

    def after(code, x, total):
        """A running sum after one step of the program."""
        return x if code >= AGAIN else total + x

    after = _part(after)

    def ahead(look, whole, by_card, everything, i, width, held):
        """Weaker hands less stronger ones."""
        met = zero
        if i < held:
            both, ends = uint32(look[uint32(i)]), uint32(look[uint32(3 * width + i)])
            one, two = uint32(look[uint32(width + i)]), uint32(look[uint32(2 * width + i)])
            first = by_card[uint32(one & 0xFFFF)] + by_card[uint32(one >> 16)]
            second = by_card[uint32(two & 0xFFFF)] + by_card[uint32(two >> 16)]
            first -= by_card[uint32(ends & 0xFFFF)]
            second -= by_card[uint32(ends >> 16)]
            met = whole[uint32(both & 0xFFFF)] + whole[uint32(both >> 16)] - everything
            met -= first + second
        return met

    def word(records, at, k):
        return uint32(records[uint32(at + k)])

    ahead, word = _part(ahead), _part(word)

    def settle(betting, cards, board, g, rows, alive, stamp, whole, each, lane):
        """The rows of a terminal group, by a warp; ``whole``: its shared memory."""
        b, d = uint32(board * layout.BOARD_WORDS), uint32(g * layout.GROUP_WORDS)
        first = word(betting.group, d, layout.TOP)
        marks = uint32(word(cards.board, b, layout.BOARD_MARKS) + first)
        if alive[marks] != stamp:
            return  # nobody reads them
        start, width = word(cards.board, b, layout.BOARD_START), word(cards.board, b, layout.BOARD_WIDTH)
        stride = word(cards.board, b, layout.BOARD_STRIDE)
        row, kind = word(betting.group, d, layout.ROW), word(betting.group, d, layout.KIND)
        shows, folds = kind & layout.SHOWS != 0, kind & layout.FOLDS != 0
        base = uint32(word(cards.board, b, layout.BOARD_ROWS) + uint32(first * stride))
        here = uint32(base + uint32(row * stride))
        there = uint32(base + uint32(word(betting.group, d, layout.EXTRA) * stride))
        if alive[uint32(marks + row)] != stamp:
            i = uint32(lane)
            while i < width:
                rows[uint32(here + i)] = zero
                rows[uint32(there + i)] = zero
                i = uint32(i + LANES)
            return
        held, wide = word(cards.board, b, layout.BOARD_HELD), word(cards.board, b, layout.BOARD_THEIRS)
        dealt, steps = word(cards.board, b, layout.BOARD_THEIR_HELD), word(cards.board, b, layout.BOARD_STEPS)
        look, same = cards.look[uint64(4 * start) :], cards.same[uint64(start) :]
        program = cards.program[uint64(word(cards.board, b, layout.BOARD_PROGRAM)) :]
        by_card = whole[uint32(each * LANES + 1) :]
        mine = uint32(lane * each + 1)
        k, end = uint32(lane), uint32(each * LANES)
        while k < end:
            whole[uint32(1 + k)] = rows[uint32(here + k)] if k < wide else zero
            k = uint32(k + LANES)
        if lane == 0:
            whole[uint32(0)] = zero
        by_card[uint32(lane)] = zero
        meet_warp()
        total = zero
        k, end = mine, uint32(mine + each)
        while k < end:
            total += whole[k]
            k = uint32(k + 1)
        run, everything = before(total, lane, by_card, LANES)
        total = zero
        at, last = uint32(lane), uint32(steps * LANES)
        while at < last:  # steps are a multiple of four
            one, two = program[at], program[uint32(at + LANES)]
            three, four = program[uint32(at + 2 * LANES)], program[uint32(at + 3 * LANES)]
            x, y = whole[uint32(1 + (one & (AGAIN - 1)))], whole[uint32(1 + (two & (AGAIN - 1)))]
            z, w = whole[uint32(1 + (three & (AGAIN - 1)))], whole[uint32(1 + (four & (AGAIN - 1)))]
            first = after(one, x, total)
            second = after(two, y, first)
            third = after(three, z, second)
            total = after(four, w, third)
            by_card[uint32(at + LANES)] = first
            by_card[uint32(at + 2 * LANES)] = second
            by_card[uint32(at + 3 * LANES)] = third
            by_card[uint32(at + 4 * LANES)] = total
            at = uint32(at + 4 * LANES)
        meet_warp()
        if shows:
            k = mine
            while k < end:
                run += whole[k]
                whole[k] = run
                k = uint32(k + 1)
            meet_warp()
            everything = whole[uint32(dealt)]
        if folds:
            i = uint32(lane)
            while i < width:
                met = zero
                if i < held:
                    ends, place = uint32(look[uint32(3 * width + i)]), uint32(same[uint32(i)])
                    ours = rows[uint32(here + place)] if shows else whole[uint32(1 + place)]
                    met = everything - (by_card[uint32(ends & 0xFFFF)] + by_card[uint32(ends >> 16)]) + ours
                rows[uint32(there + i)] = met
                i = uint32(i + LANES)
            meet_warp()
        if shows:
            i = uint32(lane)
            while i < width:
                j = uint32(i + LANES)
                met = ahead(look, whole, by_card, everything, i, width, held)
                more = ahead(look, whole, by_card, everything, j, width, held)
                rows[uint32(here + i)] = met
                if j < width:
                    rows[uint32(here + j)] = more
                i = uint32(j + LANES)

    return _part(settle)
