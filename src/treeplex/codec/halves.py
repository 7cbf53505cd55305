"""Kernels that take floating-point numbers apart: the upper 16 bits, in the order of the numbers, and the others.

The upper bits are sign, exponent and the first bits of the fraction. As a whole number h they grow with the number, or
fall if it is negative; h xor 0x7FFF then grows. The others are left out where h is zero.
``codec.reference.split`` is the specification.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.kernels.jit import kernel

Shorts = npt.NDArray[np.uint16]
Numbers = npt.NDArray[np.int16]


@kernel
def split(shorts: Shorts, parts: int, numbers: Numbers, lower: Shorts) -> Any:
    """Fill ``numbers`` and the start of ``lower`` from numbers of ``parts`` times 16 bits, lowest first.

    Return the count of lower parts, or -1 if one that would be left out is not zero. Modified in place.
    """
    at, lost, rest = np.int64(0), np.int64(0), np.int64(parts - 1)
    for i in range(len(numbers)):
        h = np.int16(shorts[i * parts + rest])
        numbers[i] = h ^ ((h >> 15) & np.int16(0x7FFF))
        some = np.int64(h != 0)
        for j in range(rest):
            low = shorts[i * parts + j]
            lower[at + j] = low
            lost |= np.int64(low) * (1 - some)
        at += some * rest
    return at if lost == 0 else np.int64(-1)


@kernel
def join(numbers: Numbers, lower: Shorts, parts: int, shorts: Shorts) -> None:
    """Invert ``split``, in place. ``lower`` has parts for every number that is not zero."""
    at, rest = np.int64(0), np.int64(parts - 1)
    for i in range(len(numbers)):
        h = numbers[i]
        shorts[i * parts + rest] = np.uint16(h ^ ((h >> 15) & np.int16(0x7FFF)))
        for j in range(rest):
            shorts[i * parts + j] = lower[at + j] if h != 0 else np.uint16(0)
        at += rest if h != 0 else 0
