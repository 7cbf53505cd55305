"""Terminals on one board: a warp adds up a reach row, and looks up what every hand of the learner meets.

For each of our hands, with sums over hands of the opponent that have no card in common with ours:

    weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have taken off  folds

Two rows at a time, as the parts of complex numbers, take 28 % fewer instructions and are a third slower: shared memory
has room for half as many warps then, and they wait.

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

    def word(record, k):
        return uint32(record[k])

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

    after, word, ahead = _part(after), _part(word), _part(ahead)

    def settle(betting, cards, board, g, rows, alive, stamp, whole, each, lane):
        """The rows of a terminal group, by a warp; ``whole``: its shared memory."""
        record, group = (
            cards.board[uint64(board * layout.BOARD_WORDS) :],
            betting.group[uint64(g * layout.GROUP_WORDS) :],
        )
        first, row, kind = word(group, layout.TOP), word(group, layout.ROW), word(group, layout.KIND)
        marks = uint32(word(record, layout.BOARD_MARKS) + first)
        if alive[marks] != stamp:
            return  # nobody reads them
        width, stride = word(record, layout.BOARD_WIDTH), word(record, layout.BOARD_STRIDE)
        base = uint32(word(record, layout.BOARD_ROWS) + uint32(first * stride))
        here = uint32(base + uint32(row * stride))
        there = uint32(base + uint32(word(group, layout.EXTRA) * stride))
        if alive[uint32(marks + row)] != stamp:
            i = uint32(lane)
            while i < width:
                rows[uint32(here + i)] = zero
                rows[uint32(there + i)] = zero
                i = uint32(i + LANES)
            return
        shows, folds = kind & layout.SHOWS != 0, kind & layout.FOLDS != 0
        held, wide = word(record, layout.BOARD_HELD), word(record, layout.BOARD_THEIRS)
        start, steps = word(record, layout.BOARD_START), word(record, layout.BOARD_STEPS)
        look, same = cards.look[uint64(4 * start) :], cards.same[uint64(start) :]
        program = cards.program[uint64(word(record, layout.BOARD_PROGRAM)) :]
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
        if folds:
            i = uint32(lane)
            while i < width:
                met = zero
                if i < held:
                    ends, place = uint32(look[uint32(3 * width + i)]), uint32(same[uint32(i)])
                    met = everything - (by_card[uint32(ends & 0xFFFF)] + by_card[uint32(ends >> 16)])
                    met += whole[uint32(1 + place)]
                rows[uint32(there + i)] = met
                i = uint32(i + LANES)
            meet_warp()
        if shows:
            k = mine
            while k < end:
                run += whole[k]
                whole[k] = run
                k = uint32(k + 1)
            meet_warp()
            everything = whole[uint32(word(record, layout.BOARD_THEIR_HELD))]
            i = uint32(lane)
            while i < width:
                rows[uint32(here + i)] = ahead(look, whole, by_card, everything, i, width, held)
                i = uint32(i + LANES)

    return _part(settle)
