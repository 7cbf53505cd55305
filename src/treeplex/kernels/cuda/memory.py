"""Arrays on the GPU; under the simulator, arrays of NumPy."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.kernels.cuda.found import SIMULATED
from treeplex.kernels.cuda.kernels import BLOCK, cuda, kernel, real

Array = npt.NDArray[Any]
MOST_BLOCKS: Final = 65_536
float64: Final = real("float64")
Record = TypeVar("Record", bound=tuple[Any, ...])


def send(array: Array) -> Any:
    """A copy of an array on the device."""
    if SIMULATED:
        return np.array(array)
    out = cuda.to_device(np.ascontiguousarray(array))
    cuda.synchronize()  # other streams do not wait for copies
    return out


def fetch(array: Any) -> Array:
    """A copy of an array of the device. What was launched before must be done: ``Stream.wait``."""
    return array.copy() if SIMULATED else array.copy_to_host()


def put(array: Array, into: Any) -> None:
    """Overwrite an array of the device, or the first numbers of it."""
    if SIMULATED:
        into[: len(array)] = array
    else:
        into[: len(array)].copy_to_device(np.ascontiguousarray(array))
        cuda.synchronize()


def sent(record: Record) -> Record:
    """A named tuple of arrays with copies on the device."""
    kind: Any = type(record)
    return kind(*(send(array) for array in record))


def _multiply(numbers: Array, factor: float) -> None:
    for i in range(cuda.grid(1), numbers.shape[0], cuda.gridsize(1)):
        numbers[i] *= factor


def _fold(total: Array, block: Array, below: float) -> None:
    for i in range(cuda.grid(1), total.shape[0], cuda.gridsize(1)):
        both = float64(total[i]) + float64(block[i])
        total[i] = both * below
        block[i] = both - float64(total[i])


def _add(out: Array, total: Array, block: Array) -> None:
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = total[i] + block[i]


_multiplied: Any = kernel(_multiply)
_folded: Any = kernel(_fold)
_added: Any = kernel(_add)


def fade(array: Array, factor: float, stream: Any) -> None:
    """Multiply an array of the device, in place; whoever reads it next waits for the stream."""
    if len(array):
        _multiplied[_blocks(array), BLOCK, stream](array, factor)


def fold(total: Any, block: Array, below: float, stream: Any) -> None:
    """As ``updates.blocks.fold``, whose factor is ``below``; whoever reads the arrays next waits for the stream."""
    _folded[_blocks(total), BLOCK, stream](total, block, below)


def add(out: Array, total: Array, block: Array, stream: Any) -> None:
    """``total`` + ``block`` into ``out``; whoever reads it next waits for the stream."""
    _added[_blocks(out), BLOCK, stream](out, total, block)


def _blocks(array: Array) -> int:
    return min(-(-len(array) // BLOCK), MOST_BLOCKS)
