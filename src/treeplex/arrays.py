"""Array types that the whole package uses, and the letters of their shapes.

``N`` nodes (histories), ``I`` infosets, ``S`` sequences, ``Z`` terminals, ``H`` hands, ``A`` actions,
``P`` public nodes, ``D`` deals.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
LINE: Final = 16  # whole numbers of 64 bits in two cache lines: processors fetch them in pairs
Thing = TypeVar("Thing")
Array = TypeVar("Array", bound=npt.NDArray[np.generic])


def frozen(array: Array) -> Array:
    """Make an array read-only, in place, and return it."""
    array.flags.writeable = False
    return array


def pair(both: Iterable[Thing]) -> tuple[Thing, Thing]:
    """Return two things, one per player, as a tuple of two."""
    first, second = both
    return first, second


def aligned(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Zeros aligned to the processor's vectors, which share no pair of cache lines with other arrays."""
    size, line = count * np.dtype(dtype).itemsize, 8 * LINE
    raw = np.zeros(size + 2 * line, dtype=np.uint8)
    first = -raw.ctypes.data % line
    return raw[first : first + size].view(dtype)
