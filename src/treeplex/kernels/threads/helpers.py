"""Threads that wait for kernels to run. They are Python threads, because kernels release the interpreter lock."""

from __future__ import annotations

import os
import threading
import time
from queue import SimpleQueue
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from treeplex.kernels.threads.barrier import ABORTED, LEFT, Sync, call


class ThreadTeam(Protocol):
    """Threads that do a piece of work together.

    Their kernels end with ``leave_run``, and that of the first thread with ``await_all``.
    """

    threads: int
    wake_flags: Sync
    current: TeamRun | None

    def run(self, thread: int) -> None:
        """Do the work of one thread of the team."""
        ...


class Helpers:
    """Threads that wait for work, because starting them takes as long as an iteration of a small subgame.

    Threads of one run wait for each other at barriers. ``busy`` prevents two runs from holding half of them each.
    """

    def __init__(self) -> None:
        self.busy, self.making = threading.RLock(), threading.Lock()
        self._queues: list[SimpleQueue[tuple[ThreadTeam, int, TeamRun]]] = []

    def run(self, team: ThreadTeam, sync: Sync, keep: object) -> None:
        """Run a team with this thread as its first. ``keep`` holds the objects whose addresses are in tables."""
        run = TeamRun(sync, keep, np.zeros(team.threads, np.bool_), [], [])
        with self.busy:
            while len(self._queues) < team.threads - 1:
                queue: SimpleQueue[tuple[ThreadTeam, int, TeamRun]] = SimpleQueue()
                threading.Thread(target=_serve, args=(queue,), name="treeplex", daemon=True).start()
                self._queues.append(queue)
            team.current = run
            try:
                call(team.wake_flags, run.called)
                for k in np.flatnonzero(~run.called[1:]).tolist():
                    run.queued.append(k + 1)
                    self._queues[k].put((team, k + 1, run))
                team.run(0)
            except BaseException:
                sync[ABORTED] = 1
                raise
            finally:
                if not run.over():
                    _NEVER_FREED.append(run)  # a thread may still read its arrays
            if run.failed:
                raise run.failed[0]


class TeamRun(NamedTuple):
    """One run of a team of threads."""

    sync: Sync
    keep: object
    called: npt.NDArray[np.bool_]  # threads that were waiting
    queued: list[int]  # threads that had to be woken
    failed: list[BaseException]  # of threads that were woken

    def over(self) -> bool:
        """Wait until helpers have left, and return whether they have.

        In a run that succeeds they have left already. After a failure this waits for a second at most.
        """
        for _ in range(1000):
            if int(self.sync[LEFT]) + len(self.failed) >= int(self.called.sum()) + len(self.queued):
                return True
            time.sleep(0.001)
        return False


_NEVER_FREED: list[TeamRun] = []


def _serve(queue: SimpleQueue[tuple[ThreadTeam, int, TeamRun]]) -> None:
    while True:
        team, k, run = queue.get()
        if team.current is not run:  # the run was abandoned before this thread woke
            continue
        sync, failed = run.sync, run.failed
        del run  # the caller holds it, and this thread may stay for other runs
        try:
            team.run(k)
        except BaseException as error:
            failed.append(error)
            sync[ABORTED] = 1
        del team, sync, failed


HELPERS = Helpers()


def _in_child() -> None:
    """Start anew in a child process: it has none of its parent's threads, neither waiting ones nor owners of locks."""
    HELPERS.__init__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
