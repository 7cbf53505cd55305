"""Solve a spot with a target in per cent of the pot, and open finished runs to browse them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treeplex import api
from treeplex.algorithms.protocol import Execution
from treeplex.errors import ParameterError
from treeplex.limits import Limits
from treeplex.poker.views.reader import Reader
from treeplex.runs.folder import RunFolder
from treeplex.runs.loop import run
from treeplex.runs.request import Record
from treeplex.runs.requests import resuming
from treeplex.runs.solution import Solution


def solve(spot: Any, algorithm: str | None = None, *, percent_of_pot: float | None = None, **options: Any) -> Solution:
    """Solve a spot like ``treeplex.solve``; ``percent_of_pot`` is the exploitability to reach, in per cent.

    >>> from treeplex.holdem import Spot, sizes_for, solve
    >>> spot = Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", sizes_for("a", ""))
    >>> solve(spot, percent_of_pot=0.1, storage="float64").percent_of_pot < 0.1
    True
    """
    return api.solve(spot, algorithm, **(options | _target(percent_of_pot)))


def open_run(folder: str | Path, threads: int = 0) -> Reader:
    """Return a reader of a run's strategies, without solving the spot again."""
    run_folder = RunFolder.open(folder)
    record = check_spot(run_folder.record, f"in {folder}")
    request = resuming(folder, threads=threads)
    game = request.problem.game
    execution = Execution(storage=record.storage, threads=threads, folder=str(run_folder.path))
    solver = request.choice.algorithm.open(game, execution)
    point = run_folder.checkpoint(solver, game)
    if point is None:
        raise ParameterError(f"The run in {folder} has no checkpoint yet; resume it first.")
    if (
        record.iterate == "best"
    ):  # the better of the checkpoint's best and the run's last iterate, as the run reported it
        report = run(game, solver, request.options.limited(Limits(iterations=1)), point).report
    else:
        report = solver.report(game, point.state, record.iterate)
    reader: Any = report.policy()
    if point.rows:  # EVs are as inaccurate as the strategies are exploitable
        reader.accuracy = max(reader.accuracy, point.rows[-1].exploitability / game.spot.pot)
    return reader


def check_spot(record: Record, run: str) -> Record:
    """Return the record of a run, or raise ``ParameterError`` unless it solved a hold'em spot."""
    if not record.has_strategies:
        raise ParameterError(
            f"The run {run} chose bet sizes and saved no strategies; its answer is in result.json. Solve a spot with"
            " treeplex holdem solve to look at it."
        )
    if record.spot is None:
        raise ParameterError(f"The run {run} is about {record.game}, not a hold'em spot.")
    return record


def _target(percent: object) -> dict[str, Any]:
    if percent is None:
        return {}
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not percent > 0.0:
        raise ParameterError(f"The 'percent_of_pot' parameter must be a positive number, got {percent!r}.")
    return {"exploitability": f"{percent}%pot"}
