"""Sixteen numbers side by side, as one vector of the processor: the few operations that sweeps over hands need.

Loops over 16 numbers are too short for LLVM to vectorise where arrays might overlap, so these are written as vector
instructions. All arrays are flat and hold float32 or float64; ``at`` and ``row`` count numbers, not vectors. Nothing
is checked: callers keep inside their arrays. No fastmath: every lane adds in the order of the calls.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from treeplex.engines.boards.arrays import LANES
from treeplex.jit import instruction


class _Vectors:
    """Loads and stores vectors of a flat array inside a kernel."""

    def __init__(self, context: Any, builder: Any, array_type: Any, value: Any) -> None:
        self._builder = builder
        self._data = context.make_array(array_type)(context, builder, value).data
        self._element = context.get_data_type(array_type.dtype)
        self._bytes = array_type.dtype.bitwidth // 8
        self.vector = ir.VectorType(self._element, LANES)

    def _pointer(self, at: Any) -> Any:
        place = self._builder.gep(self._data, [at], source_etype=self._element)
        return self._builder.bitcast(place, self.vector.as_pointer())

    def load(self, at: Any) -> Any:
        return self._builder.load(self._pointer(at), align=self._bytes, typ=self.vector)

    def store(self, at: Any, value: Any) -> None:
        self._builder.store(value, self._pointer(at), align=self._bytes)


def _index(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.cast(builder, value, kind, types.int64)


@instruction
def lanes_deal(typingctx, sums, whole, first, second, source, at):
    """``sums[whole] += x; sums[first] += x; sums[second] += x`` where x = ``source[at]``; each stands for 16 lanes."""

    def codegen(context, builder, signature, arguments):
        totals = _Vectors(context, builder, signature.args[0], arguments[0])
        given = _Vectors(context, builder, signature.args[4], arguments[4])
        x = given.load(_index(context, builder, signature.args[5], arguments[5]))
        for k in (1, 2, 3):
            row = _index(context, builder, signature.args[k], arguments[k])
            totals.store(row, builder.fadd(totals.load(row), x))
        return context.get_dummy_value()

    return types.void(sums, whole, first, second, source, at), codegen


@instruction
def lanes_spared(typingctx, out, at, sums, whole, first, second):
    """``out[at] = sums[whole] - sums[first] - sums[second]``: what is dealt to hands without either card."""

    def codegen(context, builder, signature, arguments):
        result = _Vectors(context, builder, signature.args[0], arguments[0])
        totals = _Vectors(context, builder, signature.args[2], arguments[2])
        at, a, b, c = (_index(context, builder, signature.args[k], arguments[k]) for k in (1, 3, 4, 5))
        shared = builder.fadd(totals.load(b), totals.load(c))
        result.store(at, builder.fsub(totals.load(a), shared))
        return context.get_dummy_value()

    return types.void(out, at, sums, whole, first, second), codegen


@instruction
def lanes_spared_more(typingctx, out, at, sums, whole, first, second):
    """``out[at] += sums[whole] - sums[first] - sums[second]``."""

    def codegen(context, builder, signature, arguments):
        result = _Vectors(context, builder, signature.args[0], arguments[0])
        totals = _Vectors(context, builder, signature.args[2], arguments[2])
        at, a, b, c = (_index(context, builder, signature.args[k], arguments[k]) for k in (1, 3, 4, 5))
        shared = builder.fadd(totals.load(b), totals.load(c))
        result.store(at, builder.fadd(result.load(at), builder.fsub(totals.load(a), shared)))
        return context.get_dummy_value()

    return types.void(out, at, sums, whole, first, second), codegen


@instruction
def lanes_close(typingctx, ahead, everyone, at, sums, whole, first, second, source, same):
    """Take all hands that meet ours off ``ahead[at]``, and count them, with our own hand, in ``everyone[at]``.

    x = sums[whole] - sums[first] - sums[second];  ahead[at] -= x;  everyone[at] = x + source[same].
    """

    def codegen(context, builder, signature, arguments):
        won = _Vectors(context, builder, signature.args[0], arguments[0])
        met = _Vectors(context, builder, signature.args[1], arguments[1])
        totals = _Vectors(context, builder, signature.args[3], arguments[3])
        given = _Vectors(context, builder, signature.args[7], arguments[7])
        at, a, b, c, s = (_index(context, builder, signature.args[k], arguments[k]) for k in (2, 4, 5, 6, 8))
        x = builder.fsub(totals.load(a), builder.fadd(totals.load(b), totals.load(c)))
        won.store(at, builder.fsub(won.load(at), x))
        met.store(at, builder.fadd(x, given.load(s)))
        return context.get_dummy_value()

    return types.void(ahead, everyone, at, sums, whole, first, second, source, same), codegen


@instruction
def lanes_transpose(typingctx, out, out_rows, source, source_rows):
    """``out[out_rows[k] + l] = source[source_rows[l] + k]`` for all k and l below 16: a square turned over."""

    def codegen(context, builder, signature, arguments):
        target = _Vectors(context, builder, signature.args[0], arguments[0])
        given = _Vectors(context, builder, signature.args[2], arguments[2])
        places = []
        for k in (1, 3):
            array = context.make_array(signature.args[k])(context, builder, arguments[k])
            places.append(array.data)
        row = [builder.load(cgutils.gep(builder, places[1], k)) for k in range(LANES)]
        square = [given.load(at) for at in row]
        lower = ir.Constant(ir.VectorType(ir.IntType(32), LANES), _interleaved(0))
        upper = ir.Constant(ir.VectorType(ir.IntType(32), LANES), _interleaved(LANES // 2))
        for _ in range(LANES.bit_length() - 1):  # perfect shuffles of the rows: four of them turn a 16 x 16 square over
            half = LANES // 2
            mixed = []
            for k in range(half):
                mixed.append(builder.shuffle_vector(square[k], square[k + half], lower))
                mixed.append(builder.shuffle_vector(square[k], square[k + half], upper))
            square = mixed
        for k in range(LANES):
            target.store(builder.load(cgutils.gep(builder, places[0], k)), square[k])
        return context.get_dummy_value()

    return types.void(out, out_rows, source, source_rows), codegen


def _interleaved(start: int) -> list[int]:
    """Which numbers of two vectors, laid end to end, alternate from ``start`` on."""
    return [start + k // 2 + (LANES if k % 2 else 0) for k in range(LANES)]
