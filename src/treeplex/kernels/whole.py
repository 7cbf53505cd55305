"""Operations on whole numbers for which processors have an instruction, but Numba has no function."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false

from __future__ import annotations

from llvmlite import ir
from numba import types

from treeplex.kernels.jit import instruction


@instruction
def bit_length(typingctx, number):
    """Return the number of bits of a number in [0, 2^31), as ``int.bit_length``."""

    def codegen(context, builder, signature, arguments):
        word = ir.IntType(32)
        zeros = builder.ctlz(builder.trunc(arguments[0], word), ir.Constant(ir.IntType(1), 0))
        return builder.zext(builder.sub(ir.Constant(word, 32), zeros), ir.IntType(64))

    return types.int64(types.int64), codegen


@instruction
def upper_half(typingctx, a, b):
    """Return floor(a b / 2^64) of two whole numbers below 2^64."""

    def codegen(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(number, wide) for number in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen
