"""Sums over millions of iterations in float32: the averages of long runs are added up in blocks.

A sum in float32 that takes one iteration at a time stops growing when what it takes is less than half a unit in its
last place: averages would get worse from some 100,000 iterations on. So after iteration ``BEGIN`` iterations are added
to a block ``b`` that begins near zero, and at the end of each block of ``LENGTH`` iterations b goes to a second sum E:

    s = E + b in float64;  E <- (1 - 2^-23) s rounded to float32, which is below s;  b <- s - E, what is left over

The average is E + b, and neither is ever negative. Engines go on adding to the array that they always added to, which
is b; E is allocated at the end of the first block, so that shorter runs have the bits and the memory of one plain sum.
Blocks end at the same iterations however a run is cut into pieces. Float64 needs none of this, and 16 bits are rounded
with a dither (``updates.storage``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import pair

Array = npt.NDArray[Any]
Earlier = tuple[()] | tuple[Any, Any]
"""E of both players, each as long as its average; nothing before the end of the first block."""

BEGIN: Final = 2**16  # iterations in one plain sum
LENGTH: Final = 2**10  # iterations of a block
BELOW: Final = 1.0 - 2.0**-23  # times a number is at least a unit in the last place of float32 less
CHUNK: Final = 2**16  # numbers that are folded at a time: their sums in float64 are in the way otherwise


def due(iteration: int, storage: str) -> bool:
    """Whether a block ends with this iteration."""
    return storage == "float32" and iteration > BEGIN and iteration % LENGTH == 0


def pieces(done: int, count: int, storage: str) -> list[int]:
    """The next ``count`` iterations, cut where blocks end.

    >>> pieces(66_000, 2_000, "float32"), pieces(66_000, 2_000, "float64")
    ([560, 1024, 416], [2000])
    """
    if storage != "float32" or done + count <= BEGIN:
        return [count]
    first = max(done, BEGIN) // LENGTH + 1
    ends = [*range(first * LENGTH, done + count, LENGTH), done + count]
    return np.diff([done, *ends]).tolist()


def room(averages: Sequence[Array]) -> Earlier:
    """E before the first block."""
    return pair(np.zeros_like(average) for average in averages)


def folded(averages: Sequence[Array], earlier: Earlier) -> Earlier:
    """E with the blocks ``averages`` added; both are modified in place."""
    earlier = earlier or room(averages)
    for total, block in zip(earlier, averages, strict=True):
        fold(total, block)
    return earlier


def fold(total: Array, block: Array) -> None:
    """The equation above; both are modified in place."""
    for begin in range(0, len(total), CHUNK):
        here = slice(begin, begin + CHUNK)
        both = total[here].astype(np.float64) + block[here]
        total[here] = both * BELOW
        block[here] = both - total[here]


def summed(averages: Sequence[Array], earlier: Earlier, dtype: npt.DTypeLike = np.float64) -> tuple[Array, Array]:
    """E + b of both players; without E the arrays b themselves."""
    blocks = earlier and [np.add(*pair, dtype=dtype) for pair in zip(earlier, averages, strict=True)]
    first, second = blocks or averages
    return first, second


def saved_room(averages: Sequence[Array], tensors: Mapping[str, Array], name: str = "state") -> Earlier:
    """Room for E if a checkpoint has it, which those of shorter runs and of older versions have not."""
    return room(averages) if f"{name}.earlier.0" in tensors else ()
