"""How GPU kernels are compiled, and what they have in common: lanes of a warp, and update rules written once.

Importing this module imports ``numba.cuda``; see ``found.require`` for what to do first.

Under Numba's simulator a block is one warp, whose lanes meet at ``syncthreads``: there are no shuffles. So a kernel
may ask for sums over lanes only where all lanes of a warp are, which is what a GPU asks for, too.

None uses fastmath. A product and a sum may be one instruction, rounded once, so results differ in the last bits from
those of a CPU, but not from run to run.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from treeplex.kernels.cache import enable as enable_cache
from treeplex.kernels.cuda.device import SIMULATED, module
from treeplex.kernels.jit import CACHE_FOLDERS

cuda: Any = module()

Array = npt.NDArray[Any]
Choice = TypeVar("Choice")


class _Simulated:
    """Arrays of a thread under the simulator, which has them in kernels alone and not in what they call."""

    class local:  # noqa: N801
        """As ``cuda.local``."""

        @staticmethod
        def array(shape: int | tuple[int, ...], dtype: object) -> Array:
            """Numbers of a thread's own."""
            return np.zeros(shape)


own: Any = _Simulated if SIMULATED else cuda
"""Where parts of kernels that are in files of their own take ``local.array`` from."""

LANES: Final = 32
BLOCK: Final = LANES if SIMULATED else 128
"""Threads of a block where whole warps work on their own. Measured on an H200: 256 are up to 9 % slower."""

_numba: Any = numba
uint32: Any = int if SIMULATED else _numba.uint32
"""Around every index: Numba computes in 64 bits whatever the operands are, and this lets the compiler narrow it."""
int32: Any = int if SIMULATED else _numba.int32
ALL: Final = 0xFFFFFFFF
WIDE: Final = 64  # bits of an address


def kernel(function: Callable[..., None], *, kept: bool = True, **options: Any) -> Any:
    """A kernel; it is compiled at its first launch for the types of its arguments, and its machine code kept on disk.

    Where that is: ``treeplex.kernels.jit``. ``kept``: False for kernels with a user's function inside.
    """
    if SIMULATED:
        return cuda.jit()(function)
    compiled = cuda.jit(**options)(function)
    if kept:
        enable_cache(compiled, importlib.import_module("numba.cuda.dispatcher").CUDACache, CACHE_FOLDERS)
    return compiled


def callee(function: Callable[..., Any]) -> Any:
    """A part of kernels, copied into each by LLVM: Numba's own way of doing so takes twice as long to compile."""
    return cuda.jit(device=True, **({} if SIMULATED else {"forceinline": True}))(function)


def rule(inlined: Callable[..., Any], **others: Any) -> Any:
    """A rule of ``updates``, the very same lines, as a part of GPU kernels; ``others`` replace functions it calls."""
    function: FunctionType = getattr(inlined, "py_func", inlined)
    scope = {**function.__globals__, **others}
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return copy if SIMULATED else callee(copy)


@callee
def select(condition: bool, yes: Choice, no: Choice) -> Choice:
    """``vectors.where`` for numbers."""
    return yes if condition else no


def real(storage: npt.DTypeLike) -> Any:
    """The type that kernels convert numbers to, for float64 or float32."""
    if SIMULATED:
        return np.dtype(storage).type
    return _numba.float64 if str(storage) == "float64" else _numba.float32


@callee
def one_by_one() -> Any:
    """1, which the compiler does not know: loops that count with it are not unrolled, which would cost registers."""
    return int32(cuda.blockDim.z)


def _column_sum_by_shuffles(x: float, j: int, wide: int, high: int) -> float:
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


def _by_barriers(join: Callable[[float, float], float]) -> Callable[[float, int, int, int], float]:
    def joined(x: float, j: int, wide: int, high: int) -> float:
        row = cuda.shared.array(LANES, dtype=_numba.float64)
        row[cuda.threadIdx.x % LANES] = x
        cuda.syncthreads()
        found = row[j]
        for k in range(1, high):
            found = join(found, row[j + k * wide])
        cuda.syncthreads()
        return found

    return joined


def _column_top_by_shuffles(x: float, j: int, wide: int, high: int) -> float:
    at = int32(j)
    top = cuda.shfl_sync(uint32(ALL), x, at)
    left = int32(int32(high) - int32(1))
    while left > 0:
        at = int32(at + int32(wide))
        top = max(top, cuda.shfl_sync(uint32(ALL), x, at))
        left = int32(left - one_by_one())
    return top


def _any_by_vote(condition: bool) -> bool:
    return cuda.any_sync(uint32(ALL), condition)


def _any_by_barrier(condition: bool) -> bool:
    return cuda.syncthreads_or(condition)


def _instruction(name: str, result: Callable[[Any], Any], build: Callable[..., Any]) -> Any:
    """A part of kernels that LLVM is told of directly: of an array, a place in it, and perhaps two numbers.

    ``result``: its type, by that of the array.
    """
    try:
        from numba.cuda.extending import intrinsic  # noqa: PLC0415 - not under the simulator
    except ImportError:  # numba-cuda before it had its own
        from numba.extending import intrinsic  # noqa: PLC0415

    def one(context: Context, array: types.Array, at: types.Type) -> Any:
        return result(array)(array, at), build

    def two(context: Context, array: types.Array, at: types.Type, first: types.Type, second: types.Type) -> Any:
        return result(array)(array, at, first, second), build

    found: Any = intrinsic(two if build is _store else one)
    found._set_uuid(
        f"treeplex.kernels.cuda.kernels.{name}"
    )  # else kernels on disk would be found by this process alone
    return found


def _place(
    context: BaseContext, builder: ir.IRBuilder, kinds: Sequence[types.Type], given: Sequence[ir.Value]
) -> tuple[Any, Any]:
    """An array, and the address of one of its numbers."""
    array = context.make_array(kinds[0])(context, builder, given[0])
    wide = given[1] if given[1].type.width == WIDE else builder.zext(given[1], ir.IntType(WIDE))
    return array, builder.gep(array.data, [wide])


def _ask(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]) -> Any:
    """PTX that has no other effect."""
    _, place = _place(context, builder, signature.args, given)
    kind = ir.FunctionType(ir.VoidType(), [place.type])
    code = ir.InlineAsm(kind, "prefetch.global.L2 [$0];", "l", side_effect=True)
    builder.call(code, [place])
    return context.get_dummy_value()


def _tail(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]) -> Any:
    """The address goes through a move, so that LLVM does not take its sum apart again."""
    found, place = _place(context, builder, signature.args, given)
    number = ir.IntType(WIDE)
    on_device = ir.PointerType(context.get_data_type(signature.args[0].dtype), addrspace=1)
    move = ir.InlineAsm(ir.FunctionType(number, [number]), "mov.u64 $0, $1;", "=l,l", side_effect=False)
    address = builder.call(move, [builder.ptrtoint(builder.addrspacecast(place, on_device), number)])
    found.data = builder.addrspacecast(builder.inttoptr(address, on_device), found.data.type)
    return found._getvalue()


def _load(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]) -> Any:
    """One load of a vector, whose address must be a multiple of its size."""
    _, place = _place(context, builder, signature.args, given)
    dtype, count = signature.args[0].dtype, signature.return_type.count
    kind = ir.VectorType(context.get_data_type(dtype), count)
    vector = builder.load(builder.bitcast(place, ir.PointerType(kind)), align=count * dtype.bitwidth // 8)
    parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(count)]
    return context.make_tuple(builder, signature.return_type, parts)


def _store(context: BaseContext, builder: ir.IRBuilder, signature: Signature, given: Sequence[ir.Value]) -> Any:
    """One store of a vector of two, whose address must be a multiple of its size."""
    _, place = _place(context, builder, signature.args, given)
    dtype = signature.args[0].dtype
    vector: Any = ir.Constant(ir.VectorType(context.get_data_type(dtype), 2), ir.Undefined)
    for k, (number, kind) in enumerate(zip(given[2:], signature.args[2:], strict=True)):
        cast = context.cast(builder, number, kind, dtype)
        vector = builder.insert_element(vector, cast, ir.Constant(ir.IntType(32), k))
    builder.store(vector, builder.bitcast(place, ir.PointerType(vector.type)), align=2 * dtype.bitwidth // 8)
    return context.get_dummy_value()


def _tail_simulated(array: Array, at: int) -> Array:
    return array[at:]


def _store2_simulated(array: Array, at: int, first: float, second: float) -> None:
    array[at], array[at + 1] = first, second


def _load2_simulated(array: Array, at: int) -> tuple[Any, Any]:
    return array[at], array[at + 1]


def _load4_simulated(array: Array, at: int) -> tuple[int, int, int, int]:
    return int(array[at]), int(array[at + 1]), int(array[at + 2]), int(array[at + 3])


def _not_asked(array: Array, at: int) -> None:
    """Nothing is far away."""


ask: Any = _not_asked if SIMULATED else _instruction("ask", lambda _: types.void, _ask)
"""(array, at), at a uint32: ask for a number of an array on the device; whoever reads it later waits less."""
tail: Any = _tail_simulated if SIMULATED else _instruction("tail", lambda array: array, _tail)
"""(array, at), at unsigned: the array from a place on. An address in it takes one instruction; in a slice it takes
four, because LLVM adds the place to every index."""
load2: Any = (
    _load2_simulated if SIMULATED else _instruction("load2", lambda array: types.UniTuple(array.dtype, 2), _load)
)
"""(array, at): the two numbers from a place on, which is even, read at once."""
load4: Any = (
    _load4_simulated if SIMULATED else _instruction("load4", lambda array: types.UniTuple(array.dtype, 4), _load)
)
"""The same of four whole numbers; the place is a multiple of four."""
store2: Any = _store2_simulated if SIMULATED else _instruction("store2", lambda _: types.void, _store)
"""(array, at, first, second): two numbers written at once, at an even place."""
column_sum: Any = callee(_by_barriers(operator.add) if SIMULATED else _column_sum_by_shuffles)
"""(x, j, wide, high): x of lanes j, j + wide, ..., ``high`` of them, added up in this order; the sum in every lane."""
column_top: Any = callee(_by_barriers(max) if SIMULATED else _column_top_by_shuffles)
"""The same for the largest."""
any_lane: Any = callee(_any_by_barrier if SIMULATED else _any_by_vote)
"""Is it true in some lane of the warp?"""
