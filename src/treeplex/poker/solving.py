"""The poker player's spelling of ``treeplex.solve`` and ``treeplex.resume``; and runs opened to be browsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treeplex import api
from treeplex.algorithms.protocol import Execution
from treeplex.errors import ParameterError
from treeplex.poker.views.reader import Reader
from treeplex.runs.folder import RunFolder
from treeplex.runs.games import algorithm_of, game_of
from treeplex.runs.limits import Limits
from treeplex.runs.loop import Plan, run
from treeplex.runs.request import SIZES
from treeplex.runs.solution import Solution


def solve(spot: Any, algorithm: str | None = None, *, percent_of_pot: float | None = None, **options: Any) -> Solution:
    """As ``treeplex.solve``; ``percent_of_pot``: exploitability to reach, in per cent.

    >>> from treeplex.holdem import Spot, sizes_for, solve
    >>> spot = Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", sizes_for("a", ""))
    >>> solve(spot, percent_of_pot=0.1, storage="float64").percent_of_pot < 0.1
    True
    """
    return api.solve(spot, algorithm, **(options | _target(percent_of_pot)))


def resume(folder: str | Path, *, percent_of_pot: float | None = None, **options: Any) -> Solution:
    """As ``treeplex.resume``."""
    return api.resume(folder, **(options | _target(percent_of_pot)))


def open_run(folder: str | Path, threads: int = 0) -> Reader:
    """Browse a solved spot without solving it again."""
    kept = RunFolder.open(folder)
    request = kept.request
    if request.kind == SIZES:
        raise ParameterError(
            f"The run in {folder} chose bet sizes and kept no strategies; its answer is in result.json. Solve a spot"
            " with treeplex holdem solve to look at it."
        )
    if not request.is_spot:
        raise ParameterError(f"The run in {folder} is about {request.game}, not a hold'em spot.")
    game = game_of(kept)
    execution = Execution(storage=request.storage, threads=threads, folder=str(kept.path))
    solver = algorithm_of(request).open(game, execution)
    point = kept.checkpoint(solver, game)
    if point is None:
        raise ParameterError(f"The run in {folder} has no checkpoint yet; resume it first.")
    if request.iterate == "best":  # the best of what was kept and what the run ended with, as the run reported it
        report = run(game, solver, Plan(Limits(iterations=1), "best", threads), point).report
    else:
        report = solver.report(game, point.state, request.iterate)
    reader: Any = report.policy()
    if point.rows:  # EVs are no better known than the strategies are good
        reader.accuracy = max(reader.accuracy, point.rows[-1].exploitability / game.spot.pot)
    return reader


def _target(percent: Any) -> dict[str, Any]:
    if percent is None:
        return {}
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not percent > 0.0:
        raise ParameterError(f"The 'percent_of_pot' parameter must be a positive number, got {percent!r}.")
    return {"exploitability": f"{percent}%pot"}
