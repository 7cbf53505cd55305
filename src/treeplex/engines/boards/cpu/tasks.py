"""Tasks to claim and boards to announce, for threads that pass over the same subgame: see ``treeplex.kernels.threads``.

After the numbers of the barrier, ``sync`` has two numbers per board: the times it was announced, and the total of its
finished parts. Then it has one number per task, contiguous for each thread: the passes in which it was claimed.

Tasks belong to threads, so that in every pass the same core uses the same numbers, which may still be in its cache. A
thread that has finished its own tasks takes those left by others.
"""

from __future__ import annotations

from treeplex.arrays import LINE
from treeplex.kernels.jit import callee
from treeplex.kernels.threads.barrier import FREE, Sync, add, exchange, new_sync, read, wait


def new_board_sync(boards: int, tasks: int, threads: int) -> Sync:
    """Return a ``sync`` in which no thread has arrived, no task is claimed and no board announced."""
    return new_sync(claims_from(boards) - FREE + threads * claims_each(tasks, threads))


def claims_from(boards: int) -> int:
    """Index of the first claim in ``sync``."""
    return FREE + (2 * boards // LINE + 1) * LINE


def claims_each(tasks: int, threads: int) -> int:
    """Number of entries for the claims of one thread's tasks: whole cache lines."""
    return (tasks // threads // LINE + 1) * LINE


_from, _each = callee(claims_from), callee(claims_each)


@callee
def claim(sync: Sync, boards: int, task: int, tasks: int, threads: int, before: int) -> bool:
    """Try to claim a task after ``before`` earlier passes. Return whether it was still free."""
    index = _from(boards) + task % threads * _each(tasks, threads) + task // threads
    return read(sync, index) == before and exchange(sync, index, before)


@callee
def announce(sync: Sync, board: int) -> None:
    """Announce that the reach of a board is ready for other threads, in one more pass."""
    add(sync, FREE + 2 * board, 1)


@callee
def await_board(sync: Sync, board: int, before: int) -> bool:
    """Wait until a board is announced, after ``before`` earlier passes. Return False if it never will be."""
    return wait(sync, FREE + 2 * board, before)


@callee
def finish_part(sync: Sync, board: int, parts: int) -> bool:
    """Count one more finished part of a board. Return whether it was the last of ``parts``."""
    return (add(sync, FREE + 2 * board + 1, 1) + 1) % parts == 0
