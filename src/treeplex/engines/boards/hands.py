"""The hands that remain on each board, their order, and their positions on the board above.

NumPy code on integers only, for all boards of a street at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import NO_CARD, Hands, Offsets, Small
from treeplex.engines.boards.strength import strength_of, suit_masks
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, hand_numbers
from treeplex.kernels.vectors import LANES

STRENGTH_BITS: Final = 30  # bits of a strength
POSITION_BITS: Final = 11  # bits of a position on a board

_MASKS: Final = suit_masks(HAND_CARDS)


def first_hands(numbers: Ints) -> Hands:
    """Return the hands of a range, as if they remained on a board above the first one."""
    hands = _empty(np.array([len(numbers)], dtype=np.int32), 0, 0)
    _fill(hands, np.arange(len(numbers)), numbers)
    return hands


def deal_hands(
    above: Hands, parent: Offsets, board: npt.NDArray[np.uint8], image: Offsets, suits: Offsets, by_strength: bool
) -> tuple[Hands, Ints]:
    """Return the hands on every board of a street without ``same``, ``storage`` and ``decision``, and their strengths.

    ``board`` [B, cards] ends with the card dealt last. ``image`` [B + 1] points into ``suits`` [images, 4]: the suit
    that each suit becomes in the image. Strengths are in the order of the hands.
    """
    owner, source = _list_hands(above, parent)
    card = board[owner, -1]
    free = (above.first[source] != card) & (above.second[source] != card)
    owner, source = owner[free], source[free]
    count = np.bincount(owner, minlength=len(parent)).astype(np.int32)
    strength = np.zeros(0, dtype=np.int32)
    if by_strength:
        source, strength = _by_strength(above, parent, suit_masks(board), owner, source)
    width, images = padded(count), np.diff(image)
    hands = _empty(count, int((width * images).sum()), int(image[-1]))
    hands.map_start[:] = starts(np.repeat(width, images))
    _fill(hands, _positions(hands.start[:-1], count), above.number[source])
    _map(above, parent, images, suits, hands)
    return hands, strength


def _by_strength(above: Hands, parent: Offsets, masks: Ints, owner: Offsets, source: Offsets) -> tuple[Offsets, Ints]:
    """Return hands, weakest first, and their strengths. Ties keep the order of the board above."""
    number, count = above.number[source], np.bincount(owner, minlength=len(parent))
    a, b, c, d = (masks[owner, suit] | _MASKS[number, suit] for suit in range(4))
    first = above.start[parent][owner]
    key = np.full((len(parent), int(count.max(initial=0))), np.iinfo(np.int64).max)  # a row per board
    filled = np.arange(key.shape[1]) < count[:, None]
    key[filled] = strength_of(a, b, c, d).astype(np.int64) << POSITION_BITS | (source - first)
    key.sort(axis=1)
    ordered = key[filled]
    return first + (ordered & (1 << POSITION_BITS) - 1), (ordered >> POSITION_BITS).astype(np.int32)


def _map(above: Hands, parent: Offsets, images: Offsets, suits: Offsets, hands: Hands) -> None:
    """Fill ``map``: the position on the board above of each hand's image."""
    changes, which = np.unique(suits, axis=0, return_inverse=True)
    moved = np.full((len(changes), HANDS + 1), HANDS)
    for row, change in zip(moved, changes, strict=True):
        row[:HANDS] = hand_numbers(HAND_CARDS // 4 * 4 + change[HAND_CARDS % 4])
    board = np.repeat(np.arange(len(parent)), images)
    width = np.diff(hands.start)[board]
    number = hands.number[_positions(hands.start[board], width)]
    turned = moved[np.repeat(which.reshape(-1), width), number]
    hands.map[:] = _positions_by_number(above)[np.repeat(parent[board], width), turned]


def find_back(wide: Offsets, image: Offsets, hands: Hands) -> Small:
    """Return ``back`` of each image of boards: positions on it of the hands of the board above, or its last position.

    ``wide`` [images]: number of positions on the board above.
    """
    board = np.repeat(np.arange(len(hands.counts)), np.diff(image))
    table = np.repeat((np.diff(hands.start)[board] - 1).astype(np.uint16), wide)
    row = np.repeat(np.arange(len(board)), hands.counts[board])
    position = _positions(np.zeros(len(board), dtype=np.int64), hands.counts[board])
    table[starts(wide)[row] + hands.map[hands.map_start[:-1][row] + position]] = position
    return table


def find_same(ours: Hands, theirs: Hands) -> None:
    """Fill ``same`` of ``ours``: positions of the same hands in ``theirs``."""
    board = np.repeat(np.arange(len(ours.counts)), np.diff(ours.start))
    ours.same[:] = _positions_by_number(theirs)[board, ours.number]


def find_groups(pair: tuple[Hands, Hands], strengths: tuple[Ints, Ints]) -> tuple[Offsets, Small]:
    """Starts of each board's groups of equal strength, and their ends among both players' hands."""
    boards = np.arange(len(pair[0].counts) + 1)
    keys = [
        np.repeat(boards[:-1], hands.counts) << STRENGTH_BITS | strength
        for hands, strength in zip(pair, strengths, strict=True)
    ]
    both = np.sort(np.concatenate(keys), kind="stable")  # merges two sorted runs
    groups = both[np.append(True, both[1:] != both[:-1])[: len(both)]]
    owner = groups >> STRENGTH_BITS
    ends = [
        np.searchsorted(key, groups, side="right") - starts(hands.counts)[owner]
        for key, hands in zip(keys, pair, strict=True)
    ]
    return np.searchsorted(groups, boards << STRENGTH_BITS), np.stack(ends, axis=1).astype(np.uint16)


def padded(count: Ints) -> Offsets:
    """Number of positions for ``count`` hands: whole vectors, with at least one position without a hand."""
    return (count.astype(np.int64) // LANES + 1) * LANES


def starts(sizes: npt.NDArray[np.integer]) -> Offsets:
    """Starts of consecutive runs of these sizes, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _positions(first: Offsets, count: npt.NDArray[np.integer]) -> Offsets:
    """All integers of runs that begin at ``first`` and have ``count`` elements, one run after the other."""
    return np.arange(int(count.sum())) + np.repeat(first - starts(count)[:-1], count)


def _list_hands(hands: Hands, boards: Offsets) -> tuple[Offsets, Offsets]:
    """All hands on some boards: the index of the board of each, and its position among all hands."""
    count = hands.counts[boards]
    return np.repeat(np.arange(len(boards)), count), _positions(hands.start[boards], count)


def _positions_by_number(hands: Hands) -> Small:
    """Positions [B, 1327] on each board of the 1,326 hands; of absent hands and of no hand, its last position."""
    boards = np.arange(len(hands.counts))
    table = np.repeat((np.diff(hands.start) - 1).astype(np.uint16)[:, None], HANDS + 1, axis=1)
    board, position = _list_hands(hands, boards)
    table[board, hands.number[position]] = position - hands.start[board]
    return table


def _fill(hands: Hands, positions: Offsets, numbers: npt.NDArray[np.integer]) -> None:
    hands.number[positions] = numbers
    hands.first[positions] = HAND_CARDS[numbers, 0]
    hands.second[positions] = HAND_CARDS[numbers, 1]


def _empty(count: Ints, maps: int, images: int) -> Hands:
    start = starts(padded(count))
    size, boards = int(start[-1]), len(count)
    return Hands(
        start=start,
        counts=count,
        number=np.full(size, HANDS, dtype=np.uint16),
        first=np.full(size, NO_CARD, dtype=np.uint8),
        second=np.full(size, NO_CARD, dtype=np.uint8),
        same=np.zeros(size, dtype=np.uint16),
        storage=np.zeros(boards, dtype=np.int64),
        decision=np.zeros(boards, dtype=np.int64),
        map_start=np.zeros(images + 1, dtype=np.int64),
        map=np.zeros(maps, dtype=np.uint16),
        back=np.zeros(0, dtype=np.uint16),
        shift=np.zeros(boards, dtype=np.int64),
    )
