"""Strength of a hand of five to seven cards: a number that orders hands as poker does.

Cards are bits of four 13-bit masks, one per suit. Bit operations give the sets of ranks that occur at least once, twice
and three times. Tables of 8,192 numbers have properties of each set of ranks.

A strength is a sum of three terms: a category (0 high card to 8 straight flush) times 2^26, the ranks that make it
times 2^13, and the kickers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints

MADE: Final = 13
CATEGORY: Final = 26

_SETS: Final = np.arange(1 << 13, dtype=np.int32)


def _highest(keep: int) -> Ints:
    """Table [8192] of the ``keep`` highest ranks of every set of ranks."""
    result, count = np.zeros_like(_SETS), np.zeros_like(_SETS)
    for rank in range(12, -1, -1):
        bit = (_SETS >> rank & 1) * (count < keep)
        result |= bit << rank
        count += bit
    return result


_TOP: Final = {keep: _highest(keep) for keep in (1, 2, 3, 4, 5)}


def _straights() -> Ints:
    """Table [8192] of the highest rank of a straight, or none. An ace also counts below the two."""
    run = _SETS << 1 | _SETS >> 12
    run = run & run << 1 & run << 2 & run << 3 & run << 4
    return _TOP[1][run >> 1 & 0x1FFF]


def _flushes() -> Ints:
    """Table [8192] of the strength of cards of one suit; 0 if there are fewer than five."""
    made = np.where(_STRAIGHT > 0, 8 << CATEGORY | _STRAIGHT << MADE, 5 << CATEGORY | _TOP[5] << MADE)
    return np.where(_TOP[5] != _TOP[4], made, 0).astype(np.int32)


_STRAIGHT: Final = _straights()
_FLUSH: Final = _flushes()


def suit_masks(cards: npt.NDArray[np.integer]) -> Ints:
    """Return masks [..., 4] of the ranks of cards [..., K], by suit."""
    ranks = np.left_shift(np.int32(1), cards.astype(np.int32) >> 2)
    return np.stack([np.bitwise_or.reduce(ranks * (cards & 3 == suit), axis=-1) for suit in range(4)], axis=-1)


def strength_of(a: Ints, b: Ints, c: Ints, d: Ints) -> Ints:
    """Return strengths of the cards in the masks of the four suits: of the best hand that they make."""
    once = a | b | c | d
    twice = a & b | (a | b) & (c | d) | c & d
    strength = _TOP[5][once] << MADE
    straight = _STRAIGHT[once]
    np.maximum(strength, 4 << CATEGORY | straight << MADE, out=strength, where=straight > 0)
    for suit in (a, b, c, d):  # with five of a suit in seven cards, a full house is impossible
        np.maximum(strength, _FLUSH[suit], out=strength)
    some = np.flatnonzero(twice)
    once, twice = once[some], twice[some]
    pairs = _TOP[2][twice]
    two = 2 << CATEGORY | pairs << MADE | _TOP[1][once & ~pairs]
    one = 1 << CATEGORY | pairs << MADE | _TOP[3][once & ~pairs]
    strength[some] = np.maximum(strength[some], np.where(pairs & (pairs - 1), two, one))
    a, b, c, d = a[some], b[some], c[some], d[some]
    thrice = a & b & (c | d) | (a | b) & c & d
    few = np.flatnonzero(thrice)
    some, once, twice = some[few], once[few], twice[few]
    three, four = _TOP[1][thrice[few]], (a & b & c & d)[few]
    rest = twice & ~three
    full = 6 << CATEGORY | three << MADE | _TOP[1][rest]
    alone = 3 << CATEGORY | three << MADE | _TOP[2][once & ~three]
    best = np.where(four, 7 << CATEGORY | four << MADE | _TOP[1][once & ~four], np.where(rest, full, alone))
    strength[some] = np.maximum(strength[some], best)
    return strength


def strengths(cards: npt.NDArray[np.integer]) -> Ints:
    """Strengths of hands of cards [N, 5 to 7]."""
    masks = suit_masks(cards)
    return strength_of(masks[:, 0], masks[:, 1], masks[:, 2], masks[:, 3])
