"""Update rules as C functions, which kernels call by their address.

A kernel that gets an address is compiled once for all rules and cached on disk. The C function has the signature

    int32 rule(t, values, strategy, memory, constants, rows, actions, constants' length)

and returns 1 if the rule has raised, for example because of an index out of bounds. After a failure kernels continue to
their end without calling rules, and the host then checks ``RuleCall.failed``.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numba.core.base import BaseContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from treeplex.arrays import Floats
from treeplex.kernels.jit import INLINED_LOOP, Index, inlined_loop, instruction, specialised

Pointer = types.CPointer
"""Type of the pointers to numbers that a C function gets."""

_NUMBERS: Final = types.CPointer(types.float64)
_SIGNATURE: Final = types.int32(types.float64, *[_NUMBERS] * 4, types.int64, types.int64, types.int64)


class RuleCall(NamedTuple):
    """Address, memory and constants of a rule for kernels, and its first failure."""

    address: np.uint64
    rows: np.uint64  # rows of memory
    constants: Floats
    failed: npt.NDArray[np.int64]  # [3] infoset, iteration and actions of the first call that raised; -1: none did
    arguments: Floats  # [(2 + rows) A] of that call: values, strategy and memory; A: the largest number of actions
    room: Floats  # [K, (2 + rows) A] scratch of each thread


@cache  # never freed, because kernels may use an address as long as it exists
def compile_update(function: Callable[..., None], checked: bool, constants: bool) -> Any:
    """Compile the C function of an update.

    ``checked``: whether indices are checked. ``constants``: whether the function takes constants.
    """
    update: Any = numba.njit(function, boundscheck=checked, forceinline=True)  # passing arrays on costs 10 ns per call
    array: Any = carray

    def call(
        t: float, values: Pointer, strategy: Pointer, memory: Pointer, numbers: Pointer, rows: int, actions: int,
        count: int,
    ) -> int:  # fmt: skip
        try:
            own = array(memory, (rows, actions))
            if constants:  # known at compile time
                update(t, array(values, actions), array(strategy, actions), own, array(numbers, count))
            else:
                update(t, array(values, actions), array(strategy, actions), own)
        except Exception:
            return 1
        return 0

    compiler: Any = numba.cfunc(_SIGNATURE)
    return compiler(call)


@instruction
def call_rule(
    context: Context, address: types.Type, t: types.Type, values: types.Array, at: types.Type, strategy: types.Array,
    first: types.Type, memory: types.Array, row: types.Type, constants: types.Array, rows: types.Type,
    actions: types.Type,
) -> Any:  # fmt: skip
    """Call the rule at ``address`` on ``values[at:]``, ``strategy[first:]`` and ``memory[row:]``, arrays of one axis.

    Return 0, or 1 if the rule has raised.
    """
    whole = types.int64
    signature = types.int32(
        types.uint64, types.float64, values, whole, strategy, whole, memory, whole, constants, whole, whole
    )

    def generate(
        target: BaseContext, builder: ir.IRBuilder, kinds: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        number, size = ir.DoubleType(), ir.IntType(64)
        pointer = number.as_pointer()
        function = ir.FunctionType(ir.IntType(32), [number, *[pointer] * 4, size, size, size])

        def array(k: int) -> Any:
            return target.make_array(kinds.args[k])(target, builder, arguments[k])

        def pointer_at(k: int) -> Any:
            return builder.gep(array(k).data, [arguments[k + 1]])

        target_function = builder.inttoptr(arguments[0], function.as_pointer())
        numbers = array(8)
        return builder.call(
            target_function,
            [arguments[1], pointer_at(2), pointer_at(4), pointer_at(6), numbers.data, *arguments[9:11], numbers.nitems],
        )

    return signature, generate


@inlined_loop
def call_in_place(
    rule: RuleCall, t: float, infoset: Index, values: Floats, strategy: Floats, start: Index, memory: Floats,
    actions: Index,
) -> None:  # fmt: skip
    """Call a rule directly on float64 arrays, with ``values[start:]`` and ``strategy[start:]``.

    The memory of an infoset whose sequences begin at ``start`` begins at ``rows * start``.
    """
    if rule.failed[0] < 0:
        row = rule.rows * np.uint64(start)
        _call_or_record(rule, t, infoset, values, start, strategy, start, memory, row, actions)


@inlined_loop
def call_gathered(
    rule: RuleCall, t: float, infoset: Index, values: npt.NDArray[Any], at: Index, strategy: npt.NDArray[Any],
    first: Index, gap: Index, memory: npt.NDArray[Any], row: Index, actions: Index, scratch: Floats,
) -> None:  # fmt: skip
    """Call a rule on copies of numbers of any precision, in which actions are ``gap`` apart.

    The rule gets ``values[at + gap a]``, ``strategy[first + gap a]`` and the contiguous ``memory[row:]``. ``scratch``
    has the length of ``arguments``. Results are rounded to the precision of the arrays.
    """
    if rule.failed[0] >= 0:
        return
    for a in range(np.uint64(actions)):
        scratch[a] = values[at + gap * a]
        scratch[actions + a] = strategy[first + gap * a]
    _with_memory(rule, t, infoset, scratch, memory, row, actions)
    for a in range(np.uint64(actions)):
        strategy[first + gap * a] = scratch[actions + a]


def _on_memory(
    rule: RuleCall, t: float, infoset: Index, scratch: Floats, memory: Floats, row: Index, actions: Index
) -> None:
    _call_or_record(rule, t, infoset, scratch, np.uint64(0), scratch, actions, memory, row, actions)


@specialised("memory", {np.float64: _on_memory}, jit_options=INLINED_LOOP)
def _with_memory(
    rule: RuleCall, t: float, infoset: Index, scratch: Floats, memory: npt.NDArray[Any], row: Index, actions: Index
) -> None:
    """Call a rule on values and strategy in ``scratch``, and on a copy of memory; on memory itself if it is float64."""
    size, own = rule.rows * np.uint64(actions), np.uint64(2) * np.uint64(actions)
    for k in range(size):
        scratch[own + k] = memory[row + k]
    _call_or_record(rule, t, infoset, scratch, np.uint64(0), scratch, actions, scratch, own, actions)
    for k in range(size):
        memory[row + k] = scratch[own + k]


@inlined_loop
def _call_or_record(
    rule: RuleCall, t: float, infoset: Index, values: Floats, at: Index, strategy: Floats, first: Index,
    memory: Floats, row: Index, actions: Index,
) -> None:  # fmt: skip
    """Call a rule on ``values[at:]``, ``strategy[first:]``, ``memory[row:]``; if it raises, record these arguments."""
    if not call_rule(
        rule.address, t, values, np.int64(at), strategy, np.int64(first), memory, np.int64(row), rule.constants,
        np.int64(rule.rows), np.int64(actions),
    ):  # fmt: skip
        return
    rule.failed[0], rule.failed[1], rule.failed[2] = infoset, t, actions
    for a in range(np.uint64(actions)):
        rule.arguments[a] = values[at + a]
        rule.arguments[actions + a] = strategy[first + a]
    for k in range(rule.rows * np.uint64(actions)):
        rule.arguments[np.uint64(2) * np.uint64(actions) + k] = memory[row + k]
