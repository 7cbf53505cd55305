"""Barriers for threads that run the same kernel side by side: a few atomic operations.

Each thread is a Python thread inside a compiled kernel that has released the interpreter lock. ``sync`` holds, a cache
line or two apart, how many have arrived at the barrier, how often all have passed it, and how many have left the run;
what follows from ``FREE`` on is the engine's.

To wake a thread takes longer than an iteration of a small game, so one that has finished may linger for a moment, to be
called to the next run: ``mail`` has a number for each, odd while it waits. Whoever raises it by one, thread or caller,
has decided what happens: it leaves, or it goes on.
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
ABORTED: Final = 1  # beside it, as it is never written to in a run that ends well
PASSED: Final = LINE
LEFT: Final = 2 * LINE
FREE: Final = 3 * LINE
SPINS: Final = 5000  # looks at a number that another thread is to change, before giving way
PATIENCE: Final = 30_000  # looks for another call before leaving: a third of a millisecond to one
CAN_YIELD: Final = sys.platform != "win32"
CAN_PAUSE: Final = platform.machine() in ("x86_64", "AMD64")


def new_sync(more: int = 0) -> Sync:
    """Nobody has arrived; ``more``: zeros that follow."""
    return aligned(FREE + more, np.int64)


def new_mail(threads: int, patience: int = PATIENCE) -> Sync:
    """Nobody is waiting; instead of the first thread's number, how long others do."""
    mail = aligned(threads * LINE, np.int64)
    mail[0] = patience
    return mail


def _place(
    context: BaseContext, builder: ir.IRBuilder, kinds: Sequence[types.Type], given: Sequence[ir.Value]
) -> ir.Value:
    """Where ``sync[place]`` is, of an instruction's first two arguments."""
    data = context.make_array(kinds[0])(context, builder, given[0]).data
    return builder.gep(data, [context.cast(builder, given[1], kinds[1], types.int64)], source_etype=ir.IntType(64))


@instruction
def add(typingctx, sync, place, amount):
    """Add to ``sync[place]`` in one step; returns what was there."""

    def codegen(context, builder, signature, arguments):
        pointer = _place(context, builder, signature.args, arguments)
        more = context.cast(builder, arguments[2], signature.args[2], types.int64)
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


@instruction
def look(typingctx, sync, place):
    """``sync[place]`` as other threads have left it."""

    def codegen(context, builder, signature, arguments):
        pointer = _place(context, builder, signature.args, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8, typ=ir.IntType(64))

    return types.int64(sync, place), codegen


@instruction
def _pause(typingctx):
    """Tell the processor that this is a loop that waits."""

    def codegen(context, builder, signature, arguments):
        if CAN_PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@callee
def wait(sync: Sync, place: int, before: int) -> bool:
    """Until ``sync[place]`` is no longer what it was, or another thread has failed: False then."""
    spins = 0
    while look(sync, place) == before:
        spins += 1
        _pause()
        if spins >= SPINS:
            if look(sync, ABORTED) != 0:
                return False
            _give_way()
    return True


@instruction
def exchange(typingctx, sync, place, before):
    """Raise ``sync[place]`` by one if it is ``before``; was it?"""

    def codegen(context, builder, signature, arguments):
        pointer = _place(context, builder, signature.args, arguments)
        old = context.cast(builder, arguments[2], signature.args[2], types.int64)
        new = builder.add(old, ir.Constant(old.type, 1))
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "seq_cst", "seq_cst"), 1)

    return types.boolean(sync, place, before), codegen


@callee
def barrier(sync: Sync, threads: int) -> bool:
    """Wait until all threads are here; False if one never will be."""
    if threads == 1:
        return True
    passed = look(sync, PASSED)
    if add(sync, ARRIVED, 1) == threads - 1:
        add(sync, ARRIVED, -threads)
        add(sync, PASSED, 1)
        return True
    return wait(sync, PASSED, passed)


@callee
def leave_run(sync: Sync) -> None:
    """Look at nothing of the run any more."""
    add(sync, LEFT, 1)


@callee
def await_all(sync: Sync, threads: int) -> None:
    """Until all others have left the run, or one has failed."""
    left = look(sync, LEFT)
    while left < threads - 1 and wait(sync, LEFT, left):
        left = look(sync, LEFT)


@callee
def linger(mail: Sync, thread: int) -> bool:
    """Wait for another call for a moment: has it come?"""
    place = thread * LINE
    waiting = add(mail, place, 1) + 1
    for _ in range(mail[0]):
        if look(mail, place) != waiting:
            return True
        _pause()
    return not exchange(mail, place, waiting)


@kernel
def call(mail: Sync, called: npt.NDArray[np.bool_]) -> None:
    """Call all that are waiting: ``called`` says which threads those were."""
    for thread in range(1, len(called)):
        waiting = look(mail, thread * LINE)
        called[thread] = waiting % 2 == 1 and exchange(mail, thread * LINE, waiting)
