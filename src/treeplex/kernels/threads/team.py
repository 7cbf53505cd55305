"""Teams of threads: each calls the same kernel with its own number, and kernels wait for each other at barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from treeplex.kernels.jit import specialised
from treeplex.kernels.threads.barrier import (
    ABORTED,
    Sync,
    await_all,
    barrier,
    leave_run,
    new_sync,
    new_wake_flags,
    read,
)
from treeplex.kernels.threads.helpers import HELPERS, TeamRun


class Worker(NamedTuple):
    """A thread of a team. Kernels get None instead if there is only one thread."""

    thread: int
    threads: int
    sync: Sync


class SharedWork:
    """A function of a worker, and the threads that call it."""

    def __init__(self, threads: int, work: Callable[[Worker], object]) -> None:
        self.threads, self.wake_flags = threads, new_wake_flags(threads, 0)
        self.current: TeamRun | None = None
        self.sync, self._work = new_sync(), work

    def run(self, thread: int) -> None:
        """Do the work of one thread of the team."""
        self._work(Worker(thread, self.threads, self.sync))


def run_threads(threads: int, work: Callable[[Any], object]) -> None:
    """Call ``work`` with a worker on each of several threads, or with None on this one."""
    if threads == 1:
        work(None)
    else:
        shared = SharedWork(threads, work)
        HELPERS.run(shared, shared.sync, keep=work)


# --- callable inside kernels -----------------------------------------------------------------------------------------


def _team_barrier(worker: Worker) -> None:
    barrier(worker.sync, worker.threads)


def _thread_of(worker: Worker) -> int:
    return worker.thread


def _aborted(worker: Worker) -> bool:
    return read(worker.sync, ABORTED) != 0


def _first(worker: Worker) -> bool:
    return worker.thread == 0


def _last(worker: Worker) -> bool:
    return worker.thread == worker.threads - 1


def _leave_team(worker: Worker) -> None:
    if worker.thread == 0:
        await_all(worker.sync, worker.threads)
    else:
        leave_run(worker.sync)


@specialised("worker", {Worker: _team_barrier}, inline="always")
def team_barrier(worker: Worker | None) -> None:
    """Wait until all threads have arrived; if one has failed, continue to the end of the iteration."""


@specialised("worker", {Worker: _thread_of}, inline="always")
def thread_of(worker: Worker | None) -> int:
    """Return the number of this thread."""
    return 0


@specialised("worker", {Worker: _aborted}, inline="always")
def aborted(worker: Worker | None) -> bool:
    """Return whether another thread has failed."""
    return False


@specialised("worker", {Worker: _first}, inline="always")
def first(worker: Worker | None) -> bool:
    """Return whether this is the first thread, which does what only one may do."""
    return True


@specialised("worker", {Worker: _last}, inline="always")
def last(worker: Worker | None) -> bool:
    """Return whether this is the last thread, which does a second task that only one may do."""
    return True


@specialised("worker", {Worker: _leave_team}, inline="always")
def leave_team(worker: Worker | None) -> None:
    """End the kernel: the first thread waits for the others."""
