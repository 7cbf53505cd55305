"""Compilation of GPU kernels, and their common parts: lanes of a warp, and update rules written once.

Importing this module imports ``numba.cuda``; call ``device.require`` first.

Under Numba's simulator a block is one warp. There are no shuffles, so its lanes synchronize by ``syncthreads``. A
kernel may therefore compute sums over lanes only where all lanes of a warp arrive, which a GPU requires as well.

No kernel uses fastmath. A product and a sum may be one instruction, rounded once, so the last bits of results differ
from those of a CPU, but not from run to run.
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
    """Local arrays of a thread under the simulator, which has them only in kernels, not in functions they call."""

    class local:  # noqa: N801
        """Replacement of ``cuda.local`` under the simulator."""

        @staticmethod
        def array(shape: int | tuple[int, ...], dtype: object) -> Array:
            """Return a local array of a thread."""
            return np.zeros(shape)


own: Any = _Simulated if SIMULATED else cuda
"""Source of ``local.array`` for parts of kernels that are in other files."""

LANES: Final = 32
BLOCK: Final = LANES if SIMULATED else 128
"""Threads of a block if warps work independently. Measured on an H200: 256 are up to 9 % slower."""

_numba: Any = numba
uint32: Any = int if SIMULATED else _numba.uint32
"""Wraps every index: Numba computes in 64 bits for all operands, and this lets the compiler narrow the result."""
int32: Any = int if SIMULATED else _numba.int32
ALL: Final = 0xFFFFFFFF
WIDE: Final = 64  # bits of an address


def kernel(function: Callable[..., None], *, cached: bool = True, **options: Any) -> Any:
    """Declare a kernel. It is compiled at its first launch for the types of its arguments, and cached on disk.

    See ``treeplex.kernels.jit`` for the folder. ``cached`` is False for kernels that contain a user's function.
    """
    if SIMULATED:
        return cuda.jit()(function)
    compiled = cuda.jit(**options)(function)
    if cached:
        enable_cache(compiled, importlib.import_module("numba.cuda.dispatcher").CUDACache, CACHE_FOLDERS)
    return compiled


def callee(function: Callable[..., Any]) -> Any:
    """Declare a part of kernels, which LLVM copies into each. Inlining by Numba takes twice as long to compile."""
    return cuda.jit(device=True, **({} if SIMULATED else {"forceinline": True}))(function)


def rule(inlined: Callable[..., Any], **others: Any) -> Any:
    """Compile the code of a rule of ``updates`` as a part of GPU kernels; ``others`` replace functions it calls."""
    function: FunctionType = getattr(inlined, "py_func", inlined)
    scope = {**function.__globals__, **others}
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return copy if SIMULATED else callee(copy)


@callee
def select(condition: bool, yes: Choice, no: Choice) -> Choice:
    """Return ``yes`` or ``no``, as ``vectors.where`` does, for scalars."""
    return yes if condition else no


def real(storage: npt.DTypeLike) -> Any:
    """Return the type to which kernels convert numbers, for float64 or float32."""
    if SIMULATED:
        return np.dtype(storage).type
    return _numba.float64 if str(storage) == "float64" else _numba.float32


@callee
def one_by_one() -> Any:
    """Return 1, unknown to the compiler: loops that count by it are not unrolled, which would cost registers."""
    return int32(cuda.blockDim.z)


def _column_sum_by_shuffles(x: float, j: int, wide: int, high: int) -> float:
    at = int32(j)
    total = cuda.shfl_sync(uint32(ALL), x, at)
    if high > uint32(1):  # two are so common that they need no loop
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
        result = row[j]
        for k in range(1, high):
            result = join(result, row[j + k * wide])
        cuda.syncthreads()
        return result

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
    """Declare a part of kernels in LLVM instructions, with an array, an index, and perhaps two numbers as arguments.

    ``result`` gives its type for that of the array.
    """
    try:
        from numba.cuda.extending import intrinsic  # noqa: PLC0415 - not under the simulator
    except ImportError:  # older versions of numba-cuda
        from numba.extending import intrinsic  # noqa: PLC0415

    def one(context: Context, array: types.Array, at: types.Type) -> Any:
        return result(array)(array, at), build

    def two(context: Context, array: types.Array, at: types.Type, first: types.Type, second: types.Type) -> Any:
        return result(array)(array, at, first, second), build

    declared: Any = intrinsic(two if build is _store else one)
    declared._set_uuid(f"treeplex.kernels.cuda.kernels.{name}")  # else only this process could load cached kernels
    return declared


def _address(
    context: BaseContext, builder: ir.IRBuilder, kinds: Sequence[types.Type], arguments: Sequence[ir.Value]
) -> tuple[Any, Any]:
    """Return an array, and the address of one of its elements."""
    array = context.make_array(kinds[0])(context, builder, arguments[0])
    wide = arguments[1] if arguments[1].type.width == WIDE else builder.zext(arguments[1], ir.IntType(WIDE))
    return array, builder.gep(array.data, [wide])


def _prefetch(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]) -> Any:
    """Emit the PTX instruction that prefetches an address; it has no other effect."""
    _, address = _address(context, builder, signature.args, arguments)
    kind = ir.FunctionType(ir.VoidType(), [address.type])
    code = ir.InlineAsm(kind, "prefetch.global.L2 [$0];", "l", side_effect=True)
    builder.call(code, [address])
    return context.get_dummy_value()


def _tail(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]) -> Any:
    """Return the rest of an array from an index on.

    The address goes through a move, so that LLVM does not split its sum again.
    """
    rest, pointer = _address(context, builder, signature.args, arguments)
    number = ir.IntType(WIDE)
    on_device = ir.PointerType(context.get_data_type(signature.args[0].dtype), addrspace=1)
    move = ir.InlineAsm(ir.FunctionType(number, [number]), "mov.u64 $0, $1;", "=l,l", side_effect=False)
    address = builder.call(move, [builder.ptrtoint(builder.addrspacecast(pointer, on_device), number)])
    rest.data = builder.addrspacecast(builder.inttoptr(address, on_device), rest.data.type)
    return rest._getvalue()


def _load(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]) -> Any:
    """Load a vector, whose address must be a multiple of its size."""
    _, address = _address(context, builder, signature.args, arguments)
    dtype, count = signature.args[0].dtype, signature.return_type.count
    kind = ir.VectorType(context.get_data_type(dtype), count)
    vector = builder.load(builder.bitcast(address, ir.PointerType(kind)), align=count * dtype.bitwidth // 8)
    parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(count)]
    return context.make_tuple(builder, signature.return_type, parts)


def _store(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]) -> Any:
    """Store a vector of two, whose address must be a multiple of its size."""
    _, address = _address(context, builder, signature.args, arguments)
    dtype = signature.args[0].dtype
    vector: Any = ir.Constant(ir.VectorType(context.get_data_type(dtype), 2), ir.Undefined)
    for k, (number, kind) in enumerate(zip(arguments[2:], signature.args[2:], strict=True)):
        cast = context.cast(builder, number, kind, dtype)
        vector = builder.insert_element(vector, cast, ir.Constant(ir.IntType(32), k))
    builder.store(vector, builder.bitcast(address, ir.PointerType(vector.type)), align=2 * dtype.bitwidth // 8)
    return context.get_dummy_value()


def _tail_simulated(array: Array, at: int) -> Array:
    return array[at:]


def _store2_simulated(array: Array, at: int, first: float, second: float) -> None:
    array[at], array[at + 1] = first, second


def _load2_simulated(array: Array, at: int) -> tuple[Any, Any]:
    return array[at], array[at + 1]


def _load4_simulated(array: Array, at: int) -> tuple[int, int, int, int]:
    return int(array[at]), int(array[at + 1]), int(array[at + 2]), int(array[at + 3])


def _no_prefetch(array: Array, at: int) -> None:
    """Do nothing: the simulator needs no prefetching."""


prefetch: Any = _no_prefetch if SIMULATED else _instruction("prefetch", lambda _: types.void, _prefetch)
"""(array, at), at a uint32: prefetch an element of an array on the device, so that a later read waits less."""
tail: Any = _tail_simulated if SIMULATED else _instruction("tail", lambda array: array, _tail)
"""(array, at), at unsigned: the rest of the array from ``at`` on. An address in it takes one instruction. In a slice it
takes four, because LLVM adds the start to every index."""
load2: Any = (
    _load2_simulated if SIMULATED else _instruction("load2", lambda array: types.UniTuple(array.dtype, 2), _load)
)
"""(array, at), at even: two numbers from ``at`` on, in one read."""
load4: Any = (
    _load4_simulated if SIMULATED else _instruction("load4", lambda array: types.UniTuple(array.dtype, 4), _load)
)
"""(array, at), at a multiple of four: four integers from ``at`` on, in one read."""
store2: Any = _store2_simulated if SIMULATED else _instruction("store2", lambda _: types.void, _store)
"""(array, at, first, second), at even: two numbers, in one write."""
column_sum: Any = callee(_by_barriers(operator.add) if SIMULATED else _column_sum_by_shuffles)
"""(x, j, wide, high): the sum of x over lanes j, j + wide, ..., ``high`` of them, in this order; in every lane."""
column_top: Any = callee(_by_barriers(max) if SIMULATED else _column_top_by_shuffles)
"""(x, j, wide, high): the largest x of these lanes, in every lane."""
any_lane: Any = callee(_any_by_barrier if SIMULATED else _any_by_vote)
"""(condition): whether it is true in any lane of the warp."""
