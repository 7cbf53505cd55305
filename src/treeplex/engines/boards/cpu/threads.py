"""A barrier and a queue of tasks for threads that run the same kernel side by side: two small atomic operations.

Each thread is a Python thread inside a compiled kernel that has released the interpreter lock. ``sync`` [3] holds how
many have arrived at the barrier, how often all have passed it, and which task is next.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from treeplex.jit import callee, instruction

Sync = npt.NDArray[np.int64]

ARRIVED: Final = 0
PASSED: Final = 1
NEXT: Final = 2
CAN_YIELD: Final = sys.platform != "win32"


def new_sync() -> Sync:
    """Nobody has arrived; no task has been taken."""
    return np.zeros(3, dtype=np.int64)


@instruction
def _add(typingctx, sync, place, amount):
    """Add to ``sync[place]`` in one step; returns what was there."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = context.cast(builder, arguments[1], signature.args[1], types.int64)
        more = context.cast(builder, arguments[2], signature.args[2], types.int64)
        pointer = builder.gep(data, [at], source_etype=ir.IntType(64))
        return builder.atomic_rmw("add", pointer, more, "seq_cst")

    return types.int64(sync, place, amount), codegen


@instruction
def _give_way(typingctx):
    """Let another thread run, where the system has a call for it."""

    def codegen(context, builder, signature, arguments):
        if CAN_YIELD:
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@callee
def barrier(sync: Sync, threads: int) -> None:
    """Wait until all threads are here."""
    if threads == 1:
        sync[NEXT] = 0
        return
    passed = _add(sync, PASSED, 0)
    if _add(sync, ARRIVED, 1) == threads - 1:
        _add(sync, ARRIVED, -threads)
        _add(sync, NEXT, -_add(sync, NEXT, 0))
        _add(sync, PASSED, 1)
        return
    while _add(sync, PASSED, 0) == passed:
        _give_way()


@callee
def next_task(sync: Sync) -> int:
    """The number of the next task, from 0; starts again at every barrier."""
    return _add(sync, NEXT, 1)
