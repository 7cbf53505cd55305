"""Terminals on one board: a warp adds up a reach row, and looks up what every hand of the learner meets.

For each of our hands, with sums over hands of the opponent that have no card in common with ours:

    weaker - stronger = weaker + (weaker + equal) - all        showdowns
    all + our own hand, which both cards' sums have taken off  folds

What a warp waits for is asked for ahead: programs and reach, and two hands per lane where places are looked up (a
quarter less time with 585 hands, for which shared memory has room for 25 warps only).

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
    """``write_folds`` and ``write_shows``: what every hand meets, looked up in sums, two hands per lane at a time."""
    zero = number(0.0)

    def ahead(lookup, whole, everything, i, hands):
        """Weaker hands less stronger ones, for hand i if there is one."""
        both, one, two, ends = load4(lookup, uint32(4 * select(i < hands, i, uint32(0))))
        first = whole[uint32(one & 0xFFFF)] + whole[uint32(one >> 16)] - whole[uint32(ends & 0xFFFF)]
        second = whole[uint32(two & 0xFFFF)] + whole[uint32(two >> 16)] - whole[uint32(ends >> 16)]
        difference = (whole[uint32(both & 0xFFFF)] + whole[uint32(both >> 16)] - everything) - (first + second)
        return select(i < hands, difference, zero)

    def unblocked(lookup, same, whole, everything, i, hands):
        """All hands but those with a card of ours, for hand i if there is one."""
        index = select(i < hands, i, uint32(0))
        ends = uint32(lookup[uint32(4 * index + 3)])
        met = everything - (whole[uint32(ends & 0xFFFF)] + whole[uint32(ends >> 16)])
        return select(i < hands, met + whole[uint32(1 + same[index])], zero)

    ahead, unblocked = part(ahead), part(unblocked)

    def write_folds(lookup, same, whole, everything, width, hands, there, lane):
        """Without strengths."""
        i = uint32(lane)
        while i < width:
            further = uint32(i + LANES)
            x = unblocked(lookup, same, whole, everything, i, hands)
            y = unblocked(lookup, same, whole, everything, further, hands)
            there[i] = x
            if further < width:
                there[further] = y
            i = uint32(i + 2 * LANES)

    def write_shows(lookup, whole, everything, width, hands, here, lane):
        """By strength."""
        i = uint32(lane)
        while i < width:
            further = uint32(i + LANES)
            x, y = ahead(lookup, whole, everything, i, hands), ahead(lookup, whole, everything, further, hands)
            here[i] = x
            if further < width:
                here[further] = y
            i = uint32(i + 2 * LANES)

    return part(write_folds), part(write_shows)


@cache
def summing(number: type[np.floating[Any]]) -> Any:
    """``by_cards``: sums over the hands of each card."""
    zero = number(0.0)

    def after(code, x, total):
        """A running sum after one step of the program."""
        return x if code & AGAIN != 0 else total + x

    after = part(after)

    def four(one, two, whole):
        """Reach of the hands that four steps of the program name."""
        return (whole[uint32(one & MASK)], whole[uint32((one >> 16) & MASK)], whole[uint32(two & MASK)],
                whole[uint32((two >> 16) & MASK)])  # fmt: skip

    def add_four(one, two, reach, total, whole, to):
        """The running sum after four steps, each of which is kept."""
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
        """Running sums over the hands of each card, four steps at a time.

        While four steps are added up, the reach of the next four is read, and the program of those after them.
        ``to`` has 64 bits: sums with constants cost nothing then.
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
    """A lane's sums over all hands up to each of its own; ``run``: over those before."""
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
    """The part of kernels that work in numbers of a type."""
    zero = number(0.0)
    by_cards, (write_folds, write_shows) = summing(number), looking(number)

    def settle(betting, cards, board, g, rows, alive, stamp, whole, each, lane):
        """The rows of a terminal group, by a warp; ``whole``: its shared memory."""
        record = tail(cards.board, uint32(board * layout.BOARD_WORDS))
        group = tail(betting.group, uint32(g * layout.GROUP_WORDS))
        first, row, kind = word(group, layout.TOP), word(group, layout.ROW), word(group, layout.KIND)
        marks = uint32(word(record, layout.BOARD_MARKS) + first)
        if alive[marks] != stamp:
            return  # nobody reads them
        width, stride = word(record, layout.BOARD_WIDTH), word(record, layout.BOARD_STRIDE)
        base = uint32(word(record, layout.BOARD_ROWS) + uint32(first * stride))
        here = tail(rows, uint32(base + uint32(row * stride)))
        there = tail(rows, uint32(base + uint32(word(group, layout.EXTRA) * stride)))
        if alive[uint32(marks + row)] != stamp:
            i = uint32(lane)
            while i < width:
                here[i] = zero
                there[i] = zero
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
            whole[uint32(1 + k)] = here[k] if k < wide else zero
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
            write_folds(lookup, same, whole, everything, width, hands, there, lane)
            warp_barrier()
        if shows:
            run_sums(whole, mine, end, run)
            warp_barrier()
            everything = whole[word(record, layout.BOARD_THEIR_HANDS)]
            write_shows(lookup, whole, everything, width, hands, here, lane)

    return part(settle)
