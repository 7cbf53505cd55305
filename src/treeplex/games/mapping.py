"""Action translation of a size to sizes of a menu (pseudo-harmonic mapping, Ganzfried & Sandholm 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def reading_shares(menu: Sequence[float], size: float, faced: float, unit: float) -> list[tuple[float, float]]:
    """Translate a size to sizes of a menu, in order, with their probabilities, by the pseudo-harmonic mapping.

        f(x) = (B - x) (1 + A) / ((B - A) (1 + x))

    is the probability of A. Here x, A and B are the amounts by which a bet exceeds the bet that it faces, as fractions
    of ``unit``, the pot after a call. Beyond the smallest or largest size, the size is translated to the nearest one.
    """
    if size <= menu[0] or size >= menu[-1] or size in menu:
        return [(min(max(size, menu[0]), menu[-1]), 1.0)]
    low, high = next((low, high) for low, high in pairwise(menu) if low < size < high)
    a, x, b = ((each - faced) / unit for each in (low, size, high))
    share = (b - x) * (1.0 + a) / ((b - a) * (1.0 + x))
    return [(low, share), (high, 1.0 - share)]


def most_likely(menu: Sequence[float], size: float, unit: float) -> float:
    """Return the most probable translation of ``size`` to a menu, or the smaller of two equally probable ones."""
    return max(reading_shares(menu, size, 0.0, unit), key=lambda reading: reading[1])[0]


def nearest_legal(size: float, legal: Sequence[float]) -> float:
    """Return the size itself if it is legal, otherwise the nearest legal one, or the smaller of two."""
    return min(legal, key=lambda each: (abs(each - size), each))
