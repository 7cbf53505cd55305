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
        self.data = context.make_array(array_type)(context, builder, value).data
        self._element = context.get_data_type(array_type.dtype)
        self._bytes = array_type.dtype.bitwidth // 8
        self.vector = ir.VectorType(self._element, LANES)

    def _pointer(self, at: Any) -> Any:
        place = self._builder.gep(self.data, [at], source_etype=self._element)
        return self._builder.bitcast(place, self.vector.as_pointer())

    def load(self, at: Any) -> Any:
        return self._builder.load(self._pointer(at), align=self._bytes, typ=self.vector)

    def store(self, at: Any, value: Any) -> None:
        self._builder.store(value, self._pointer(at), align=self._bytes)


def _operands(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The arguments of an instruction: arrays as vectors, numbers in 64 bits."""
    return [
        _Vectors(context, builder, kind, value)
        if isinstance(kind, types.Array)
        else context.cast(builder, value, kind, types.int64)
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


def _spared(builder: Any, totals: Any, whole: Any, first: Any, second: Any) -> Any:
    """totals[whole] - (totals[first] + totals[second]): what is dealt to hands without either card."""
    return builder.fsub(totals.load(whole), builder.fadd(totals.load(first), totals.load(second)))


@instruction
def lanes_deal(typingctx, sums, whole, first, second, source, at):
    """``sums[whole] += x; sums[first] += x; sums[second] += x`` where x = ``source[at]``; each stands for 16 lanes."""

    def codegen(context, builder, signature, arguments):
        totals, *rows, given, place = _operands(context, builder, signature, arguments)
        x = given.load(place)
        for row in rows:
            totals.store(row, builder.fadd(totals.load(row), x))
        return context.get_dummy_value()

    return types.void(sums, whole, first, second, source, at), codegen


@instruction
def lanes_spared(typingctx, out, at, sums, whole, first, second):
    """``out[at] = sums[whole] - sums[first] - sums[second]``: what is dealt to hands without either card."""

    def codegen(context, builder, signature, arguments):
        result, place, *dealt = _operands(context, builder, signature, arguments)
        result.store(place, _spared(builder, *dealt))
        return context.get_dummy_value()

    return types.void(out, at, sums, whole, first, second), codegen


@instruction
def lanes_spared_more(typingctx, out, at, sums, whole, first, second):
    """``out[at] += sums[whole] - sums[first] - sums[second]``."""

    def codegen(context, builder, signature, arguments):
        result, place, *dealt = _operands(context, builder, signature, arguments)
        result.store(place, builder.fadd(result.load(place), _spared(builder, *dealt)))
        return context.get_dummy_value()

    return types.void(out, at, sums, whole, first, second), codegen


@instruction
def lanes_close(typingctx, ahead, everyone, at, sums, whole, first, second, source, same):
    """Take all hands that meet ours off ``ahead[at]``, and count them, with our own hand, in ``everyone[at]``.

    x = sums[whole] - sums[first] - sums[second];  ahead[at] -= x;  everyone[at] = x + source[same].
    """

    def codegen(context, builder, signature, arguments):
        won, met, place, *dealt, given, ours = _operands(context, builder, signature, arguments)
        x = _spared(builder, *dealt)
        won.store(place, builder.fsub(won.load(place), x))
        met.store(place, builder.fadd(x, given.load(ours)))
        return context.get_dummy_value()

    return types.void(ahead, everyone, at, sums, whole, first, second, source, same), codegen


@instruction
def lanes_transpose(typingctx, out, out_rows, source, source_rows):
    """``out[out_rows[k] + l] = source[source_rows[l] + k]`` for all k and l below 16: a square turned over."""

    def codegen(context, builder, signature, arguments):
        target, places, given, rows = _operands(context, builder, signature, arguments)
        row = [builder.load(cgutils.gep(builder, rows.data, k)) for k in range(LANES)]
        square = [given.load(at) for at in row]
        lower = ir.Constant(ir.VectorType(ir.IntType(32), LANES), _interleaved(0))
        upper = ir.Constant(ir.VectorType(ir.IntType(32), LANES), _interleaved(LANES // 2))
        half = LANES // 2
        for _ in range(LANES.bit_length() - 1):  # perfect shuffles of the rows: four of them turn a 16 x 16 square over
            pairs = zip(square[:half], square[half:], strict=True)
            square = [builder.shuffle_vector(one, two, mask) for one, two in pairs for mask in (lower, upper)]
        for k in range(LANES):
            target.store(builder.load(cgutils.gep(builder, places.data, k)), square[k])
        return context.get_dummy_value()

    return types.void(out, out_rows, source, source_rows), codegen


def _interleaved(start: int) -> list[int]:
    """Which numbers of two vectors, laid end to end, alternate from ``start`` on."""
    return [start + k // 2 + (LANES if k % 2 else 0) for k in range(LANES)]
