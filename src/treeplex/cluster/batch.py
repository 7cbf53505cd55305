"""Run a batch on this machine or on a cluster; every error in its jobs is raised before the first one runs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from treeplex.cluster.connect import attached
from treeplex.cluster.tasks import Tasks, check_shared
from treeplex.errors import non_negative
from treeplex.runs.batch.jobs import BatchJob
from treeplex.runs.batch.local import Processes
from treeplex.runs.batch.planning import needs
from treeplex.runs.batch.results import ResultRow
from treeplex.runs.batch.run import (
    KIND,
    Batch,
    BatchProgress,
    Forecast,
    check_same,
    forecast,
    left_of,
    record,
    run_batch,
)
from treeplex.runs.folder_lock import claimed_for
from treeplex.runs.schema import Options


def carry_out_batch(
    jobs: list[BatchJob],
    out: Path,
    cluster: str | None,
    workers: int,
    retries: int,
    checkpoint_seconds: float,
    watch: Callable[[BatchProgress], None] | None,
    answer: Callable[[ResultRow], None] | None,
) -> Batch:
    """Run the jobs that have not ended yet, in the folder ``out``."""
    workers, again = non_negative("workers", workers), non_negative("retries", retries)
    Options(checkpoint_seconds=checkpoint_seconds)
    folder = out.absolute()
    check_same(folder, jobs)
    all_needs = needs(left_of(folder, jobs))
    with _pool(folder, cluster, workers, checkpoint_seconds) as pool:
        planned = forecast(all_needs, pool.machines()).tasks
        if isinstance(pool, Tasks):
            pool.check(planned)
        with claimed_for(folder, KIND, {}):
            if isinstance(pool, Tasks):
                check_shared(pool.ray, folder)
            record(folder, jobs)
            return run_batch(folder, jobs, planned, pool, again, watch, answer)


def forecast_batch(
    jobs: Sequence[BatchJob], cluster: str | None, workers: int, watch: Callable[[int], None] | None
) -> Forecast:
    """Estimate memory, threads and time of the jobs; nothing is solved."""
    all_needs = needs(jobs, watch)
    with _pool(Path(), cluster, non_negative("workers", workers)) as pool:
        return forecast(all_needs, pool.machines())


@contextmanager
def _pool(
    out: Path, cluster: str | None, workers: int, checkpoint_seconds: float = 30.0
) -> Generator[Processes | Tasks]:
    """Open the workers: processes of this machine, or tasks of a cluster."""
    if cluster is None:
        with Processes(out, workers, checkpoint_seconds) as pool:
            yield pool
    else:
        with attached(cluster) as ray:
            yield Tasks(ray, out, workers, checkpoint_seconds)
