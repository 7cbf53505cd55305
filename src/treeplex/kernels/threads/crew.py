"""Work that threads share: each calls the same kernel with its own number, and kernels meet at barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from treeplex.kernels.jit import specialised
from treeplex.kernels.threads.helpers import HELPERS, CrewRun
from treeplex.kernels.threads.meeting import ABORTED, Sync, await_all, barrier, leave_run, look, new_mail, new_sync


class Worker(NamedTuple):
    """One of the threads that share a piece of work; kernels are given None where there is one alone."""

    thread: int
    threads: int
    sync: Sync


class SharedWork:
    """A function of a worker, and the threads that call it."""

    def __init__(self, threads: int, work: Callable[[Worker], object]) -> None:
        self.threads, self.mail = threads, new_mail(threads, 0)
        self.current: CrewRun | None = None
        self.sync, self._work = new_sync(), work

    def run(self, thread: int) -> None:
        """As one of the threads."""
        self._work(Worker(thread, self.threads, self.sync))


def share(threads: int, work: Callable[[Any], object]) -> None:
    """Call ``work`` with a worker on each of so many threads, or with None on this one."""
    if threads == 1:
        work(None)
    else:
        shared = SharedWork(threads, work)
        HELPERS.run(shared, shared.sync, keep=work)


# --- callable inside kernels -----------------------------------------------------------------------------------------


def _meet(worker: Worker) -> None:
    barrier(worker.sync, worker.threads)


def _thread_of(worker: Worker) -> int:
    return worker.thread


def _given_up(worker: Worker) -> bool:
    return look(worker.sync, ABORTED) != 0


def _first(worker: Worker) -> bool:
    return worker.thread == 0


def _last(worker: Worker) -> bool:
    return worker.thread == worker.threads - 1


def _part(worker: Worker) -> None:
    if worker.thread == 0:
        await_all(worker.sync, worker.threads)
    else:
        leave_run(worker.sync)


@specialised("worker", {Worker: _meet}, inline="always")
def meet(worker: Worker | None) -> None:
    """Wait until all threads are here; if one never will be, go on to the end of an iteration."""


@specialised("worker", {Worker: _thread_of}, inline="always")
def thread_of(worker: Worker | None) -> int:
    """The number of this thread."""
    return 0


@specialised("worker", {Worker: _given_up}, inline="always")
def given_up(worker: Worker | None) -> bool:
    """Has another thread failed?"""
    return False


@specialised("worker", {Worker: _first}, inline="always")
def first(worker: Worker | None) -> bool:
    """Is this the thread that does what only one may do?"""
    return True


@specialised("worker", {Worker: _last}, inline="always")
def last(worker: Worker | None) -> bool:
    """Is this the thread that does what only one may do, beside the first?"""
    return True


@specialised("worker", {Worker: _part}, inline="always")
def part(worker: Worker | None) -> None:
    """The kernel ends: the first thread waits for the others."""
