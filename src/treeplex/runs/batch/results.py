"""Results of jobs: one row in a Parquet dataset, one file per job, so that jobs never block each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.arrow import ArrowError, Table, records, write_parquet
from treeplex.arrow import read_row as read_parquet_row
from treeplex.runs.batch.jobs import BatchJob
from treeplex.runs.solution import Solution
from treeplex.runs.status import SOLVED

RESULTS: Final = "results"
RUNS: Final = "runs"
LOGS: Final = "logs"


class ResultRow(NamedTuple):
    """Fields of ``solve``'s result for one job; empty where there is none."""

    id: str
    folder: str  # relative to that of the batch
    error: str
    game: str
    algorithm: str
    iterations: int
    nodes_touched: int
    seconds: float
    value: float
    nash_conv: float
    exploitability: float
    status: str
    backend: str
    threads: int
    storage: str
    seed: int
    iterate: str
    exploitability_percent_of_pot: float  # of a hold'em spot, like the next two
    ev_oop: float
    ev_ip: float
    job: str  # the job as JSON


def row_of(job: BatchJob, solution: Solution | None, error: str | None = None) -> ResultRow:
    """Build the row of a run that ended, or of one that failed."""
    fields: dict[str, Any] = {} if solution is None else solution.summary()
    if "ev" in fields:
        fields["ev_oop"], fields["ev_ip"] = fields["ev"]
    own = {"id": job.id, "folder": f"{RUNS}/{job.id}", "error": error, "job": job.text}
    return ResultRow(*((fields | own).get(name) for name in ResultRow._fields))  # pyright: ignore[reportArgumentType]


def write_row(out: Path, row: ResultRow) -> None:
    """Write a row into the dataset, in place of an older one of this job."""
    (out / RESULTS).mkdir(exist_ok=True)
    write_parquet(records(ResultRow, [row]), out / RESULTS / f"{row.id}.parquet")


def read_row(out: Path, job: BatchJob) -> ResultRow | None:
    """Read the row of this very job; None if it has not ended."""
    path = out / RESULTS / f"{job.id}.parquet"
    if not path.is_file():
        return None
    try:
        row = ResultRow(**read_parquet_row(path, ResultRow))
    except (OSError, ValueError, TypeError, ArrowError):  # written by another version: run the job again
        return None
    return row if row.job == job.text else None


def missed(job: BatchJob, row: ResultRow) -> bool:
    """Return whether a job ended before its target."""
    return row.error is None and job.targeted and row.status != SOLVED  # pyright: ignore[reportUnnecessaryComparison]


def table_of(rows: list[ResultRow]) -> Table:
    """Return the rows as one table."""
    return records(ResultRow, rows)
