"""How GPU kernels are compiled, and what they have in common: lanes of a warp, and update rules written once.

Importing this module imports ``numba.cuda``; see ``found.require`` for what to do first.

Under Numba's simulator a block is one warp, whose lanes meet at ``syncthreads``: there are no shuffles. So a kernel
may ask for sums over lanes only where all lanes of a warp are, which is what a GPU asks for, too.

None uses fastmath. A product and a sum may be one instruction, rounded once, so results differ in the last bits from
those of a CPU, but not from run to run.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np

from treeplex.cuda.found import SIMULATED, module
from treeplex.jit import CACHE_FOLDER

cuda: Any = module()

LANES: Final = 32
BLOCK: Final = LANES if SIMULATED else 128
"""Threads of a block where whole warps work on their own. Measured on an H200: 256 are up to 9 % slower."""

_numba: Any = numba
uint32: Any = int if SIMULATED else _numba.uint32
"""Around every index: Numba computes in 64 bits whatever the operands are, and this lets the compiler narrow it."""
int32: Any = int if SIMULATED else _numba.int32
ALL: Final = 0xFFFFFFFF


def kernel(function: Callable[..., None], **options: Any) -> Any:
    """A kernel; it is compiled at its first launch for the types of its arguments, and its machine code kept on disk.

    Where that is: ``treeplex.jit``.
    """
    if SIMULATED:
        return cuda.jit()(function)
    settings = _settings()
    before, settings.CACHE_DIR = settings.CACHE_DIR, CACHE_FOLDER
    try:
        return cuda.jit(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = before


def _settings() -> Any:
    """Where numba-cuda looks for the folder of machine code."""
    try:
        return importlib.import_module("numba.cuda.core.config")
    except ImportError:  # numba-cuda before it had its own
        return _numba.config


def callee(function: Callable[..., Any]) -> Any:
    """A part of kernels, copied into each by LLVM: Numba's own way of doing so takes twice as long to compile."""
    return cuda.jit(device=True, **({} if SIMULATED else {"forceinline": True}))(function)


def rule(inlined: Any, **others: Any) -> Any:
    """A rule of ``updates``, the very same lines, as a part of GPU kernels; ``others`` replace functions it calls."""
    function = getattr(inlined, "py_func", inlined)
    scope = {**function.__globals__, **others}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return copy if SIMULATED else callee(copy)


@callee
def select(condition: Any, yes: Any, no: Any) -> Any:
    """``vectors.where`` for numbers."""
    return yes if condition else no


def real(storage: Any) -> Any:
    """The type that kernels convert numbers to, for float64 or float32."""
    if SIMULATED:
        return np.dtype(storage).type
    return _numba.float64 if str(storage) == "float64" else _numba.float32


@callee
def one_by_one() -> Any:
    """1, which the compiler does not know: loops that count with it are not unrolled, which would cost registers."""
    return int32(cuda.blockDim.z)


def _column_sum_by_shuffles(x: Any, j: Any, wide: Any, high: Any) -> Any:
    at = int32(j)
    total = cuda.shfl_sync(uint32(ALL), x, at)
    if high > uint32(1):  # two are so common that they get no loop
        at = int32(at + int32(wide))
        total += cuda.shfl_sync(uint32(ALL), x, at)
        left = int32(int32(high) - int32(2))
        while left > 0:
            at = int32(at + int32(wide))
            total += cuda.shfl_sync(uint32(ALL), x, at)
            left = int32(left - one_by_one())
    return total


def _column_sum_by_meeting(x: Any, j: Any, wide: Any, high: Any) -> Any:
    row = cuda.shared.array(LANES, dtype=_numba.float64)
    row[cuda.threadIdx.x % LANES] = x
    cuda.syncthreads()
    total = row[j]
    for k in range(1, high):
        total += row[j + k * wide]
    cuda.syncthreads()
    return total


def _column_top_by_shuffles(x: Any, j: Any, wide: Any, high: Any) -> Any:
    at = int32(j)
    top = cuda.shfl_sync(uint32(ALL), x, at)
    left = int32(int32(high) - int32(1))
    while left > 0:
        at = int32(at + int32(wide))
        top = max(top, cuda.shfl_sync(uint32(ALL), x, at))
        left = int32(left - one_by_one())
    return top


def _column_top_by_meeting(x: Any, j: Any, wide: Any, high: Any) -> Any:
    row = cuda.shared.array(LANES, dtype=_numba.float64)
    row[cuda.threadIdx.x % LANES] = x
    cuda.syncthreads()
    top = row[j]
    for k in range(1, high):
        top = max(top, row[j + k * wide])
    cuda.syncthreads()
    return top


def _any_by_vote(condition: Any) -> Any:
    return cuda.any_sync(uint32(ALL), condition)


def _any_by_meeting(condition: Any) -> Any:
    return cuda.syncthreads_or(condition)


def _asked() -> Any:
    """The intrinsic: PTX that has no other effect."""
    from numba.core.types import void  # noqa: PLC0415 - not under the simulator

    try:
        from numba.cuda.extending import intrinsic  # noqa: PLC0415
    except ImportError:  # numba-cuda before it had its own
        from numba.extending import intrinsic  # noqa: PLC0415
    made: Any = importlib.import_module("llvmlite.ir")  # it has no types

    def ask(context: Any, array: Any, at: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, given[0]).data
            place = builder.gep(data, [builder.zext(given[1], made.IntType(64))])
            kind = made.FunctionType(made.VoidType(), [place.type])
            code = made.InlineAsm(kind, "prefetch.global.L2 [$0];", "l", side_effect=True)
            builder.call(code, [place])
            return context.get_dummy_value()

        return void(array, at), codegen

    found: Any = intrinsic(ask)
    found._set_uuid("treeplex.cuda.kernels.ask")  # else kernels on disk would be found by this process alone
    return found


def _not_asked(array: Any, at: Any) -> None:
    """Nothing is far away."""


ask: Any = _not_asked if SIMULATED else _asked()
"""(array, at), at a uint32: ask for a number of an array on the device; whoever reads it later waits less."""
column_sum: Any = callee(_column_sum_by_meeting if SIMULATED else _column_sum_by_shuffles)
"""(x, j, wide, high): x of lanes j, j + wide, ..., ``high`` of them, added up in this order; the sum in every lane."""
column_top: Any = callee(_column_top_by_meeting if SIMULATED else _column_top_by_shuffles)
"""The same for the largest."""
any_lane: Any = callee(_any_by_meeting if SIMULATED else _any_by_vote)
"""Is it true in some lane of the warp?"""
