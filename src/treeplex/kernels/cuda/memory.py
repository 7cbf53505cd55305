"""Arrays on the GPU; under the simulator, arrays of NumPy."""

from __future__ import annotations

from typing import Any, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.kernels.cuda.device import SIMULATED
from treeplex.kernels.cuda.kernels import BLOCK, cuda, kernel, real

Array = npt.NDArray[Any]
MOST_BLOCKS: Final = 65_536
float64: Final = real("float64")
Record = TypeVar("Record", bound=tuple[Any, ...])


class DeviceArray(Protocol):
    """An array on the device, as Numba has it."""

    def copy_to_host(self) -> Array:
        """A copy of it."""
        ...

    def copy_to_device(self, ary: Array) -> None:
        """Overwrite it."""
        ...

    def __getitem__(self, place: slice) -> DeviceArray: ...


def send(array: Array) -> Any:
    """A copy of an array on the device."""
    if SIMULATED:
        return np.array(array)
    out = cuda.to_device(np.ascontiguousarray(array))
    cuda.synchronize()  # other streams do not wait for copies
    return out


def fetch(array: Array | DeviceArray) -> Array:
    """A copy of an array of the device. What was launched before must be done: ``Stream.wait``."""
    return array.copy() if isinstance(array, np.ndarray) else array.copy_to_host()


def put(array: Array, into: Array | DeviceArray) -> None:
    """Overwrite an array of the device, or the first numbers of it."""
    if isinstance(into, np.ndarray):
        into[: len(array)] = array
    else:
        into[: len(array)].copy_to_device(np.ascontiguousarray(array))
        cuda.synchronize()


def sent(record: Record) -> Record:
    """A named tuple of arrays with copies on the device."""
    kind: Any = type(record)
    return kind(*(send(array) for array in record))


@kernel
def _multiply(numbers: Array, factor: float) -> None:
    for i in range(cuda.grid(1), numbers.shape[0], cuda.gridsize(1)):
        numbers[i] *= factor


@kernel
def _fold(total: Array, block: Array, below: float) -> None:
    for i in range(cuda.grid(1), total.shape[0], cuda.gridsize(1)):
        both = float64(total[i]) + float64(block[i])
        total[i] = both * below
        block[i] = both - float64(total[i])


@kernel
def _add(out: Array, total: Array, block: Array) -> None:
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = total[i] + block[i]


def fade(array: Array, factor: float, stream: object) -> None:
    """Multiply an array of the device, in place; whoever reads it next waits for the stream."""
    if len(array):
        _multiply[_blocks(array), BLOCK, stream](array, factor)


def fold(total: Array, block: Array, below: float, stream: object) -> None:
    """As ``updates.blocks.fold``, whose factor is ``below``; whoever reads the arrays next waits for the stream."""
    _fold[_blocks(total), BLOCK, stream](total, block, below)


def add(out: Array, total: Array, block: Array, stream: object) -> None:
    """``total`` + ``block`` into ``out``; whoever reads it next waits for the stream."""
    _add[_blocks(out), BLOCK, stream](out, total, block)


def _blocks(array: Array) -> int:
    return min(-(-len(array) // BLOCK), MOST_BLOCKS)
