"""Lookup tables of GPU kernels: indices of running sums over the opponent's hands against each hand.

A warp adds up one reach row over all hands, from the weakest to the strongest, and over the hands with each card in
that order. Lists of the 52 cards are assigned to the lanes, the longest first, each to the lane with the least work.
The sum after step s of a lane's *program* is stored at (s + 1) x lanes + lane. A program has 16 bits per step, and four
steps of a lane are two adjacent words. Sums restart with each card (``AGAIN``), so their rounding errors are those of
one card's hands.

For each of the learner's hands, ``lookup`` has four adjacent words of two indices each:

- sums over all weaker hands, and over all hands that are not stronger,
- likewise among the hands with its first card,
- likewise among the hands with its second card,
- sums over all hands with its first card, and over all hands with its second card.

Indices are those of a warp's shared memory (``terminals``), where sums over cards
follow those over all hands.

Integers only, compiled, one thread; modified in place.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards.arrays import Boards, Hands, Offsets, Small, Whole
from treeplex.engines.boards.cuda.arrays import AGAIN, Words
from treeplex.kernels.jit import allocating_kernel, kernel

SUMS: Final = 54  # cards, including that of an entry without a hand
WORDS: Final = 4
STEPS: Final = 4  # steps that are read together

Shorts = npt.NDArray[np.int16]


class Matches(NamedTuple):
    """Programs and lookup tables for the boards of a street."""

    start: Offsets  # [B] start of a board's program
    steps: Offsets  # [B] steps of the program
    program: Words
    lookup: Words


def find_matches(boards: Boards, learner: int, shows: bool, lanes: int, by_card: int) -> Matches:
    """Build the tables for ``learner``; ``shows``: are there showdowns? ``by_card``: start of sums over cards."""
    ours, theirs = boards.hands[learner], boards.hands[1 - learner]
    count = len(ours.counts)
    lane, first = np.zeros((count, SUMS), np.int16), np.zeros((count, SUMS), np.int16)
    steps = np.zeros(count, np.int64)
    _deal_lists(theirs, lanes, lane, first, steps)
    start = np.concatenate(([0], np.cumsum(steps * lanes)))[:-1].astype(np.int64)
    program = np.zeros(int((steps * lanes).sum()), np.uint16)
    lookup = np.zeros(WORDS * int(ours.start[-1]), np.uint32)
    groups = (boards.group_start, boards.group, learner) if shows else (np.zeros(0, np.int64), boards.group, learner)
    _write(ours, theirs, groups, (lanes, by_card), (lane, first), (start, steps, program), lookup)
    return Matches(start // 2, steps, program.view(np.uint32), lookup)


@allocating_kernel
def _deal_lists(theirs: Hands, lanes: int, lane: Shorts, first: Shorts, steps: Offsets) -> None:
    """Choose for each board and card the lane that adds up its hands, and the step at which it begins."""
    count, load = np.zeros(SUMS, np.int64), np.zeros(lanes, np.int64)
    for b in range(len(steps)):
        count[:], load[:] = 0, 0
        for k in range(theirs.start[b], theirs.start[b] + theirs.counts[b]):
            count[theirs.first[k]] += 1
            count[theirs.second[k]] += 1
        for _ in range(SUMS):
            card = np.argmax(count)
            if count[card] <= 0:
                break
            least = np.argmin(load)
            lane[b, card], first[b, card] = least, load[least]
            load[least] += count[card]
            count[card] = 0
        steps[b] = (load.max() + STEPS - 1) // STEPS * STEPS


@allocating_kernel
def _write(
    ours: Hands, theirs: Hands, groups: tuple[Offsets, Small, int], sizes: tuple[int, int],
    dealt: tuple[Shorts, Shorts], out: tuple[Offsets, Offsets, Small], lookup: Words,
) -> None:  # fmt: skip
    """Write programs and lookup tables, from the weakest group of equal strength to the strongest."""
    group_start, group, learner = groups
    (lanes, by_card), (lane, first), (start, steps, program) = sizes, dealt, out
    seen = np.zeros(SUMS, np.int64)
    for b in range(len(steps)):
        begin, their, their_hands = ours.start[b], theirs.start[b], theirs.counts[b]
        program[start[b] : start[b] + steps[b] * lanes] = their_hands + 1  # a position without a hand
        seen[:] = 0
        i, j = 0, 0
        shows = len(group_start) > 0
        low, high = (group_start[b], group_start[b + 1]) if shows else (np.int64(0), np.int64(1))
        for g in range(low, high):
            end, stop = np.int64(ours.counts[b]), np.int64(their_hands)
            if shows:
                end, stop = np.int64(group[g, learner]), np.int64(group[g, 1 - learner])
            for half in range(2):
                for k in range(i, end):
                    at, shift = WORDS * (begin + k), 16 * half
                    lookup[at] |= j << shift
                    one, two = np.int64(ours.first[begin + k]), np.int64(ours.second[begin + k])
                    lookup[at + 1] |= (by_card + _position_of_sum(lane, first, seen, b, one, lanes)) << shift
                    lookup[at + 2] |= (by_card + _position_of_sum(lane, first, seen, b, two, lanes)) << shift
                if half == 0:
                    for k in range(j, stop):
                        for card in (np.int64(theirs.first[their + k]), np.int64(theirs.second[their + k])):
                            again = AGAIN if seen[card] == 0 else 0
                            step = first[b, card] + seen[card]
                            quad = step // STEPS * lanes + lane[b, card]
                            program[start[b] + quad * STEPS + step % STEPS] = (k + 1) | again
                            seen[card] += 1
                    j = stop
            i = end
        for k in range(ours.counts[b]):
            one, two = np.int64(ours.first[begin + k]), np.int64(ours.second[begin + k])
            first_end, second_end = (
                by_card + _position_of_sum(lane, first, seen, b, one, lanes),
                by_card + _position_of_sum(lane, first, seen, b, two, lanes),
            )
            lookup[WORDS * (begin + k) + 3] = first_end | second_end << 16


def _sum_position(lane: Shorts, first: Shorts, seen: Offsets, b: int, card: Whole, lanes: int) -> int:
    """Return the index of the sum over the hands seen so far with a card. Index 0, if none was seen, has zero."""
    return (first[b, card] + seen[card]) * lanes + lane[b, card] if seen[card] > 0 else 0


_position_of_sum = kernel(_sum_position)
