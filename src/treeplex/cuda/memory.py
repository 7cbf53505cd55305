"""Arrays on the GPU; under the simulator, arrays of NumPy."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.cuda.found import SIMULATED
from treeplex.cuda.kernels import BLOCK, cuda, kernel

Array = npt.NDArray[Any]
MOST_BLOCKS: Final = 65_536
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


def _multiply(numbers: Any, factor: Any) -> None:
    for i in range(cuda.grid(1), numbers.shape[0], cuda.gridsize(1)):
        numbers[i] *= factor


_multiplied: Any = kernel(_multiply)


def fade(array: Any, factor: float, stream: Any) -> None:
    """Multiply an array of the device, in place; whoever reads it next waits for the stream."""
    if len(array):
        _multiplied[min(-(-len(array) // BLOCK), MOST_BLOCKS), BLOCK, stream](array, factor)
