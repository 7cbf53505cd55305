"""Detection of GPUs. Errors say in one sentence what is missing."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, Final, NamedTuple, cast

import numpy as np

from treeplex.errors import MissingExtraError, Note, ParameterError, TreeplexError, non_negative

GIB: Final = 2**30
SIMULATED: Final = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
"""Whether kernels run under Numba's simulator, in Python and without a GPU. Only for tests of small games."""


class Device(NamedTuple):
    """A GPU, its memory and its speed in float64."""

    number: int
    name: str
    free: int  # bytes of free memory
    total: int  # bytes of memory
    slow_float64: bool  # one float64 unit per 16 or more of float32, as on gaming cards


class NoDeviceError(TreeplexError, RuntimeError):
    """Raised if no GPU can be used."""


def module() -> Any:
    """Import and return ``numba.cuda``; raise NoDeviceError or MissingExtraError if that fails."""
    if not SIMULATED and importlib.util.find_spec("numba_cuda") is None:
        raise MissingExtraError("numba-cuda", "cuda", "The backend 'cuda'")
    if not hasattr(np, "row_stack"):  # NumPy 2.5 has none, but numba-cuda up to 0.30 uses it on import
        cast(Any, np).row_stack = np.vstack
    try:
        with warnings.catch_warnings():  # warnings of libraries about each other during the import
            warnings.simplefilter("ignore")
            cuda = importlib.import_module("numba.cuda")
        _silence()
        return cuda
    except Exception as error:  # a half-installed package may raise anything
        words = " ".join(str(error).split())[:120]
        raise NoDeviceError(
            f"The backend 'cuda' cannot be used, because numba.cuda cannot be imported ({words}); reinstall it with:"
            " pip install 'treeplex[cuda]'"
        ) from error


def _silence() -> None:
    """Turn off warnings about small grids, unless a user requests them: upper levels of a tree are small.

    Numba may have read its settings before, so setting the environment variable would be too late.
    """
    if "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
        for name in ("numba.cuda.core.config", "numba.core.config"):  # numba-cuda, and its older versions
            settings: Any = sys.modules.get(name)
            if hasattr(settings, "CUDA_LOW_OCCUPANCY_WARNINGS"):
                settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def require(index: object = 0) -> Device:
    """Select the GPU with number ``index`` for this thread and return it; raise an error if it cannot be used."""
    number = non_negative("device", index)
    cuda = module()
    if SIMULATED:
        return Device(number, "Numba's simulator", 2**62, 2**62, False)
    count = _count(cuda)
    if number >= count:
        legal = "0" if count == 1 else f"0 to {count - 1}"
        raise ParameterError(f"The 'device' parameter must be {legal} on this machine, got {number}.")
    return _driver_result(lambda: _describe(cuda, number))


def find_device(index: object = 0) -> Device | None:
    """Return the GPU as ``require`` does, or None if there is none: ``auto`` must not fail."""
    try:
        return _cached_device(non_negative("device", index))
    except ParameterError:
        raise
    except (TreeplexError, ImportError):
        return None


@cache
def _cached_device(index: int) -> Device:
    return require(index)


def _count(cuda: ModuleType) -> int:
    """Return the number of GPUs, at least one; raise NoDeviceError if there is none."""

    def ask() -> int:
        if not cuda.is_available():
            raise cuda.CudaSupportError(str(cuda.cuda_error() or "no driver"))
        return len(cuda.gpus)

    count = _driver_result(ask)
    if count == 0:
        raise NoDeviceError("The backend 'cuda' needs an NVIDIA GPU, but the driver finds none; use backend='cpu'.")
    return count


def _driver_result(question: Callable[[], Any]) -> Any:
    """Return the driver's result, or raise NoDeviceError with its message."""
    try:
        return question()
    except TreeplexError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())[:120]
        raise NoDeviceError(
            f"The backend 'cuda' needs a working NVIDIA driver and a GPU, but the driver reports: {words}. Use"
            " backend='cpu'."
        ) from error


def _describe(cuda: ModuleType, number: int) -> Device:
    cuda.select_device(number)
    device = cuda.get_current_device()
    free, total = (int(size) for size in cuda.current_context().get_memory_info())
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    slow = device.compute_capability not in ((6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (10, 3))
    return Device(number, name, free, total, slow)


def advise_storage(device: Device, storage: str) -> None:
    """Warn if ``storage`` is float64 and the device is slow in float64."""
    if device.slow_float64 and storage == "float64":
        warnings.warn(
            f"{device.name} computes slowly in float64; storage='float32' is faster, and accurate to about 1e-6 of the"
            " largest payoff",
            Note,
            stacklevel=2,
        )


def require_memory(device: Device, need: int, what: str, advice: str) -> None:
    """Raise NoDeviceError, before allocation, if ``need`` bytes do not fit on the device."""
    if need > device.free:
        raise NoDeviceError(
            f"{what} needs {need / GIB:,.1f} GiB on the GPU, but only {device.free / GIB:,.1f} of its"
            f" {device.total / GIB:,.1f} GiB are free; choose {advice}."
        )
