"""Run the algorithms of a comparison one after the other in this process, or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import build
from treeplex.arrow import Table
from treeplex.cluster.connect import attached
from treeplex.cluster.sweep import swept
from treeplex.cluster.tasks import check_shared
from treeplex.compile.game import CompiledGame
from treeplex.errors import TreeplexError
from treeplex.limits import Limits
from treeplex.runs.comparison import FinishedRun
from treeplex.runs.loop import Progress
from treeplex.runs.requests import solving
from treeplex.runs.schema import Options
from treeplex.runs.solution import Solution
from treeplex.runs.solve import execute
from treeplex.runs.status import INTERRUPTED

Watch = Callable[[str, Progress], None] | None


class ComparedRun(NamedTuple):
    """One planned run of a comparison."""

    algorithm: str
    label: str  # also the name of its folder
    seed: int
    random: bool
    limits: Limits

    def finished(self, status: str, log: Table) -> FinishedRun:
        """Return the result of this run."""
        return FinishedRun(self.algorithm, self.seed if self.random else None, status, log)


class Compared(NamedTuple):
    """Finished runs of a comparison, rejected algorithms, and whether Ctrl-C ended it."""

    runs: list[FinishedRun]
    refused: dict[str, str]
    interrupted: bool


def planned_runs(solvers: Mapping[str, Algorithm[Any, Any]], seeds: range, limits: Limits) -> list[ComparedRun]:
    """Plan one run per algorithm, and one per seed for algorithms that draw random numbers."""
    return [
        ComparedRun(
            name,
            f"{name}, seed {seed}" if solver.random and len(seeds) > 1 else name,
            seed,
            solver.random,
            replace(limits, iterations=None, nodes=None) if solver.ends else limits,
        )
        for name, solver in solvers.items()
        for seed in (seeds if solver.random else seeds[:1])
    ]


def run_here(
    game: CompiledGame, planned: Sequence[ComparedRun], options: Options, folder: Path | None, watch: Watch
) -> Compared:
    """Run all in this process, one after the other."""
    runs: list[FinishedRun] = []
    refused: dict[str, str] = {}
    for one in planned:
        if one.algorithm in refused:
            continue
        try:
            solution = _solved(game, one, replace(options, watch=watch and partial(watch, one.label)), folder)
        except TreeplexError as error:
            refused[one.algorithm] = str(error)
            continue
        runs.append(one.finished(solution.status, solution.log))
        if solution.status == INTERRUPTED:
            return Compared(runs, refused, True)
    return Compared(runs, refused, False)


def run_on_workers(
    cluster: str,
    game: CompiledGame,
    planned: Sequence[ComparedRun],
    options: Options,
    folder: Path | None,
    watch: Watch,
) -> Compared:
    """Run all on a cluster, with one thread each unless ``threads`` is set; solutions stay on their workers."""
    runs: dict[int, FinishedRun] = {}
    refused: dict[str, str] = {}
    theirs = replace(options, threads=max(1, options.threads), answer=None)
    with attached(cluster) as ray:
        if folder is not None:
            check_shared(ray, folder)
        placed = ray.put(game)

        def tell(running: int) -> None:
            if watch is not None:
                watch(f"{len(runs)} of {len(planned)} runs done, {running} running", Progress(0, 0.0, []))

        calls = [(placed, one, theirs, folder) for one in planned]
        for number, outcome in swept(ray, status_and_log, calls, theirs.threads, tell):
            if isinstance(outcome, TreeplexError):
                refused[planned[number].algorithm] = str(outcome)
            else:
                runs[number] = planned[number].finished(*outcome)
    listed = [runs[number] for number in sorted(runs) if planned[number].algorithm not in refused]
    ended = len(runs) + sum(one.algorithm in refused for one in planned)
    return Compared(listed, refused, ended < len(planned) or any(run.status == INTERRUPTED for run in listed))


def status_and_log(game: CompiledGame, one: ComparedRun, options: Options, folder: Path | None) -> tuple[str, Table]:
    """Return status and log of one run, computed on a worker."""
    solution = _solved(game, one, options, folder)
    return solution.status, solution.log


def _solved(game: CompiledGame, one: ComparedRun, options: Options, folder: Path | None) -> Solution:
    """Execute one run with the same steps as ``solve``."""
    own = replace(options.limited(one.limits), seed=one.seed, out=folder and folder / one.label)
    return execute(solving(game, one.algorithm, **vars(own)))


def uniform_nash_conv(game: CompiledGame) -> float:
    """Return NashConv of the strategies that the CFR family begins with."""
    solver: Any = build("cfr+").open(game, Execution())
    return solver.report(game, solver.start(game), "current").evaluate().nash_conv
