"""Rules as C functions, which kernels call by their address.

A kernel that is handed an address is compiled once for all rules and kept on disk. The C function has the signature

    int32 rule(t, values, strategy, memory, constants, rows, actions, constants' length)

and returns 1 if the rule has raised, for example because of an index out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numba
from llvmlite import ir  # pyright: ignore[reportMissingTypeStubs]
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]

from treeplex.kernels.jit import instruction

_NUMBERS: Final = types.CPointer(types.float64)
_SIGNATURE: Final = types.int32(types.float64, *[_NUMBERS] * 4, types.int64, types.int64, types.int64)


@lru_cache(maxsize=64)
def compile_update(function: Callable[..., None], checked: bool, constants: bool) -> Any:
    """The C function of an update; it must be kept alive while its ``address`` is in use.

    ``checked``: are indices checked? ``constants``: does the function take them?
    """
    update: Any = numba.njit(function, boundscheck=checked)
    array: Any = carray

    def plain(
        t: Any, values: Any, strategy: Any, memory: Any, numbers: Any, rows: Any, actions: Any, count: Any
    ) -> int:
        try:
            update(t, array(values, actions), array(strategy, actions), array(memory, (rows, actions)))
        except Exception:
            return 1
        return 0

    def with_constants(
        t: Any, values: Any, strategy: Any, memory: Any, numbers: Any, rows: Any, actions: Any, count: Any
    ) -> int:
        try:
            own = array(memory, (rows, actions))
            update(t, array(values, actions), array(strategy, actions), own, array(numbers, count))
        except Exception:
            return 1
        return 0

    compiler: Any = numba.cfunc(_SIGNATURE)
    return compiler(with_constants if constants else plain)


@instruction
def call_rule(
    context: Any, address: Any, t: Any, values: Any, at: Any, strategy: Any, first: Any, memory: Any, row: Any,
    constants: Any, rows: Any, actions: Any,
) -> Any:  # fmt: skip
    """Call the rule at ``address`` on ``values[at:]``, ``strategy[first:]`` and ``memory[row:]``, arrays of one axis.

    Returns 0, or 1 if the rule has raised.
    """
    whole = types.int64
    signature = types.int32(
        types.uint64, types.float64, values, whole, strategy, whole, memory, whole, constants, whole, whole
    )

    def generate(target: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        number, size = ir.DoubleType(), ir.IntType(64)
        pointer = number.as_pointer()
        function = ir.FunctionType(ir.IntType(32), [number, *[pointer] * 4, size, size, size])

        def array(place: int) -> Any:
            return target.make_array(kinds.args[place])(target, builder, arguments[place])

        def pointer_at(place: int) -> Any:
            return builder.gep(array(place).data, [arguments[place + 1]])

        target_function = builder.inttoptr(arguments[0], function.as_pointer())
        held = array(8)
        return builder.call(
            target_function,
            [arguments[1], pointer_at(2), pointer_at(4), pointer_at(6), held.data, *arguments[9:11], held.nitems],
        )

    return signature, generate
