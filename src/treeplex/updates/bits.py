"""Floating-point numbers as bits inside kernels: those of positive numbers are ordered as the numbers are."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false

from __future__ import annotations

from llvmlite import ir
from numba import types

from treeplex.jit import instruction


@instruction
def magnitude_bits(typingctx, number):
    """The bits of the absolute value of a float32, as a whole number."""

    def codegen(context, builder, signature, arguments):
        word = ir.IntType(32)
        return builder.and_(builder.bitcast(arguments[0], word), word(0x7FFFFFFF))

    return types.uint32(types.float32), codegen


@instruction
def number_of(typingctx, bits):
    """The float32 that has these bits."""

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.uint32), codegen
