"""Threads that wait for work in kernels: Python threads, as kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
import time
from queue import SimpleQueue
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from treeplex.kernels.threads.meeting import ABORTED, LEFT, Sync, call


class Crew(Protocol):
    """Threads that do a piece of work together; kernels end with ``leave_run``, the first's with ``await_all``."""

    threads: int
    mail: Sync
    current: CrewRun | None

    def run(self, thread: int) -> None:
        """The part of one of the threads."""
        ...


class Helpers:
    """Threads that wait for work: to start them anew takes as long as a small subgame's iteration.

    Threads of one run meet at barriers, so ``busy`` keeps two runs from having half of them each.
    """

    def __init__(self) -> None:
        self.busy, self.making = threading.RLock(), threading.Lock()
        self._given: list[SimpleQueue[tuple[Crew, int, CrewRun]]] = []

    def run(self, crew: Crew, sync: Sync, keep: object) -> None:
        """A crew's run, this thread being its first; ``keep``: what tables have the addresses of."""
        run = CrewRun(sync, keep, np.zeros(crew.threads, np.bool_), [], [])
        with self.busy:
            while len(self._given) < crew.threads - 1:
                given: SimpleQueue[tuple[Crew, int, CrewRun]] = SimpleQueue()
                threading.Thread(target=_serve, args=(given,), name="treeplex", daemon=True).start()
                self._given.append(given)
            crew.current = run
            try:
                call(crew.mail, run.called)
                for k in np.flatnonzero(~run.called[1:]).tolist():
                    run.queued.append(k + 1)
                    self._given[k].put((crew, k + 1, run))
                crew.run(0)
            except BaseException:
                sync[ABORTED] = 1
                raise
            finally:
                if not run.over():
                    _NEVER_FREED.append(run)  # better than arrays that a thread may still look at
            if run.failed:
                raise run.failed[0]


class CrewRun(NamedTuple):
    """One run of a crew."""

    sync: Sync
    keep: object
    called: npt.NDArray[np.bool_]  # threads that were waiting
    queued: list[int]  # threads that had to be woken
    failed: list[BaseException]  # of threads that were woken

    def over(self) -> bool:
        """Wait until helpers have left, as they have in a run that ends well; for a second at most if one failed."""
        for _ in range(1000):
            if int(self.sync[LEFT]) + len(self.failed) >= int(self.called.sum()) + len(self.queued):
                return True
            time.sleep(0.001)
        return False


_NEVER_FREED: list[CrewRun] = []


def _serve(given: SimpleQueue[tuple[Crew, int, CrewRun]]) -> None:
    while True:
        crew, k, run = given.get()
        if crew.current is not run:  # which was given up before this thread woke
            continue
        sync, failed = run.sync, run.failed
        del run  # it is kept by the caller, and this thread may stay for other runs
        try:
            crew.run(k)
        except BaseException as error:
            failed.append(error)
            sync[ABORTED] = 1
        del crew, sync, failed


HELPERS = Helpers()


def _in_child() -> None:
    """A child has none of its parent's threads: nobody waits, and whoever held a lock is gone."""
    HELPERS.__init__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
