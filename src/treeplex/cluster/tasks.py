"""Run jobs of a batch as tasks of a Ray cluster, with the memory and the threads that each needs."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from treeplex.cluster.connect import ClusterError, ClusterNode, cause, nodes, on_every_node
from treeplex.cluster.connect import task as remote
from treeplex.errors import TreeplexError
from treeplex.files import PREFIX, SUFFIX
from treeplex.runs.batch.local import Ended, log_of
from treeplex.runs.batch.planning import Machine, Task
from treeplex.runs.batch.worker import work

AHEAD: Final = 2  # submitted tasks per processor, so that the next one is there before its worker needs it


class Tasks:
    """A pool of workers of a cluster, like ``runs.batch.local.Pool``."""

    def __init__(self, ray: ModuleType, out: Path, workers: int = 0, checkpoint_seconds: float = 30.0) -> None:
        self.ray, self._out, self._every, self._workers = ray, out, checkpoint_seconds, workers
        self._nodes = nodes(ray)
        cores = sum(node.cpus for node in self._nodes)
        self._most = workers or max(1, int(AHEAD * cores))
        self._running: dict[Any, Task] = {}
        self._stopping = False

    def machines(self) -> list[Machine]:
        """As ``Pool``: machines with at least one processor."""
        machines = [Machine(int(node.cpus), node.memory) for node in self._nodes if node.cpus >= 1]
        if not machines:
            raise ClusterError("The cluster has no processors; start its nodes with --num-cpus.")
        return machines

    def check(self, planned: Sequence[Task]) -> None:
        """Raise if a task fits on no node: Ray would wait for such a node forever."""
        for task in planned:
            if not any(_fits(task, node) for node in self._nodes):
                most = max(node.memory for node in self._nodes)
                raise ClusterError(
                    f"The job {task.job.id!r} needs {task.bytes / 2**30:.1f} GiB and {task.threads} threads, which"
                    f" no node has. The largest has {most / 2**30:.1f} GiB; add a node, or choose a storage with fewer"
                    " bits."
                )

    def takes(self, task: Task) -> bool:
        """As ``Pool``."""
        return len(self._running) < self._most

    def submit(self, task: Task) -> None:
        """As ``Pool``. Ray itself does not retry: the batch counts attempts and reports them."""
        start = remote(self.ray, work, num_cpus=task.threads, memory=task.bytes, max_retries=0)
        self._running[start(task.job.fields, str(self._out), task.threads, self._every)] = task

    def ended(self, timeout: float) -> list[Ended]:
        """As ``Pool``."""
        if not self._running:
            return []
        waiting = list(self._running)
        ready, _ = self.ray.wait(waiting, num_returns=1, timeout=timeout)
        more, _ = self.ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return [self._end(reference) for reference in dict.fromkeys([*ready, *more])]

    def stop(self) -> None:
        """As ``Pool``: workers are interrupted as by Ctrl-C, and save what they have."""
        self._stopping = True
        for reference in self._running:
            self.ray.cancel(reference, force=False)

    def _end(self, reference: object) -> Ended:
        task = self._running.pop(reference)
        try:
            whole = self.ray.get(reference)
        except Exception as error:
            if self._stopping:
                return Ended(task, "it was interrupted", True)
            original = cause(error)
            with log_of(self._out, task).open("a", encoding="utf-8") as log:
                log.write("".join(traceback.format_exception_only(error)))
            if isinstance(original, ClusterError):  # a worker of another version: retrying is useless
                raise original from error
            return Ended(task, _words(original))
        return Ended(task) if whole else Ended(task, "it was interrupted", self._stopping)


def check_shared(ray: ModuleType, out: Path) -> None:
    """Raise if a node does not see the folder in which the runs are saved."""
    marker = out / f"{PREFIX}shared{SUFFIX}"
    marker.write_text("", encoding="utf-8")
    try:
        for node, seen in on_every_node(ray, _sees, str(marker)).items():
            if seen is not True:
                raise ClusterError(
                    f"The node {node.host} does not see the folder {out}; give --out a folder that all machines share."
                )
    finally:
        marker.unlink(missing_ok=True)


def _sees(path: str) -> bool:
    return Path(path).is_file()


def _fits(task: Task, node: ClusterNode) -> bool:
    return task.threads <= node.cpus and task.bytes <= node.memory


def _words(error: Exception) -> str:
    if isinstance(error, TreeplexError):
        return str(error).rstrip(".")
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"its worker was lost ({type(error).__name__}: {first.strip():.120})"
