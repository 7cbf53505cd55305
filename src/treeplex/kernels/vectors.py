"""Vectors of sixteen numbers, as values that kernels add, compare and store.

Numba has only scalars and arrays. Loops over arrays become vector instructions only if LLVM sees that the arrays do not
overlap, and intermediate sums go through memory. This module adds a type for 16 numbers in a register (or in two or
four shorter registers). ``load`` and ``spread`` create a vector; ``+ - * / > !=``, ``larger`` and ``where`` work
element by element; ``store`` writes it to memory.

Arrays are flat; ``at`` counts elements. Nothing is checked: callers must stay inside their arrays. No fastmath: nothing
is reordered or contracted, so each of the 16 elements has the bits that the same operations on scalars give.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, Protocol

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.datamodel import models
from numba.core.datamodel.manager import DataModelManager
from numba.extending import lower_builtin, register_model, type_callable

from treeplex.kernels.jit import instruction

LANES: Final = 16  # numbers in a vector

WORD, HALF = ir.IntType(32), ir.IntType(16)


class Vector(Protocol):
    """Operations of kernels on 16 numbers, for type checkers; ``Lanes`` is Numba's type."""

    def __add__(self, other: Vector, /) -> Vector: ...
    def __sub__(self, other: Vector, /) -> Vector: ...
    def __mul__(self, other: Vector, /) -> Vector: ...
    def __truediv__(self, other: Vector, /) -> Vector: ...
    def __gt__(self, other: Vector, /) -> Any: ...


class Lanes(types.Type):
    """Numba type of 16 floating-point numbers."""

    def __init__(self, element: types.Type) -> None:
        self.element = element
        super().__init__(f"Lanes({element})")


class Marks(types.Type):
    """Numba type of 16 results of a comparison."""

    def __init__(self) -> None:
        super().__init__("Marks")


MARKS = Marks()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: DataModelManager, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(dmm.lookup(fe_type.element).get_value_type(), LANES))


@register_model(Marks)
class _MarksModel(models.PrimitiveModel):
    def __init__(self, dmm: DataModelManager, fe_type: Marks) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(1), LANES))


def _operator(
    symbol: Callable[..., Any], build: Callable[[Any, Any, Any], ir.Value], result: types.Type | None = None
) -> None:
    """Define ``a symbol b`` for two vectors."""

    @type_callable(symbol)
    def _typed(context):
        def typer(a, b):
            return (result or a) if isinstance(a, Lanes) and a == b else None

        return typer

    @lower_builtin(symbol, Lanes, Lanes)
    def _lowered(context, builder, signature, arguments):
        return build(builder, *arguments)


_operator(operator.add, lambda builder, a, b: builder.fadd(a, b))
_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))
_operator(operator.gt, lambda builder, a, b: builder.fcmp_ordered(">", a, b), MARKS)
_operator(operator.ne, lambda builder, a, b: builder.fcmp_unordered("!=", a, b), MARKS)
_operator(operator.iadd, lambda builder, a, b: builder.fadd(a, b))


def _pointer(
    context: BaseContext, builder: ir.IRBuilder, kind: types.Array, value: ir.Value, at: ir.Value, at_kind: types.Type,
    element: ir.Type,
) -> Any:  # fmt: skip
    """Return a pointer to the vector that begins at index ``at`` of an array."""
    data = context.make_array(kind)(context, builder, value).data
    index = context.cast(builder, at, at_kind, types.int64)
    pointer = builder.gep(data, [index], source_etype=context.get_data_type(kind.dtype))
    return builder.bitcast(pointer, ir.VectorType(element, LANES).as_pointer())


@instruction
def load(typingctx, array, at):
    """Return 16 numbers of an array from ``at``; integers become float32."""
    element = array.dtype if isinstance(array.dtype, types.Float) else types.float32

    def codegen(context, builder, signature, arguments):
        stored = context.get_data_type(array.dtype)
        pointer = _pointer(context, builder, array, arguments[0], arguments[1], at, stored)
        value = builder.load(pointer, align=array.dtype.bitwidth // 8, typ=ir.VectorType(stored, LANES))
        if isinstance(array.dtype, types.Integer):
            wide = builder.sext(value, ir.VectorType(WORD, LANES))
            value = builder.sitofp(wide, ir.VectorType(ir.FloatType(), LANES))
        return value

    return Lanes(element)(array, at), codegen


@instruction
def gather(typingctx, array, indices, at):
    """Return the 16 numbers of an array of floats at the integers ``indices[at : at + 16]``."""

    def codegen(context, builder, signature, arguments):
        element, whole = context.get_data_type(array.dtype), context.get_data_type(indices.dtype)
        start = _pointer(context, builder, indices, arguments[1], arguments[2], at, whole)
        loaded = builder.load(start, align=indices.dtype.bitwidth // 8, typ=ir.VectorType(whole, LANES))
        extend = builder.sext if indices.dtype.signed else builder.zext
        index = extend(loaded, ir.VectorType(ir.IntType(64), LANES))
        data = context.make_array(array)(context, builder, arguments[0]).data
        pointers = builder.gep(data, [index], source_etype=element)
        pointers.type = ir.VectorType(ir.PointerType(), LANES)  # llvmlite uses the type of a single pointer
        kind, marks = ir.VectorType(element, LANES), ir.VectorType(ir.IntType(1), LANES)
        bits = array.dtype.bitwidth
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(kind, [pointers.type, WORD, marks, kind]),
            f"llvm.masked.gather.v{LANES}f{bits}.v{LANES}p0",
        )
        every, nothing = ir.Constant(marks, [1] * LANES), ir.Constant(kind, ir.Undefined)
        return builder.call(function, [pointers, WORD(bits // 8), every, nothing])

    return Lanes(array.dtype)(array, indices, at), codegen


@instruction
def is_whole(typingctx, array):
    """Return whether the elements of an array are integers.

    This is known at compile time, so a branch that cannot be reached is removed.
    """

    def codegen(context, builder, signature, arguments):
        return ir.Constant(ir.IntType(1), int(isinstance(array.dtype, types.Integer)))

    return types.boolean(array), codegen


@instruction
def largest_stored(typingctx, array):
    """Return the largest integer of an array's type; zero if its elements are not integers."""
    most = float(getattr(array.dtype, "maxval", 0.0))

    def codegen(context, builder, signature, arguments):
        return ir.Constant(ir.DoubleType(), most)

    return types.float64(array), codegen


@instruction
def store(typingctx, array, at, value):
    """Store ``array[at : at + 16] = value``; in an array of integers, rounded towards zero and clipped to its range.

    Values must fit 32 bits.
    """

    def codegen(context, builder, signature, arguments):
        stored, number = context.get_data_type(array.dtype), arguments[2]
        pointer = _pointer(context, builder, array, arguments[0], arguments[1], at, stored)
        if isinstance(array.dtype, types.Integer):
            kind = ir.VectorType(WORD, LANES)
            whole = builder.fptosi(number, kind)
            least, most = (ir.Constant(kind, [limit] * LANES) for limit in (array.dtype.minval, array.dtype.maxval))
            whole = builder.select(builder.icmp_signed(">", whole, most), most, whole)
            whole = builder.select(builder.icmp_signed("<", whole, least), least, whole)
            number = builder.trunc(whole, ir.VectorType(stored, LANES))
        builder.store(number, pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, at, value), codegen


@instruction
def prefetch(typingctx, array, at):
    """Prefetch 16 numbers of an array into the cache; indices beyond its ends are harmless."""

    def codegen(context, builder, signature, arguments):
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        stored = context.get_data_type(array.dtype)
        pointer = builder.bitcast(_pointer(context, builder, array, arguments[0], arguments[1], at, stored), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, at), codegen


@instruction
def spread(typingctx, number):
    """Return a vector with a number 16 times."""

    def codegen(context, builder, signature, arguments):
        return _spread(builder, arguments[0])

    return Lanes(number)(number), codegen


def _spread(builder: ir.IRBuilder, number: ir.Value) -> Any:
    kind = ir.VectorType(number.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(WORD, 0))
    zeros = ir.Constant(ir.VectorType(WORD, LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


@instruction
def larger(typingctx, a, b):
    """Return the larger of two numbers, or the second one if neither is larger."""

    def codegen(context, builder, signature, arguments):
        one, two = arguments
        return builder.select(builder.fcmp_ordered(">", one, two), one, two)

    return a(a, b), codegen


@instruction
def where(typingctx, marks, a, b):
    """Return ``a`` where there is a mark, else ``b``; also for scalars."""

    def codegen(context, builder, signature, arguments):
        return builder.select(*arguments)

    return a(marks, a, b), codegen


@instruction
def some(typingctx, marks):
    """Return whether there is any mark."""

    def codegen(context, builder, signature, arguments):
        return builder.icmp_unsigned("!=", builder.bitcast(arguments[0], HALF), ir.Constant(HALF, 0))

    return types.boolean(marks), codegen


def _of_each(builder: ir.IRBuilder, name: str, value: ir.Value, bits: int) -> Any:
    """Apply a vector function of LLVM, such as ``floor``."""
    kind = ir.FunctionType(value.type, [value.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f{bits}"), [value])


@instruction
def magnitude(typingctx, a):
    """Return the absolute values |a|."""

    def codegen(context, builder, signature, arguments):
        return _of_each(builder, "fabs", arguments[0], a.element.bitwidth)

    return a(a), codegen


@instruction
def floor(typingctx, a):
    """Return the largest integer up to a, element by element."""

    def codegen(context, builder, signature, arguments):
        return _of_each(builder, "floor", arguments[0], a.element.bitwidth)

    return a(a), codegen


@instruction
def largest(typingctx, a):
    """Return the largest of the 16 numbers."""

    def codegen(context, builder, signature, arguments):
        (value,), half = arguments, LANES // 2
        while half:
            moved = ir.Constant(ir.VectorType(WORD, LANES), [(k + half) % LANES for k in range(LANES)])
            other = builder.shuffle_vector(value, value, moved)
            value = builder.select(builder.fcmp_ordered(">", value, other), value, other)
            half //= 2
        return builder.extract_element(value, ir.Constant(WORD, 0))

    return a.element(a), codegen


@instruction
def fractions(typingctx, seed, like, step):
    """Return ((seed + k step) mod 2^32) / 2^32 in steps of 2^-24, k from 0 to 15, with the type of ``like``.

    ``step`` must be a literal.
    """
    if not isinstance(step, types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, arguments):
        kind = ir.VectorType(WORD, LANES)
        start = _spread(builder, context.cast(builder, arguments[0], seed, types.uint32))
        steps = ir.Constant(kind, [k * step.literal_value % 2**32 for k in range(LANES)])
        upper = builder.lshr(builder.add(start, steps), ir.Constant(kind, [8] * LANES))
        number = ir.VectorType(context.get_data_type(like.element), LANES)
        return builder.fmul(builder.sitofp(upper, number), ir.Constant(number, [2.0**-24] * LANES))

    return like(seed, like, step), codegen


@instruction
def widened(typingctx, a):
    """Return a vector converted to float64."""
    wide = Lanes(types.float64)

    def codegen(context, builder, signature, arguments):
        number = arguments[0]
        return number if a == wide else builder.fpext(number, ir.VectorType(ir.DoubleType(), LANES))

    return wide(a), codegen


@instruction
def narrowed(typingctx, a, like):
    """Return a vector rounded to the type of ``like``."""

    def codegen(context, builder, signature, arguments):
        number = arguments[0]
        return number if a == like else builder.fptrunc(number, ir.VectorType(ir.FloatType(), LANES))

    return like(a, like), codegen


@instruction
def transpose(typingctx, out, at, source, rows, first, times, shift):
    """Transpose a square: ``out[at + 16 k + l] = source[times rows[first + l] + shift + k]``, k and l below 16.

    All elements are read before any is written.
    """

    def codegen(context, builder, signature, arguments):
        element = context.get_data_type(out.dtype)
        indices = context.make_array(rows)(context, builder, arguments[3]).data
        start, begin, scale, moved = (
            context.cast(builder, arguments[k], signature.args[k], types.int64) for k in (1, 4, 5, 6)
        )
        kind = ir.VectorType(element, LANES)
        square = []
        for k in range(LANES):
            pointer = builder.gep(
                indices, [builder.add(begin, begin.type(k))], source_etype=context.get_data_type(rows.dtype)
            )
            number = builder.load(pointer, typ=context.get_data_type(rows.dtype))
            row = builder.add(builder.mul(context.cast(builder, number, rows.dtype, types.int64), scale), moved)
            pointer = _pointer(context, builder, source, arguments[2], row, types.int64, element)
            square.append(builder.load(pointer, align=out.dtype.bitwidth // 8, typ=kind))
        lower = ir.Constant(ir.VectorType(WORD, LANES), _interleaved(0))
        upper = ir.Constant(ir.VectorType(WORD, LANES), _interleaved(LANES // 2))
        half = LANES // 2
        for _ in range(LANES.bit_length() - 1):  # perfect shuffles of the rows: four of them transpose a 16 x 16 square
            pairs = zip(square[:half], square[half:], strict=True)
            square = [builder.shuffle_vector(one, two, mask) for one, two in pairs for mask in (lower, upper)]
        for k in range(LANES):
            row = builder.add(start, ir.Constant(start.type, k * LANES))
            pointer = _pointer(context, builder, out, arguments[0], row, types.int64, element)
            builder.store(square[k], pointer, align=out.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(out, at, source, rows, first, times, shift), codegen


def _interleaved(start: int) -> list[int]:
    """Return the indices that interleave two concatenated vectors from ``start`` on."""
    return [start + k // 2 + (LANES if k % 2 else 0) for k in range(LANES)]
