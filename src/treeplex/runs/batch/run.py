"""Run a batch: results stay, lost jobs are retried, and a job that fails does not stop the others."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.arrow import Table
from treeplex.errors import ParameterError
from treeplex.files import is_file, parse_json, replace_text
from treeplex.runs.batch.jobs import BatchJob, job_of
from treeplex.runs.batch.local import Ended, Pool, log_of
from treeplex.runs.batch.planning import Machine, Need, Task, longest, tasks
from treeplex.runs.batch.results import RESULTS, ResultRow, missed, read_row, row_of, table_of, write_row
from treeplex.runs.folder_lock import folder_of
from treeplex.runs.schema import LIMITS
from treeplex.system import ctrl_c

KIND: Final = "batch"
JOBS: Final = "jobs.jsonl"
WAIT: Final = 0.2  # seconds to wait for the next task to end
LEAVE: Final = 60.0  # seconds that workers have to stop when asked to


class BatchProgress(NamedTuple):
    """Numbers of jobs that a progress bar shows."""

    done: int
    failed: int
    running: int
    total: int


@dataclass(frozen=True)
class Batch:
    """Result of a batch: its jobs, and their rows."""

    folder: Path
    jobs: Sequence[BatchJob]
    rows: Sequence[ResultRow]  # of those that have ended, in the order of the jobs
    seconds: float
    interrupted: bool = False

    @property
    def table(self) -> Table:
        """One row per job: the fields of its result, and its error."""
        return table_of(list(self.rows))

    @property
    def failed(self) -> list[str]:
        """Jobs that ended with an error."""
        return [row.id for row in self.rows if row.error is not None]  # pyright: ignore[reportUnnecessaryComparison]

    @property
    def missed(self) -> list[str]:
        """Jobs that ended before their target."""
        jobs = {job.id: job for job in self.jobs}
        return [row.id for row in self.rows if missed(jobs[row.id], row)]

    @property
    def whole(self) -> bool:
        """Whether every job met its target, or a limit if it has no target."""
        return len(self.rows) == len(self.jobs) and not self.failed and not self.missed

    def summary(self) -> dict[str, Any]:
        """Return the fields that ``--json`` prints last."""
        return {
            "jobs": len(self.jobs),
            "ended": len(self.rows),
            "failed": self.failed,
            "missed": self.missed,
            "status": "interrupted" if self.interrupted else "failed" if self.failed else "done",
            "seconds": self.seconds,
            "folder": str(self.folder),
            "results": str(self.folder / RESULTS),
        }


@dataclass(frozen=True)
class Forecast:
    """Estimated memory, threads and time of a batch."""

    needs: Sequence[Need]
    tasks: Sequence[Task]
    cores: int
    machines: int

    @property
    def seconds(self) -> float | None:
        """Estimated seconds of the whole batch, if every processor is busy; None if unknown."""
        return longest(self.needs, self.tasks, self.cores)

    def summary(self) -> dict[str, Any]:
        """Return the fields that ``--json`` prints last."""
        known = [need.seconds for need in self.needs if need.seconds is not None]
        return {
            "jobs": len(self.needs),
            "bytes_largest": max(need.bytes for need in self.needs),
            "core_seconds_known": sum(known),
            "jobs_without_estimate": len(self.needs) - len(known),
            "cores": self.cores,
            "machines": self.machines,
            "seconds_estimated": self.seconds,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one record per job."""
        return [
            {
                "id": need.job.id,
                "game": need.name,
                "bytes": need.bytes,
                "threads": task.threads,
                "seconds_estimated": None if need.seconds is None else need.seconds / task.threads,
            }
            for need, task in zip(self.needs, self.tasks, strict=True)
        ]


def forecast(all_needs: Sequence[Need], machines: Sequence[Machine]) -> Forecast:
    """Estimate a batch on these machines; the threads of a job fit the smallest one."""
    least = Machine(min(machine.cores for machine in machines), min(machine.memory for machine in machines))
    every = sum(machine.cores for machine in machines)
    return Forecast(all_needs, tasks(all_needs, least, max(1, every // max(least.cores, 1))), every, len(machines))


def is_batch(folder: str | Path, options: Mapping[str, Any]) -> bool:
    """Return whether this is the folder of a batch; raise if the options to resume it have limits."""
    if not is_file(folder_of(folder) / f"{KIND}.json"):
        return False
    if any(options[each.name] is not None for each in LIMITS):
        raise ParameterError(
            "The jobs of a batch have their own limits. To change them, run the batch again with other jobs."
        )
    return True


def recorded(out: Path) -> list[BatchJob]:
    """Read the jobs of a batch folder."""
    try:
        lines = (out / JOBS).read_text(encoding="utf-8").splitlines()
        return [job_of(parse_json(line)) for line in lines]
    except (OSError, ValueError) as error:
        raise ParameterError(
            f"The list of jobs in {out} is missing or damaged; run the batch again as before."
        ) from error


def check_same(out: Path, jobs: Sequence[BatchJob]) -> None:
    """Raise if this folder has a job of the same id with another game, algorithm or option."""
    before = {job.id: job for job in recorded(out)} if (out / JOBS).is_file() else {}
    for job in jobs:
        if job.id in before and not job.same_run(before[job.id]):
            raise ParameterError(
                f"The folder {out} holds a job {job.id!r} with another game, algorithm or option; give it another id,"
                " or choose another folder."
            )


def record(out: Path, jobs: Sequence[BatchJob]) -> None:
    """Write the list of jobs before any of them runs."""
    replace_text(out / JOBS, "".join(job.text + "\n" for job in jobs))


def left_of(out: Path, jobs: Sequence[BatchJob]) -> list[BatchJob]:
    """Return the jobs that have not ended; a failed job is tried again."""
    rows = {job.id: read_row(out, job) for job in jobs}
    return [job for job in jobs if (row := rows[job.id]) is None or row.error]


def run_batch(
    out: Path,
    jobs: Sequence[BatchJob],
    planned: Sequence[Task],
    pool: Pool,
    retries: int,
    watch: Callable[[BatchProgress], None] | None = None,
    answer: Callable[[ResultRow], None] | None = None,
) -> Batch:
    """Run the ``planned`` tasks of ``jobs``; the first Ctrl-C stops all so that they can be continued.

    A lost worker is replaced, ``retries`` times per job; its job continues from its last checkpoint.
    """
    began, waiting, lost = time.perf_counter(), deque(planned), Counter[str]()
    done, failed, running = len(jobs) - len(planned), 0, 0
    with ctrl_c() as pressed:
        pressed.answerable = True
        until = 0.0
        while running or (waiting and not pressed.is_set()):
            while waiting and not pressed.is_set() and pool.takes(waiting[0]):
                pool.submit(waiting.popleft())
                running += 1
            if watch is not None:
                watch(BatchProgress(done, failed, running, len(jobs)))
            if pressed.is_set():
                if not until:
                    pool.stop()
                    until = time.monotonic() + LEAVE
                elif time.monotonic() > until:
                    break
            for ended in pool.ended(WAIT):
                running -= 1
                if ended.stopped:
                    continue
                row = None if ended.lost else read_row(out, ended.task.job)
                if row is None:
                    lost[ended.task.job.id] += 1
                    if lost[ended.task.job.id] <= retries:
                        waiting.append(ended.task)
                        continue
                    row = _abandoned(out, ended, lost[ended.task.job.id])
                failed += row.error is not None  # pyright: ignore[reportUnnecessaryComparison]
                done += 1
                _settle(out, ended.task, row)
                if answer is not None:
                    answer(row)
        cut = pressed.is_set()
    rows = [row for job in jobs if (row := read_row(out, job)) is not None]
    return Batch(out, jobs, rows, time.perf_counter() - began, cut and len(rows) < len(jobs))


def _abandoned(out: Path, ended: Ended, times: int) -> ResultRow:
    why = ended.lost or "its worker left no result"
    row = row_of(ended.task.job, None, f"Given up after {times} attempt{'s' * (times > 1)}: {why}.")
    write_row(out, row)
    return row


def _settle(out: Path, task: Task, row: ResultRow) -> None:
    """Keep the log of a failed job, with the reason at its end; delete every other log."""
    path = log_of(out, task)
    if row.error:
        with path.open("a", encoding="utf-8") as log:
            log.write(f"{row.error}\n")
    else:
        path.unlink(missing_ok=True)
