"""Run jobs on this machine, each in its own process, as many at a time as processors and memory allow."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from treeplex.compile.memory import available
from treeplex.runs.batch.planning import Machine, Task
from treeplex.runs.batch.results import LOGS
from treeplex.system import apart, cores


class Ended(NamedTuple):
    """A task that has ended."""

    task: Task
    lost: str = ""  # why its worker ended before the job did; empty: the job's row has the result
    stopped: bool = False  # whether it was asked to stop


class Pool(Protocol):
    """Workers that run tasks."""

    def machines(self) -> list[Machine]:
        """Return the machines of the workers."""
        ...

    def takes(self, task: Task) -> bool:
        """Return whether there is room for one more task."""
        ...

    def submit(self, task: Task) -> None:
        """Start the task on a worker."""
        ...

    def ended(self, timeout: float) -> list[Ended]:
        """Return the tasks that have ended, after waiting at most ``timeout`` seconds for one."""
        ...

    def stop(self) -> None:
        """Ask all tasks to stop, so that they can be continued."""
        ...


class JobWorker:
    """A process that runs one job after the other, and puts its replies into a queue."""

    def __init__(self, messages: queue.SimpleQueue[tuple[JobWorker, str]]) -> None:
        self.task: Task | None = None
        self._process = subprocess.Popen(  # its own session: only the driver passes Ctrl-C on
            [sys.executable, "-m", "treeplex.runs.batch.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            **apart(),
        )
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()

    def begin(self, task: Task, message: dict[str, Any]) -> None:
        """Send a task to the process."""
        self.task = task
        with suppress(OSError):  # it has already ended, which the queue reports
            self._input.write(json.dumps(message) + "\n")
            self._input.flush()

    def close(self) -> None:
        """Close the input, so that the process saves what it has and ends."""
        with suppress(OSError):
            self._input.close()

    def kill(self) -> None:
        """Kill the process at once."""
        self._process.kill()
        self._process.wait()
        self.close()

    def how(self) -> str:
        """Return how the process ended."""
        code = self._process.wait()
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"

    @property
    def _input(self) -> IO[str]:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        return self._process.stdin

    def _listen(self, messages: queue.SimpleQueue[tuple[JobWorker, str]]) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with self._process.stdout as lines:
            for line in lines:
                messages.put((self, line))
        messages.put((self, ""))


class Processes:
    """A pool of processes on this machine."""

    def __init__(self, out: Path, workers: int = 0, checkpoint_seconds: float = 30.0) -> None:
        self._out, self._every = out, checkpoint_seconds
        self._cores, self._most, self._memory = cores(), workers or cores(), available()
        self._idle: list[JobWorker] = []
        self._busy: list[JobWorker] = []
        self._messages: queue.SimpleQueue[tuple[JobWorker, str]] = queue.SimpleQueue()
        self._stopping = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *raised: object) -> None:
        for worker in self._idle:
            worker.close()
        for worker in [*self._idle, *self._busy]:
            worker.kill()

    def machines(self) -> list[Machine]:
        """As ``Pool``."""
        return [Machine(min(self._cores, self._most), float(self._memory))]

    def takes(self, task: Task) -> bool:
        """As ``Pool``: always one job, whatever it needs."""
        running = [worker.task for worker in self._busy if worker.task is not None]
        if not running:
            return True
        if len(running) >= self._most or sum(other.threads for other in running) + task.threads > self._cores:
            return False
        return sum(other.bytes for other in running) + task.bytes <= self._memory

    def submit(self, task: Task) -> None:
        """As ``Pool``."""
        worker = self._idle.pop() if self._idle else JobWorker(self._messages)
        self._busy.append(worker)
        message = {
            "fields": task.job.fields,
            "out": str(self._out),
            "threads": task.threads,
            "checkpoint_seconds": self._every,
            "log": str(log_of(self._out, task)),
        }
        worker.begin(task, message)

    def ended(self, timeout: float) -> list[Ended]:
        """As ``Pool``."""
        over: list[Ended] = []
        with suppress(queue.Empty):
            while True:
                worker, line = self._messages.get(timeout=0.0 if over else timeout)
                task, worker.task = worker.task, None
                if worker in self._busy:
                    self._busy.remove(worker)
                if line:
                    self._idle.append(worker)
                elif worker in self._idle:
                    self._idle.remove(worker)
                if task is not None:
                    over.append(self._end(task, worker, line.strip()))
        return over

    def stop(self) -> None:
        """As ``Pool``."""
        self._stopping = True
        for worker in self._busy:
            worker.close()

    def _end(self, task: Task, worker: JobWorker, line: str) -> Ended:
        if line == "1":
            return Ended(task)
        if self._stopping or line:
            return Ended(task, "it was interrupted", self._stopping)
        return Ended(task, f"its process {worker.how()}")


def log_of(out: Path, task: Task) -> Path:
    """Return the path of the log of a job's workers."""
    (out / LOGS).mkdir(exist_ok=True)
    return out / LOGS / f"{task.job.id}.log"
