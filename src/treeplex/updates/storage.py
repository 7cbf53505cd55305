"""Storage of numbers: as they are, or in 16 bits.

In 16 bits, whole numbers q up to 32,767 have one float32 scale c = max |x| / 32767 for all numbers x = c q of a group.
Whole numbers of another width would have the largest one of their type in place of 32,767.

An infoset's few numbers (``scale_16``, ``whole_16``) are rounded to the nearest: q = x / c, with c as it is stored.

Rows of hands (``pack``) are rounded down after a dither is added. Otherwise a number that changes by less than half a
unit at a time would never change. Averages whose weights grow like t^4 fade by 5/t per iteration. Rounding them to the
nearest whole number would freeze all up to t/10, and the answer would get worse from some iteration on.

    q = min(floor(x 32767 / max |x| + u), 32767),  0 <= u < 1

For number k of a group, u = ((seed + k 0x9E3779B9) mod 2^32) / 2^32 in steps of 2^-24. This lattice is evenly spread
over each group. A seed that ``dither_seed`` hashes from position, iteration and array shifts it as a whole. Rounding is
therefore correct on average over iterations, zero stays zero, no sign changes, and nothing depends on threads or on
chance.

All is computed in the precision of the input, without fastmath, on one thread.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.kernels.jit import callee, inlined
from treeplex.kernels.vectors import (
    LANES,
    floor,
    fractions,
    larger,
    largest,
    largest_stored,
    load,
    magnitude,
    spread,
    store,
)

Array = npt.NDArray[Any]

LEAST: Final = 1e-30  # groups with no number above this are stored as zeros: dividing by it might overflow
LATTICE: Final = 0x9E3779B9  # 2^32 divided by the golden ratio: its multiples are spread evenly
AVERAGE, REGRET = 1, 2
"""Arrays whose roundings differ."""


class Storage(NamedTuple):
    """A storage type of numbers."""

    bytes: int  # bytes per number
    work: type[np.floating[Any]]  # the precision in which rows of hands are computed
    scaled: bool  # whole numbers, with one scale per group


STORAGES: Final = {
    "float64": Storage(8, np.float64, False),
    "float32": Storage(4, np.float32, False),
    "int16": Storage(2, np.float32, True),
}


COMPRESSED: Final = "compressed"
"""Storage of hold'em whose numbers are those of int16, coded: ``engines.boards.compressed``."""


def number_type(storage: str) -> str:
    """Return the type of the numbers of a storage."""
    return "int16" if storage == COMPRESSED else storage


def largest_of(storage: npt.DTypeLike) -> float:
    """Return the integer that the largest number of a group is stored as."""
    return float(np.iinfo(storage).max)


@inlined
def scale_16(top: float, largest: float) -> float:
    """Return c for the largest absolute value of an infoset; ``largest``: the integer it is stored as."""
    return np.float64(np.float32(top / largest))


@inlined
def whole_16(number: float, scale: float) -> Any:
    """Return q: a number in units of ``scale``, which is zero where all numbers of the infoset are."""
    return np.int16(np.rint(number / scale)) if scale > 0.0 else np.int16(0)


@inlined
def dither_seed(position: int, t: int, array: int) -> np.uint32:
    """Return 32 bits for a group of numbers, mixed as in SplitMix64; ``array``: AVERAGE or REGRET."""
    z = np.uint64(position) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(t) * np.uint64(0xD1B54A32D192ED03)
    z += np.uint64(array)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint32(z >> np.uint64(32))


@callee
def pack(numbers: Array, out: Array, seed: int | np.integer[Any]) -> float:
    """Store float32 ``numbers``, whole vectors, in ``out`` of the same length; return the scale."""
    number, count, most = numbers.dtype.type, len(numbers), largest_stored(out)
    peak = spread(number(0.0))
    for k in range(0, count, LANES):
        peak = larger(magnitude(load(numbers, k)), peak)
    top = largest(peak)
    if top <= number(LEAST):
        out[:] = 0
        return 0.0
    factor = spread(number(most) / top)
    for k in range(0, count, LANES):
        u = fractions(np.uint32(seed + np.uint32(k) * np.uint32(LATTICE)), factor, LATTICE)
        store(out, k, floor(load(numbers, k) * factor + u))
    return top / most


def packed(numbers: Floats, dither: Floats | float = 0.5, storage: str = "int16") -> tuple[Array, np.float32]:
    """Return ``pack`` in NumPy, for numbers of any shape and the ``dither`` added to them: the specification.

    A dither of a half rounds to the nearest.
    """
    top, most = np.abs(numbers).max(initial=0.0), largest_of(storage)
    if top <= LEAST:
        return np.zeros(numbers.shape, storage), np.float32(0.0)
    whole = np.minimum(np.floor(numbers * (most / top) + dither), most)
    return whole.astype(storage), np.float32(top / most)


def lattice(position: int, t: int, array: int, count: int) -> Floats:
    """Return u for the ``count`` numbers of a group, in Python integers: the specification of ``pack``'s dither."""
    word = 2**64 - 1
    z = (position * 0x9E3779B97F4A7C15 + t * 0xD1B54A32D192ED03 + array) & word
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & word
    z = (z ^ z >> 27) * 0x94D049BB133111EB & word
    return np.array([((z >> 32) + k * LATTICE) % 2**32 // 2**8 / 2**24 for k in range(count)])
