"""Tasks to claim and boards to announce, for threads that pass over the same subgame: see ``treeplex.kernels.threads``.

After the numbers of the barrier ``sync`` has two per board: how often it was announced, and how many of its parts have
been finished in all; then one per task, those of one thread side by side: in how many passes it has been claimed.

Tasks belong to threads, so that in every pass the same numbers are wanted by the same core, which may have kept them;
who has finished its own takes what is left of others'.
"""

from __future__ import annotations

from treeplex.arrays import LINE
from treeplex.kernels.jit import callee
from treeplex.kernels.threads.meeting import FREE, Sync, add, exchange, look, new_sync, wait


def new_board_sync(boards: int, tasks: int, threads: int) -> Sync:
    """Nobody has arrived; no task has been taken, nothing announced."""
    return new_sync(claims_from(boards) - FREE + threads * claims_each(tasks, threads))


def claims_from(boards: int) -> int:
    """Where claims start."""
    return FREE + (2 * boards // LINE + 1) * LINE


def claims_each(tasks: int, threads: int) -> int:
    """Places for the claims of one thread's tasks: whole cache lines."""
    return (tasks // threads // LINE + 1) * LINE


_from, _each = callee(claims_from), callee(claims_each)


@callee
def claim(sync: Sync, boards: int, task: int, tasks: int, threads: int, before: int) -> bool:
    """Take a task, after ``before`` earlier passes: was it still to be had?"""
    index = _from(boards) + task % threads * _each(tasks, threads) + task // threads
    return look(sync, index) == before and exchange(sync, index, before)


@callee
def announce(sync: Sync, board: int) -> None:
    """What other threads need of a board is there, for one more pass."""
    add(sync, FREE + 2 * board, 1)


@callee
def await_board(sync: Sync, board: int, before: int) -> bool:
    """Until a board has been announced, after ``before`` earlier passes; False if it never will be."""
    return wait(sync, FREE + 2 * board, before)


@callee
def finished(sync: Sync, board: int, parts: int) -> bool:
    """One more part of a board is done: was it the last of ``parts``?"""
    return (add(sync, FREE + 2 * board + 1, 1) + 1) % parts == 0
