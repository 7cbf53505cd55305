"""Terminals on one board: a warp adds up a reach row, and looks up the sums against every hand of the learner.

For each of our hands, with sums over hands of the opponent that have no card in common with ours:

    weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have subtracted  folds

A warp requests data before it needs them: programs and reach, and two hands per lane for lookups. That saves a quarter
of the time with 585 hands, for which shared memory has room for only 25 warps.

Two rows at a time, as the parts of complex numbers, take 28 % fewer instructions but are a third slower. Shared memory
then has room for half as many warps, which cannot hide memory latency.

Shared memory of a warp begins with sums over all hands in the order of strength: 1 + each x lanes numbers, of which the
first is zero. Sums over the hands of each card follow: (steps + 1) x lanes numbers, of which the first row is zero (see
``matches``).

Per row of H hands against H' of the opponent, H' numbers are read from rows and H or 2 H are written. From caches come
7 H bytes of programs (a little more than 4 H' on average) and 16 H bytes of lookup tables. No two threads add to the
same sum.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.arrays import AGAIN
from treeplex.engines.boards.cuda.barrier import LANES, before, warp_barrier
from treeplex.engines.boards.cuda.common import part, word
from treeplex.kernels.cuda.kernels import load2, load4, select, tail, uint32

MASK: Final = AGAIN - 1


@cache
def looking(number: type[np.floating[Any]]) -> tuple[Any, Any]:
    """Return ``write_folds`` and ``write_shows``: sums against every hand by lookup, two hands per lane at a time."""
    zero = number(0.0)

    def ahead(lookup, whole, everything, i, hands):
        """Return weaker hands minus stronger ones for hand i, or zero if there is no hand i."""
        both, one, two, ends = load4(lookup, uint32(4 * select(i < hands, i, uint32(0))))
        first = whole[uint32(one & 0xFFFF)] + whole[uint32(one >> 16)] - whole[uint32(ends & 0xFFFF)]
        second = whole[uint32(two & 0xFFFF)] + whole[uint32(two >> 16)] - whole[uint32(ends >> 16)]
        difference = (whole[uint32(both & 0xFFFF)] + whole[uint32(both >> 16)] - everything) - (first + second)
        return select(i < hands, difference, zero)

    def unblocked(lookup, same, whole, everything, i, hands):
        """Return all hands except those with a card of ours for hand i, or zero if there is no hand i."""
        index = select(i < hands, i, uint32(0))
        ends = uint32(lookup[uint32(4 * index + 3)])
        met = everything - (whole[uint32(ends & 0xFFFF)] + whole[uint32(ends >> 16)])
        return select(i < hands, met + whole[uint32(1 + same[index])], zero)

    ahead, unblocked = part(ahead), part(unblocked)

    def write_folds(lookup, same, whole, everything, width, hands, fold_row, lane):
        """Write sums without strengths, for folds."""
        i = uint32(lane)
        while i < width:
            further = uint32(i + LANES)
            x = unblocked(lookup, same, whole, everything, i, hands)
            y = unblocked(lookup, same, whole, everything, further, hands)
            fold_row[i] = x
            if further < width:
                fold_row[further] = y
            i = uint32(i + 2 * LANES)

    def write_shows(lookup, whole, everything, width, hands, show_row, lane):
        """Write sums by strength, for showdowns."""
        i = uint32(lane)
        while i < width:
            further = uint32(i + LANES)
            x, y = ahead(lookup, whole, everything, i, hands), ahead(lookup, whole, everything, further, hands)
            show_row[i] = x
            if further < width:
                show_row[further] = y
            i = uint32(i + 2 * LANES)

    return part(write_folds), part(write_shows)


@cache
def summing(number: type[np.floating[Any]]) -> Any:
    """Return ``by_cards``, the kernel part that sums over the hands of each card."""
    zero = number(0.0)

    def after(code, x, total):
        """Return a running sum after one step of the program."""
        return x if code & AGAIN != 0 else total + x

    after = part(after)

    def four(one, two, whole):
        """Load the reach of the hands in four steps of the program."""
        return (whole[uint32(one & MASK)], whole[uint32((one >> 16) & MASK)], whole[uint32(two & MASK)],
                whole[uint32((two >> 16) & MASK)])  # fmt: skip

    def add_four(one, two, reach, total, whole, to):
        """Return the running sum after four steps, and store the sum of each."""
        first = after(one, reach[0], total)
        second = after(one >> 16, reach[1], first)
        third = after(two, reach[2], second)
        total = after(two >> 16, reach[3], third)
        whole[to + LANES] = first
        whole[to + 2 * LANES] = second
        whole[to + 3 * LANES] = third
        whole[to + 4 * LANES] = total
        return total

    four, add_four = part(four), part(add_four)

    def by_cards(program, whole, at, last, to):
        """Compute running sums over the hands of each card, four steps at a time.

        While four steps are added, the reach of the next four is read, and the program of the four after them.
        ``to`` has 64 bits, so adding constants to it is free.
        """
        total, first = zero, at
        if at >= last:
            return
        one, two = load2(program, at)
        at = uint32(at + 2 * LANES)
        next_one, next_two = load2(program, select(at < last, at, first))
        reach = four(one, two, whole)
        while at < uint32(last + 2 * LANES):
            at = uint32(at + 2 * LANES)
            far_one, far_two = load2(program, select(at < last, at, first))
            next_reach = four(next_one, next_two, whole)
            total = add_four(one, two, reach, total, whole, to)
            one, two, next_one, next_two, reach = next_one, next_two, far_one, far_two, next_reach
            to = to + 4 * LANES

    return part(by_cards)


def _run_sums(whole, mine, end, run):
    """Compute a lane's sums over all hands up to each of its own; ``run``: sum over the hands before."""
    k = mine
    while uint32(k + 2) < end:
        a, b, c = whole[k], whole[uint32(k + 1)], whole[uint32(k + 2)]
        a = run + a
        b = a + b
        run = b + c
        whole[k], whole[uint32(k + 1)], whole[uint32(k + 2)] = a, b, run
        k = uint32(k + 3)
    while k < end:
        run += whole[k]
        whole[k] = run
        k = uint32(k + 1)


run_sums: Any = part(_run_sums)


@cache
def settling(number: type[np.floating[Any]]) -> Any:
    """Return the kernel part that computes terminals in numbers of a type."""
    zero = number(0.0)
    by_cards, (write_folds, write_shows) = summing(number), looking(number)

    def settle(betting, cards, board, g, rows, alive, stamp, whole, each, lane):
        """Compute the rows of a terminal group with one warp; ``whole``: its shared memory."""
        record = tail(cards.board, uint32(board * layout.BOARD_WORDS))
        group = tail(betting.group, uint32(g * layout.GROUP_WORDS))
        first, row, kind = word(group, layout.TOP), word(group, layout.ROW), word(group, layout.KIND)
        marks = uint32(word(record, layout.BOARD_MARKS) + first)
        if alive[marks] != stamp:
            return  # the rows are never read
        width, stride = word(record, layout.BOARD_WIDTH), word(record, layout.BOARD_STRIDE)
        base = uint32(word(record, layout.BOARD_ROWS) + uint32(first * stride))
        show_row = tail(rows, uint32(base + uint32(row * stride)))
        fold_row = tail(rows, uint32(base + uint32(word(group, layout.EXTRA) * stride)))
        if alive[uint32(marks + row)] != stamp:
            i = uint32(lane)
            while i < width:
                show_row[i] = zero
                fold_row[i] = zero
                i = uint32(i + LANES)
            return
        shows, folds = kind & layout.SHOWS != 0, kind & layout.FOLDS != 0
        hands, wide = word(record, layout.BOARD_HANDS), word(record, layout.BOARD_THEIRS)
        start, steps = word(record, layout.BOARD_START), word(record, layout.BOARD_STEPS)
        lookup, same = tail(cards.lookup, uint32(4 * start)), tail(cards.same, start)
        program = tail(cards.program, word(record, layout.BOARD_PROGRAM))
        by_card = uint32(uint32(each * LANES) + 1)
        mine = uint32(lane * each + 1)
        k = uint32(lane)
        while k < uint32(each * LANES):
            whole[uint32(1 + k)] = show_row[k] if k < wide else zero
            k = uint32(k + LANES)
        if lane == 0:
            whole[uint32(0)] = zero
        whole[uint32(by_card + lane)] = zero
        warp_barrier()
        total = zero
        k, end = mine, uint32(mine + each)
        while k < end:
            total += whole[k]
            k = uint32(k + 1)
        run, everything = before(total, lane, whole, uint32(by_card + LANES))
        by_cards(program, whole, uint32(2 * lane), uint32(uint32(steps * LANES) // 2), np.int64(uint32(by_card + lane)))
        warp_barrier()
        if folds:
            write_folds(lookup, same, whole, everything, width, hands, fold_row, lane)
            warp_barrier()
        if shows:
            run_sums(whole, mine, end, run)
            warp_barrier()
            everything = whole[word(record, layout.BOARD_THEIR_HANDS)]
            write_shows(lookup, whole, everything, width, hands, show_row, lane)

    return part(settle)
