"""Names for the array types used all over, and the alphabet of their shapes.

``N`` nodes (histories), ``I`` infosets, ``S`` sequences, ``Z`` terminals, ``H`` hands, ``A`` actions,
``P`` public nodes, ``D`` deals.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[np.generic])


def frozen(array: Array) -> Array:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array
