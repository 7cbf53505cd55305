"""The one way kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while it runs.

    No fastmath: sums keep their order, so the same input gives the same bits.
    """
    return cast(Function, numba.njit(cache=True, nogil=True, fastmath=False)(function))
