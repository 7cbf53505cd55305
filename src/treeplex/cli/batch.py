"""``treeplex batch``: solve many games or spots, on this machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from treeplex import api
from treeplex.cli import SOLVED, UNFINISHED
from treeplex.cli.options import AsJson, Quiet, Values, grouped
from treeplex.cli.output import byte_count, print_json, print_table, say, tell, working
from treeplex.cli.progress import LiveLine
from treeplex.errors import ParameterError
from treeplex.runs.batch.results import LOGS, ResultRow
from treeplex.runs.batch.run import Batch, BatchProgress, Forecast
from treeplex.runs.progress import duration
from treeplex.runs.schema import named

SHOWN = 20
"""Maximum number of jobs, failed or forecast, to list on the screen."""

Jobs = Annotated[
    Path,
    typer.Argument(
        metavar="JOBS.jsonl",
        help='One JSON object per line: {"id", "game" or "spot", "algorithm"?, a limit?, "storage"?, "seed"?}.',
        show_default=False,
    ),
]
OUT = named("out")[0]._replace(help="Folder for results and runs; on a cluster, one that all machines share.")
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report the memory and time that the jobs would need.")]
Workers = Annotated[int, typer.Option(help="Number of jobs at a time (0 = as many as processors and memory allow).")]
Retries = Annotated[int, typer.Option(help="Number of times to retry a job whose worker was lost.")]


@grouped
def batch(
    *,
    jobs: Jobs,
    dry_run: DryRun = False,
    workers: Workers = 0,
    retries: Retries = api.DEFAULT_RETRIES,
    values: Annotated[Values, (OUT, *named("cluster", "checkpoint_seconds"))],
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve many games or hold'em spots, on this machine or on a cluster. Repeat the command to continue."""
    if dry_run:
        with working("estimating") as more:
            forecast = api.forecast(
                jobs, cluster=values["cluster"], workers=workers, watch=lambda n: more(f"estimating: job {n:,}")
            )
        _print_forecast(forecast, as_json)
        return
    if values["out"] is None:
        raise ParameterError("The option --out is missing: give --out FOLDER for results and runs.")
    with Bar() as bar:
        result = api.batch(
            jobs,
            **values,
            workers=workers,
            retries=retries,
            watch=bar.watch,
            answer=_print if as_json else None,
        )
    raise finished(result, as_json)


def resumed(folder: Path, cluster: str | None, checkpoint_seconds: float, as_json: bool) -> typer.Exit:
    """Resume the batch in a folder; return the exit code to raise."""
    with Bar() as bar:
        result = api.resume_batch(
            folder,
            cluster=cluster,
            checkpoint_seconds=checkpoint_seconds,
            watch=bar.watch,
            answer=_print if as_json else None,
        )
    return finished(result, as_json)


def finished(result: Batch, as_json: bool) -> typer.Exit:
    """Print the result of a batch; return the exit code to raise."""
    if as_json:
        print_json(result.summary())
    else:
        _describe(result)
    return typer.Exit(SOLVED if result.whole else UNFINISHED)


class Bar(LiveLine):
    """Progress bar of a batch: jobs done, failed and running."""

    def __init__(self) -> None:
        super().__init__(
            "estimating", TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
        )

    def watch(self, progress: BatchProgress) -> None:
        """Show progress; ``batch`` calls this."""
        words = f"{progress.running} running" + (f", {progress.failed} failed" if progress.failed else "")
        if self._bar:
            self._bar.update(self._task, description=words, completed=progress.done, total=progress.total)
        elif self.is_due():
            say(f"{progress.done:,} of {progress.total:,} jobs done, {words}")


def _print(row: ResultRow) -> None:
    print_json(row._asdict())


def _describe(result: Batch) -> None:
    cut = ", interrupted: repeat the command to continue" if result.interrupted else ""
    solved = len(result.rows) - len(result.failed)
    tell(f"{solved:,} of {len(result.jobs):,} jobs done in {duration(result.seconds)}{cut}")
    if result.missed:
        tell(f"{len(result.missed):,} ended before their target: {_listed(result.missed)}")
    if result.failed:
        rows = [[row.id, row.error] for row in result.rows if row.error][:SHOWN]
        print_table(["failed", "reason"], rows)
        say(f"logs: {result.folder / LOGS}")
    say(f"results: {result.summary()['results']} (any Parquet reader), runs: {result.folder / 'runs'}")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def _print_forecast(forecast: Forecast, as_json: bool) -> None:
    if as_json:
        for record in forecast.records():
            print_json(record)
        print_json(forecast.summary())
        return
    rows = [
        [one["id"], one["game"], byte_count(one["bytes"]), str(one["threads"]), _seconds(one["seconds_estimated"])]
        for one in forecast.records()
    ]
    left = len(rows) - SHOWN
    shown = [*rows[:SHOWN], *([[f"... {left:,} more", "", "", "", ""]] if left > 0 else [])]
    print_table(["job", "game", "memory", "threads", "time (estimate)"], shown, right=(2, 3, 4))
    fields = forecast.summary()
    where = f"{forecast.cores} processors of {forecast.machines} machine{'s' * (forecast.machines > 1)}"
    tell(
        f"{fields['jobs']:,} jobs, the largest of {byte_count(fields['bytes_largest'])}; on {where}:"
        f" {_seconds(forecast.seconds)}"
    )
    if fields["jobs_without_estimate"]:
        say("the time to a target NashConv cannot be predicted; a time limit bounds it")


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"about {duration(max(seconds, 1.0))}"
