"""Action translation: which sizes of a menu a size is read as (pseudo-harmonic mapping, Ganzfried & Sandholm 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def reading_shares(menu: Sequence[float], size: float, faced: float, unit: float) -> list[tuple[float, float]]:
    """Which sizes of a menu, in order, a size is read as, and how often: the pseudo-harmonic mapping.

        f(x) = (B - x) (1 + A) / ((B - A) (1 + x))

    is the share of A, where x, A and B are shares of ``unit``, the pot after a call, by which a bet exceeds the bet it
    faces. Beyond the smallest or the largest size the nearest is taken.
    """
    if size <= menu[0] or size >= menu[-1] or size in menu:
        return [(min(max(size, menu[0]), menu[-1]), 1.0)]
    low, high = next((low, high) for low, high in pairwise(menu) if low < size < high)
    a, x, b = ((each - faced) / unit for each in (low, size, high))
    share = (b - x) * (1.0 + a) / ((b - a) * (1.0 + x))
    return [(low, share), (high, 1.0 - share)]


def most_likely(menu: Sequence[float], size: float, unit: float) -> float:
    """The size of a menu that ``size`` is most likely read as; of two as likely the smaller."""
    return max(reading_shares(menu, size, 0.0, unit), key=lambda reading: reading[1])[0]


def nearest_legal(size: float, legal: Sequence[float]) -> float:
    """The size itself if it is legal, else the nearest one that is; of two as near the smaller."""
    return min(legal, key=lambda each: (abs(each - size), each))
