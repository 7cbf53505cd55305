"""Is there a GPU, and which? What is missing is said in one sentence."""

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
"""Do kernels run under Numba's simulator, in Python and without a GPU? For tests of small games alone."""


class Device(NamedTuple):
    """A GPU."""

    number: int
    name: str
    free: int  # bytes
    total: int  # bytes
    slow_float64: bool  # one float64 unit for 16 or more of float32, as on cards for games


class NoDeviceError(TreeplexError, RuntimeError):
    """There is no GPU that can be used."""


def module() -> Any:
    """``numba.cuda``, imported now; a refusal if it cannot be."""
    if not SIMULATED and importlib.util.find_spec("numba_cuda") is None:
        raise MissingExtraError("numba-cuda", "cuda", "The backend 'cuda'")
    if not hasattr(np, "row_stack"):  # NumPy 2.5 has none, and numba-cuda up to 0.30 asks for it when it is imported
        cast(Any, np).row_stack = np.vstack
    try:
        with warnings.catch_warnings():  # whatever libraries say of each other while they are imported
            warnings.simplefilter("ignore")
            cuda = importlib.import_module("numba.cuda")
        _silence()
        return cuda
    except Exception as error:  # whatever a half-installed package leads to
        words = " ".join(str(error).split())[:120]
        raise NoDeviceError(
            f"The backend 'cuda' cannot be used, because numba.cuda cannot be imported ({words}); reinstall it with:"
            " pip install 'treeplex[cuda]'"
        ) from error


def _silence() -> None:
    """No warnings of small grids, unless a user asks for them: upper levels of a tree are small.

    Numba may have read its settings long before, so the variable of the environment would come too late.
    """
    if "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
        for name in ("numba.cuda.core.config", "numba.core.config"):  # numba-cuda, and before it had its own
            settings: Any = sys.modules.get(name)
            if hasattr(settings, "CUDA_LOW_OCCUPANCY_WARNINGS"):
                settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def require(index: object = 0) -> Device:
    """The GPU of that number, as the current one of this thread; a refusal that says what is missing."""
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
    """The same, or None where there is none: for ``auto``, which must not fail."""
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
    """How many GPUs there are: at least one."""

    def ask() -> int:
        if not cuda.is_available():
            raise cuda.CudaSupportError(str(cuda.cuda_error() or "no driver"))
        return len(cuda.gpus)

    count = _driver_result(ask)
    if count == 0:
        raise NoDeviceError("The backend 'cuda' needs an NVIDIA GPU, and the driver finds none; use backend='cpu'.")
    return count


def _driver_result(question: Callable[[], Any]) -> Any:
    """The driver's answer, or its complaint in a sentence."""
    try:
        return question()
    except TreeplexError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())[:120]
        raise NoDeviceError(
            f"The backend 'cuda' needs an NVIDIA driver that works and a GPU, and the driver says: {words}; use"
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
    """A note where numbers of 64 bits are slow."""
    if device.slow_float64 and storage == "float64":
        warnings.warn(
            f"{device.name} computes slowly in float64; storage='float32' is faster, and accurate to about 1e-6 of the"
            " largest payoff",
            Note,
            stacklevel=2,
        )


def require_memory(device: Device, need: int, what: str, advice: str) -> None:
    """Refuse what does not fit on the device, before it is allocated."""
    if need > device.free:
        raise NoDeviceError(
            f"{what} takes {need / GIB:,.1f} GiB on the GPU, but only {device.free / GIB:,.1f} of its"
            f" {device.total / GIB:,.1f} GiB are free; choose {advice}."
        )
