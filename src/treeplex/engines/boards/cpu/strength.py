"""How strong a hand of five to seven cards is: a number that orders hands as poker does.

Cards are bits of four 13-bit masks, one per suit. Sets of ranks that occur at least once, twice, three times come from
bit operations, so there is no table and no sorting. A strength is a category (0 high card to 8 straight flush) times
2^26, plus the ranks that make it times 2^13, plus the kickers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints
from treeplex.jit import kernel


@kernel
def _top(mask: int, keep: int) -> int:
    """The ``keep`` highest bits of a mask."""
    result = 0
    for _ in range(keep):
        bit = 1 << 12
        while bit > 0 and not mask & bit:
            bit >>= 1
        result |= bit
        mask &= ~bit
    return result


@kernel
def _count(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def _straight(mask: int) -> int:
    """The highest rank of a straight as a bit, or 0; an ace also counts below the two."""
    run = (mask << 1) | (mask >> 12 & 1)
    run = run & run << 1 & run << 2 & run << 3 & run << 4
    return _top(run >> 1, 1)


@kernel
def _pack(category: int, made: int, kickers: int) -> int:
    return category << 26 | made << 13 | kickers


@kernel
def strength_of(a: int, b: int, c: int, d: int) -> int:  # noqa: PLR0911 - one per category
    """The strength of the cards in the masks of the four suits."""
    for suited in (a, b, c, d):
        if _count(suited) >= 5:
            straight = _straight(suited)
            if straight:
                return _pack(8, straight, 0)
            return _pack(5, _top(suited, 5), 0)  # five of a suit in seven cards leave no room for a full house
    once = a | b | c | d
    twice = a & b | a & c | a & d | b & c | b & d | c & d
    thrice = a & b & c | a & b & d | a & c & d | b & c & d
    fourfold = a & b & c & d
    if fourfold:
        return _pack(7, _top(fourfold, 1), _top(once & ~_top(fourfold, 1), 1))
    if thrice:
        three = _top(thrice, 1)
        pairs = twice & ~three
        if pairs:
            return _pack(6, three, _top(pairs, 1))
    straight = _straight(once)
    if straight:
        return _pack(4, straight, 0)
    if thrice:
        three = _top(thrice, 1)
        return _pack(3, three, _top(once & ~three, 2))
    if twice:
        pairs = _top(twice, 2)
        if pairs & (pairs - 1):
            return _pack(2, pairs, _top(once & ~pairs, 1))
        return _pack(1, pairs, _top(once & ~pairs, 3))
    return _pack(0, _top(once, 5), 0)


@kernel
def strengths(hands: npt.NDArray[np.uint8], out: Ints) -> None:
    """Strengths of many hands of cards [N, 5 to 7] into ``out`` [N]."""
    masks = np.zeros(4, dtype=np.int64)
    for n in range(hands.shape[0]):
        masks[:] = 0
        for k in range(hands.shape[1]):
            card = np.int64(hands[n, k])
            masks[card & 3] |= 1 << (card >> 2)
        out[n] = strength_of(masks[0], masks[1], masks[2], masks[3])
