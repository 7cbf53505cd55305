"""Sums over millions of iterations in float32: the averages of long runs are added up in blocks.

A plain float32 sum stops growing once an iteration adds less than half a unit in its last place. Averages would get
worse from some 100,000 iterations on. After iteration ``BEGIN``, iterations are therefore added to a block ``b`` that
starts near zero. At the end of each block of ``LENGTH`` iterations b is added to a second sum E:

    s = E + b in float64;  E <- (1 - 2^-23) s rounded to float32, which is below s;  b <- s - E, the remainder

The average is E + b, and neither is ever negative. Engines keep adding to the same array, which is b. E is allocated
at the end of the first block, so shorter runs have the bits and the memory of one plain sum. Blocks end at the same
iterations however a run is divided into calls. Float64 needs no blocks, and 16-bit numbers are rounded with a dither
(``updates.storage``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import pair

Array = npt.NDArray[Any]
Earlier = tuple[()] | tuple[Any, Any]
"""E of both players, each as long as its average; empty before the end of the first block."""

BEGIN: Final = 2**16  # iterations in one plain sum
LENGTH: Final = 2**10  # iterations of a block
BELOW: Final = 1.0 - 2.0**-23  # factor that lowers a number by at least a unit in the last place of float32
CHUNK: Final = 2**16  # numbers folded at a time, which bounds the memory of float64 sums


def due(iteration: int, storage: str) -> bool:
    """Whether a block ends with this iteration."""
    return storage == "float32" and iteration > BEGIN and iteration % LENGTH == 0


def pieces(done: int, count: int, storage: str) -> list[int]:
    """Return the next ``count`` iterations, divided where blocks end.

    >>> pieces(66_000, 2_000, "float32"), pieces(66_000, 2_000, "float64")
    ([560, 1024, 416], [2000])
    """
    if storage != "float32" or done + count <= BEGIN:
        return [count]
    first = max(done, BEGIN) // LENGTH + 1
    ends = [*range(first * LENGTH, done + count, LENGTH), done + count]
    return np.diff([done, *ends]).tolist()


def empty_sums(averages: Sequence[Array]) -> Earlier:
    """Return E before the first block: zeros."""
    return pair(np.zeros_like(average) for average in averages)


def folded(averages: Sequence[Array], earlier: Earlier) -> Earlier:
    """Add the blocks ``averages`` to E and return E; both are modified in place."""
    earlier = earlier or empty_sums(averages)
    for total, block in zip(earlier, averages, strict=True):
        fold(total, block)
    return earlier


def fold(total: Array, block: Array) -> None:
    """Apply the equation above; both arrays are modified in place."""
    for begin in range(0, len(total), CHUNK):
        here = slice(begin, begin + CHUNK)
        both = total[here].astype(np.float64) + block[here]
        total[here] = both * BELOW
        block[here] = both - total[here]


def summed(averages: Sequence[Array], earlier: Earlier, dtype: npt.DTypeLike = np.float64) -> tuple[Array, Array]:
    """Return E + b of both players; without E, the arrays b themselves."""
    blocks = earlier and [np.add(*pair, dtype=dtype) for pair in zip(earlier, averages, strict=True)]
    first, second = blocks or averages
    return first, second


def saved_room(averages: Sequence[Array], tensors: Mapping[str, Array], name: str = "state") -> Earlier:
    """Return zeros for E if the checkpoint has E, which shorter runs and older versions do not save."""
    return empty_sums(averages) if f"{name}.earlier.0" in tensors else ()
