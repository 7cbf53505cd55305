"""Barriers for threads that run the same kernel at the same time: a few atomic operations.

Each thread is a Python thread inside a compiled kernel that has released the interpreter lock. ``sync`` holds three
counts, a cache line or two apart: the threads that have arrived at the barrier, the times that all have passed it, and
the threads that have left the run. The engine owns the entries from ``FREE`` on.

Waking a thread takes longer than an iteration of a small game. A thread that has finished may therefore linger to be
called to the next run. ``wake_flags`` has one number per thread, which is odd while the thread waits. The thread raises
it by one to leave, and a caller raises it by one to make the thread go on. The first of the two decides.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext

from treeplex.arrays import LINE, aligned
from treeplex.kernels.jit import callee, instruction, kernel

Sync = npt.NDArray[np.int64]

ARRIVED: Final = 0
ABORTED: Final = 1  # on the same cache line, because a run that succeeds never writes to it
PASSED: Final = LINE
LEFT: Final = 2 * LINE
FREE: Final = 3 * LINE
SPINS: Final = 5000  # reads of a number that another thread will change, before this one yields the processor
LINGER_POLLS: Final = 30_000  # reads of the wake flag before a thread leaves: a third of a millisecond to one
CAN_YIELD: Final = sys.platform != "win32"
CAN_PAUSE: Final = platform.machine() in ("x86_64", "AMD64")


def new_sync(more: int = 0) -> Sync:
    """Return the counts of a barrier at which no thread has arrived, followed by ``more`` zeros."""
    return aligned(FREE + more, np.int64)


def new_wake_flags(threads: int, polls: int = LINGER_POLLS) -> Sync:
    """Return the wake flags of threads that do not wait yet.

    The first thread needs no flag: its entry is the number of times that the other threads poll theirs.
    """
    wake_flags = aligned(threads * LINE, np.int64)
    wake_flags[0] = polls
    return wake_flags


def _address(
    context: BaseContext, builder: ir.IRBuilder, kinds: Sequence[types.Type], arguments: Sequence[ir.Value]
) -> ir.Value:
    """Return the address of ``sync[index]``, the first two arguments of an instruction."""
    data = context.make_array(kinds[0])(context, builder, arguments[0]).data
    return builder.gep(data, [context.cast(builder, arguments[1], kinds[1], types.int64)], source_etype=ir.IntType(64))


@instruction
def add(typingctx, sync, index, amount):
    """Add to ``sync[index]`` atomically, and return its old value."""

    def codegen(context, builder, signature, arguments):
        pointer = _address(context, builder, signature.args, arguments)
        more = context.cast(builder, arguments[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", pointer, more, "seq_cst")

    return types.int64(sync, index, amount), codegen


@instruction
def _yield_processor(typingctx):
    """Let another thread run, on systems that have a call for it."""

    def codegen(context, builder, signature, arguments):
        if CAN_YIELD:
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@instruction
def read(typingctx, sync, index):
    """Return ``sync[index]`` as the last thread that wrote it has left it."""

    def codegen(context, builder, signature, arguments):
        pointer = _address(context, builder, signature.args, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8, typ=ir.IntType(64))

    return types.int64(sync, index), codegen


@instruction
def _pause(typingctx):
    """Hint to the processor that this is a waiting loop."""

    def codegen(context, builder, signature, arguments):
        if CAN_PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@callee
def wait(sync: Sync, index: int, before: int) -> bool:
    """Wait until ``sync[index]`` differs from ``before``; return False if another thread fails first."""
    spins = 0
    while read(sync, index) == before:
        spins += 1
        _pause()
        if spins >= SPINS:
            if read(sync, ABORTED) != 0:
                return False
            _yield_processor()
    return True


@instruction
def exchange(typingctx, sync, index, before):
    """Raise ``sync[index]`` by one if it equals ``before``, and return whether it did."""

    def codegen(context, builder, signature, arguments):
        pointer = _address(context, builder, signature.args, arguments)
        old = context.cast(builder, arguments[2], signature.args[2], types.int64)
        new = builder.add(old, ir.Constant(old.type, 1))
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "seq_cst", "seq_cst"), 1)

    return types.boolean(sync, index, before), codegen


@callee
def barrier(sync: Sync, threads: int) -> bool:
    """Wait until all threads have arrived; return False if one of them fails first."""
    if threads == 1:
        return True
    passed = read(sync, PASSED)
    if add(sync, ARRIVED, 1) == threads - 1:
        add(sync, ARRIVED, -threads)
        add(sync, PASSED, 1)
        return True
    return wait(sync, PASSED, passed)


@callee
def leave_run(sync: Sync) -> None:
    """Leave the run: this thread no longer reads its arrays."""
    add(sync, LEFT, 1)


@callee
def await_all(sync: Sync, threads: int) -> None:
    """Wait until all other threads have left the run, or one has failed."""
    left = read(sync, LEFT)
    while left < threads - 1 and wait(sync, LEFT, left):
        left = read(sync, LEFT)


@callee
def linger(wake_flags: Sync, thread: int) -> bool:
    """Wait briefly for another call, and return whether it came."""
    index = thread * LINE
    waiting = add(wake_flags, index, 1) + 1
    for _ in range(wake_flags[0]):
        if read(wake_flags, index) != waiting:
            return True
        _pause()
    return not exchange(wake_flags, index, waiting)


@kernel
def call(wake_flags: Sync, called: npt.NDArray[np.bool_]) -> None:
    """Call all threads that are waiting, and mark them in ``called``."""
    for thread in range(1, len(called)):
        waiting = read(wake_flags, thread * LINE)
        called[thread] = waiting % 2 == 1 and exchange(wake_flags, thread * LINE, waiting)
