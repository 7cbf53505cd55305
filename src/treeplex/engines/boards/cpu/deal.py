"""Which hands are left on each board, in which order, and where they stand on the board above. Whole numbers only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards.arrays import NO_CARD, Hands, Offsets, Small
from treeplex.engines.boards.cpu.strength import strength_of
from treeplex.jit import kernel

NO_HAND = 1326


@kernel
def count_hands(above: Hands, parent: Offsets, card: Offsets, count: npt.NDArray[np.int32]) -> None:
    """How many hands of the board above ``card`` leaves to each board."""
    for b in range(len(parent)):
        left = 0
        start = above.start[parent[b]]
        for i in range(start, start + above.held[parent[b]]):
            if above.first[i] != card[b] and above.second[i] != card[b]:
                left += 1
        count[b] = left


@kernel
def _strength(board: npt.NDArray[np.uint8], first: int, second: int) -> int:
    masks = np.zeros(4, dtype=np.int64)
    for k in range(len(board)):
        masks[board[k] & 3] |= 1 << np.int64(board[k] >> 2)
    for hole in (np.int64(first), np.int64(second)):
        masks[hole & 3] |= 1 << (hole >> 2)
    return strength_of(masks[0], masks[1], masks[2], masks[3])


@kernel
def _hand_number(first: int, second: int) -> int:
    low, high = min(first, second), max(first, second)
    return low * (103 - low) // 2 + high - low - 1


@kernel
def deal_hands(
    above: Hands, parent: Offsets, card: Offsets, board: npt.NDArray[np.uint8], image: Offsets,
    suits: npt.NDArray[np.int64], by_strength: bool, hands: Hands, strength: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Fill ``number``, ``first``, ``second`` and ``map`` of ``hands``, and ``strength`` if hands are ordered by it.

    ``board`` [B, cards], ``image`` [B + 1] into ``suits`` [images, 4]: what each suit becomes in the image.
    """
    place = np.zeros(NO_HAND, dtype=np.int64)
    found = np.zeros(NO_HAND, dtype=np.int64)
    rank = np.zeros(NO_HAND, dtype=np.int64)
    for b in range(len(parent)):
        start, stop = above.start[parent[b]], above.start[parent[b] + 1]
        left = 0
        for i in range(start, start + above.held[parent[b]]):
            place[above.number[i]] = i - start
            if above.first[i] != card[b] and above.second[i] != card[b]:
                found[left] = i
                if by_strength:
                    rank[left] = _strength(board[b], above.first[i], above.second[i])
                left += 1
        order = np.argsort(rank[:left], kind="mergesort") if by_strength else np.arange(left)
        begin, end = hands.start[b], hands.start[b + 1]
        for k in range(end - begin):
            at = begin + k
            if k < left:
                i = found[order[k]]
                hands.number[at] = above.number[i]
                hands.first[at] = above.first[i]
                hands.second[at] = above.second[i]
                if by_strength:
                    strength[at] = rank[order[k]]
            else:
                hands.number[at] = NO_HAND
                hands.first[at] = NO_CARD
                hands.second[at] = NO_CARD
        for k in range(image[b], image[b + 1]):
            for i in range(end - begin):
                to = stop - start - 1  # a place without a hand
                if i < left:
                    one, two = np.int64(hands.first[begin + i]), np.int64(hands.second[begin + i])
                    one = (one & ~3) | suits[k, one & 3]
                    two = (two & ~3) | suits[k, two & 3]
                    to = place[_hand_number(one, two)]
                hands.map[hands.map_start[k] + i] = to


@kernel
def find_same(ours: Hands, theirs: Hands) -> None:
    """Fill ``same`` of ``ours``."""
    place = np.zeros(NO_HAND + 1, dtype=np.int64)
    for b in range(len(ours.held)):
        start, stop = theirs.start[b], theirs.start[b + 1]
        place[:] = stop - start - 1
        for i in range(start, start + theirs.held[b]):
            place[theirs.number[i]] = i - start
        for i in range(ours.start[b], ours.start[b + 1]):
            ours.same[i] = place[ours.number[i]]


@kernel
def find_groups(
    first: Hands, second: Hands, strength: npt.NDArray[np.int32], other: npt.NDArray[np.int32], group_start: Offsets,
    group: Small,
) -> int:  # fmt: skip
    """Ends of the groups of equal strength among both players' hands; returns how many groups there are in all."""
    groups = 0
    for b in range(len(first.held)):
        group_start[b] = groups
        i, j, ends, stops = np.int64(0), np.int64(0), first.held[b], second.held[b]
        while i < ends or j < stops:
            level = np.int64(2**62)
            if i < ends:
                level = np.int64(strength[first.start[b] + i])
            if j < stops:
                level = min(level, np.int64(other[second.start[b] + j]))
            while i < ends and strength[first.start[b] + i] == level:
                i += 1
            while j < stops and other[second.start[b] + j] == level:
                j += 1
            group[groups, 0] = i
            group[groups, 1] = j
            groups += 1
    group_start[len(first.held)] = groups
    return groups
