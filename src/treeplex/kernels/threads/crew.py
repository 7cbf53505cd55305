"""Work that threads share: each calls the same kernel with its own number, and kernels meet at barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types
from numba.extending import overload

from treeplex.kernels.threads.helpers import HELPERS, CrewRun
from treeplex.kernels.threads.meeting import ABORTED, Sync, await_all, barrier, leave_run, look, new_mail, new_sync

# pyright: reportUnusedFunction=false


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


def meet(worker: Worker | None) -> None:
    """Wait until all threads are here; if one never will be, go on to the end of an iteration."""


def given_up(worker: Worker | None) -> bool:
    """Has another thread failed?"""
    return worker is not None


def first(worker: Worker | None) -> bool:
    """Is this the thread that does what only one may do?"""
    return worker is None or worker.thread == 0


def last(worker: Worker | None) -> bool:
    """Is this the thread that does what only one may do, beside the first?"""
    return worker is None or worker.thread == worker.threads - 1


def part(worker: Worker | None) -> None:
    """The kernel ends: the first thread waits for the others."""


def _nothing(worker: None) -> None:
    pass


def _never(worker: None) -> bool:
    return False


def _always(worker: None) -> bool:
    return True


def _meet(worker: Worker) -> None:
    barrier(worker.sync, worker.threads)


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


def _choose(named: Callable[..., object], alone: Callable[..., object], shared: Callable[..., object]) -> None:
    """What kernels call by a name: ``alone`` if they are given no worker."""

    @overload(named, strict=False, inline="always")
    def _by_type(worker: types.Type) -> Callable[..., object]:
        return alone if isinstance(worker, types.NoneType) else shared


_choose(meet, _nothing, _meet)
_choose(given_up, _never, _given_up)
_choose(first, _always, _first)
_choose(last, _always, _last)
_choose(part, _nothing, _part)
