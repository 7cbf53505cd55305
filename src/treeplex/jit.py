"""The ways kernels are compiled. None uses fastmath: sums keep their order, so equal input gives equal bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import intrinsic  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

Index = int | np.uint64
"""Loops over short runs are twice as fast with unsigned indices."""

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while it runs."""
    return cast(Function, numba.njit(cache=True, nogil=True, fastmath=False)(function))


def parallel_kernel(function: Function) -> Function:
    """As ``kernel``, with ``prange`` loops spread over Numba's threads."""
    return cast(Function, numba.njit(cache=True, nogil=True, fastmath=False, parallel=True)(function))


def inlined(function: Function) -> Function:
    """A part of kernels, copied into each: a call with many arrays costs as much as hundreds of additions."""
    return cast(Function, numba.njit(inline="always", nogil=True, fastmath=False)(function))


def instruction(build: Callable[..., Any]) -> Callable[..., Any]:
    """A function of kernels that is written as processor instructions: see ``numba.extending.intrinsic``."""
    return cast(Callable[..., Any], intrinsic(build))
