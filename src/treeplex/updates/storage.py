"""How numbers are kept: as they are, or in 16 bits.

In 16 bits, whole numbers q up to 32,767 have one float32 scale c for all numbers x = c q of a group:

    c = max |x| / 32767,  q = x 32767 / max |x| rounded to the nearest whole number

Computed in the precision of the numbers given. No fastmath. One thread. Rows of hands are packed at once (``pack``);
an infoset's few numbers one by one, and there q = x / c with c as it is stored (``scale_16``, ``whole_16``).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.jit import callee, inlined
from treeplex.updates.bits import magnitude_bits, number_of

Array = npt.NDArray[Any]

LARGEST: Final = 32767.0  # what the largest number of a group is stored as


class Storage(NamedTuple):
    """One way to keep numbers."""

    bytes: int  # per number
    work: type[np.floating[Any]]  # the precision in which rows of hands are computed
    scaled: bool  # whole numbers, with one scale per group


STORAGES: Final = {
    "float64": Storage(8, np.float64, False),
    "float32": Storage(4, np.float32, False),
    "int16": Storage(2, np.float32, True),
}


@inlined
def scale_16(top: float) -> float:
    """c for the largest absolute value of an infoset."""
    return np.float64(np.float32(top / LARGEST))


@inlined
def whole_16(number: float, scale: float) -> Any:
    """q: a number in units of ``scale``, which is zero where all numbers of the infoset are."""
    return np.int16(np.rint(number / scale)) if scale > 0.0 else np.int16(0)


@callee
def largest(numbers: Array) -> Any:
    """The largest absolute value of float32 numbers, found by their bits, which are ordered as they are."""
    peak = np.uint32(0)
    for k in range(len(numbers)):
        bits = magnitude_bits(numbers[k])
        peak = bits if bits > peak else peak
    return number_of(peak)


@callee
def pack(numbers: Array, out: Array) -> float:
    """Store float32 ``numbers`` in ``out`` of the same length, which is overwritten; returns the scale."""
    number = numbers.dtype.type
    top = number(largest(numbers))
    if top <= number(0.0):
        out[:] = 0
        return 0.0
    factor = number(LARGEST) / top
    for k in range(len(numbers)):
        out[k] = np.int32(np.rint(numbers[k] * factor))
    return top / LARGEST


def packed(numbers: Floats) -> tuple[npt.NDArray[np.int16], np.float32]:
    """The same in NumPy, for numbers of any shape: the specification."""
    top = np.abs(numbers).max(initial=0.0)
    if top == 0.0:
        return np.zeros(numbers.shape, np.int16), np.float32(0.0)
    return np.rint(numbers * (LARGEST / top)).astype(np.int16), np.float32(top / LARGEST)
