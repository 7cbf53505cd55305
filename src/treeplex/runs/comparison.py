"""Compare algorithms on one game: work and time to reach each accuracy, with quartiles over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrow import Table, numbers, table, write_parquet
from treeplex.errors import ParameterError, quoted, within
from treeplex.html import html_picture, html_table
from treeplex.plots.plot import plot_bands

ACCURACIES: Final = (1e-3, 1e-5, 1e-8)
"""Default accuracies, as fractions of the uniform policy's NashConv."""

MOST_SEEDS: Final = 1000
MEASURES: Final = ("iterations", "nodes_touched", "seconds")
COLUMNS: Final = {"iterations": "iteration", "nodes_touched": "nodes_touched", "seconds": "seconds"}  # of the log


class FinishedRun(NamedTuple):
    """Result of one run of a comparison."""

    algorithm: str
    seed: int | None  # None: the algorithm draws no random numbers
    status: str
    log: Table


class Band(NamedTuple):
    """Lower quartile, median and upper quartile over seeds; infinite where too few seeds reached the accuracy."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Result of ``compare``: all runs, and the ranking of the algorithms."""

    game: str
    uniform: float  # NashConv of the uniform policy
    accuracies: tuple[float, ...]  # fractions of that
    runs: tuple[FinishedRun, ...]
    refused: Mapping[str, str]  # algorithms that could not be run, and why

    @cached_property
    def table(self) -> Table:
        """One row per run and accuracy: iterations, nodes and seconds to the first evaluation that is so accurate."""
        listed: list[dict[str, Any]] = [
            {
                "algorithm": run.algorithm,
                "seed": run.seed,
                "accuracy": accuracy,
                "nash_conv": accuracy * self.uniform,
                "status": run.status,
                **_reached(run.log, accuracy * self.uniform),
            }
            for run in self.runs
            for accuracy in self.accuracies
        ]
        names = ("algorithm", "seed", "accuracy", "nash_conv", "status", *MEASURES)
        about = {"game": self.game, "uniform_nash_conv": repr(self.uniform)}
        return table({name: [row[name] for row in listed] for name in names}, {}, about)

    def band(self, algorithm: str, accuracy: float, measure: str) -> Band:
        """Return quartiles of "iterations", "nodes_touched" or "seconds" over the seeds of an algorithm."""
        measured = [
            _reached(run.log, accuracy * self.uniform)[measure] for run in self.runs if run.algorithm == algorithm
        ]
        # Observed numbers, without interpolation: halfway to infinity would be infinite.
        low, median, high = np.quantile(
            [np.inf if number is None else number for number in measured], (0.25, 0.5, 0.75), method="inverted_cdf"
        )
        return Band(float(low), float(median), float(high))

    @property
    def ranking(self) -> list[str]:
        """Algorithms by median seconds to the smallest accuracy, then to the next larger one."""
        return sorted(dict.fromkeys(run.algorithm for run in self.runs), key=self._rank)

    def _rank(self, algorithm: str) -> tuple[float, ...]:
        return tuple(self.band(algorithm, accuracy, "seconds").median for accuracy in sorted(self.accuracies))

    def summary(self) -> list[dict[str, Any]]:
        """Return one record per algorithm and accuracy, in the order of ``ranking``; None: not reached."""
        return [
            {
                "algorithm": algorithm,
                "accuracy": accuracy,
                "seeds": sum(run.algorithm == algorithm for run in self.runs),
                **{
                    measure: [
                        number if np.isfinite(number) else None for number in self.band(algorithm, accuracy, measure)
                    ]
                    for measure in MEASURES
                },
            }
            for algorithm in self.ranking
            for accuracy in self.accuracies
        ]

    def words(self) -> tuple[list[str], list[list[str]]]:
        """Return head and rows of the printed table: nodes and seconds to each accuracy."""
        head = [
            "algorithm",
            *(f"{what} to {accuracy:g}" for accuracy in self.accuracies for what in ("nodes", "seconds")),
        ]
        rows = [
            [
                algorithm,
                *(
                    _shown(self.band(algorithm, accuracy, measure), measure)
                    for accuracy in self.accuracies
                    for measure in ("nodes_touched", "seconds")
                ),
            ]
            for algorithm in self.ranking
        ]
        return head, rows

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot NashConv against iterations, nodes and seconds, the best in colour, with quartiles over seeds."""
        logs = {name: [run.log for run in self.runs if run.algorithm == name] for name in self.ranking}
        return plot_bands(logs, self.game, path, [accuracy * self.uniform for accuracy in self.accuracies])

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``comparison.parquet`` and ``comparison.png`` into ``folder``, and return their paths."""
        path = Path(folder)
        write_parquet(self.table, path / "comparison.parquet")
        self.plot(path / "comparison.png")
        return [path / "comparison.parquet", path / "comparison.png"]

    def _repr_html_(self) -> str:
        head, rows = self.words()
        title = f"{self.game}: NashConv relative to {self.uniform:.3g} of the uniform policy"
        return html_table(title, head, rows) + html_picture(self.plot().png(), f"{self.game}: NashConv")


def accuracies_of(values: Any) -> tuple[float, ...]:
    """Return the fractions of the uniform policy's NashConv, largest first, or raise ``ParameterError``."""
    listed: Sequence[Any] = [values] if isinstance(values, int | float) else list(values)
    if isinstance(values, str) or not listed:
        raise ParameterError(f"The 'accuracies' parameter must be a list of numbers, got {quoted(values)}.")
    legal = "a number above 0 and below 1"
    return tuple(
        sorted((within(float, "accuracies", each, legal, 1e-300, 1.0 - 1e-16) for each in listed), reverse=True)
    )


def seeds_of(count: Any) -> int:
    """Return the number of seeds, or raise ``ParameterError``."""
    return within(int, "seeds", count, f"a whole number from 1 to {MOST_SEEDS:,}", 1, MOST_SEEDS)


def _reached(log: Table, target: float) -> dict[str, Any]:
    """Return iterations, nodes and seconds of the first row that meets the target; None if there is none."""
    met = np.flatnonzero(numbers(log, "nash_conv") <= target)
    if not len(met):
        return dict.fromkeys(MEASURES)
    return {measure: numbers(log, column)[met[0]].item() for measure, column in COLUMNS.items()}


def _shown(band: Band, measure: str) -> str:
    def one(number: float) -> str:
        if not np.isfinite(number):
            return "-"
        return f"{number:,.0f}" if measure != "seconds" else f"{number:.2g}" if number < 10 else f"{number:.0f}"

    if band.low == band.high or not np.isfinite(band.low):
        return one(band.median)
    return f"{one(band.median)} ({one(band.low)} to {one(band.high)})"
