"""Curves of NashConv against nodes touched, for several algorithms on one game, as in papers on pruning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from treeplex.algorithms import protocol
from treeplex.algorithms.protocol import Algorithm, Game, State
from treeplex.algorithms.registry import build
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.runs import Limits, Progress
from treeplex.runs.log import LogRow
from treeplex.runs.loop import RunOutcome, run
from treeplex.runs.schema import Options
from treeplex.runs.status import INTERRUPTED
from treeplex.system import Interrupted

SPACING: Final = 1.1  # factor from the iterations of one row to the next

Cost = Callable[[LogRow], float]
"""The cost of a run up to a row."""


def nodes(row: LogRow) -> float:
    """Return the number of histories entered."""
    return float(row.nodes_touched)


def iterations(row: LogRow) -> float:
    """Return the iteration, counted from 1."""
    return float(row.iteration)


def seconds(row: LogRow) -> float:
    """Return the seconds of solving, without evaluation."""
    return row.seconds - row.evaluation_seconds


class Curve(NamedTuple):
    """The rows of one run, with its game and label."""

    game: str
    label: str
    rows: list[LogRow]

    def nash_convs(self) -> list[float]:
        """Return the NashConv of each row."""
        return [row.nash_conv for row in self.rows]

    def best_so_far(self) -> list[float]:
        """Return the smallest NashConv up to each row."""
        return list(accumulate(self.nash_convs(), min))

    @property
    def best(self) -> float:
        """The smallest NashConv of all rows."""
        return min(self.nash_convs())

    def cost_of(self, nash_conv: float, cost: Cost = nodes) -> float:
        """Return the cost at which NashConv first fell to this level, or nan if it never did.

        Between rows the curve is interpolated as a straight line in logarithms.
        """
        lows = self.best_so_far()
        costs = [cost(row) for row in self.rows]
        for k, low in enumerate(lows):
            if low > nash_conv:
                continue
            if k == 0 or low == lows[k - 1]:
                return costs[k]
            share = math.log(lows[k - 1] / nash_conv) / math.log(lows[k - 1] / low)
            return math.exp(math.log(costs[k - 1]) * (1.0 - share) + math.log(costs[k]) * share)
        return math.nan

    def nodes_per_iteration(self) -> list[float]:
        """Return the nodes per iteration between each row and the one before."""
        before = [(0, 0), *((row.iteration, row.nodes_touched) for row in self.rows[:-1])]
        return [
            (row.nodes_touched - touched) / (row.iteration - iteration)
            for row, (iteration, touched) in zip(self.rows, before, strict=True)
        ]


Height = Callable[[Curve], list[float]]
"""The vertical coordinate of each row in a figure."""


def ratio(slow: Curve, fast: Curve, cost: Cost = nodes, nash_conv: float | None = None) -> float:
    """Return the first curve's cost over the second's, to this NashConv or to the worse of both final ones."""
    level = max(slow.best, fast.best) if nash_conv is None else nash_conv
    return slow.cost_of(level, cost) / fast.cost_of(level, cost)


def ratio_columns(slow: Curve, fast: Curve, nash_conv: float) -> tuple[object, ...]:
    """Return a row of a table of ratios: NashConv, then the ratios of nodes and of seconds."""
    return nash_conv, *(f"{ratio(slow, fast, cost, nash_conv):.2f}" for cost in (nodes, seconds))


def run_curve(game: CompiledGame, label: str, algorithm: str, limits: Limits, tell: Tell) -> Curve:
    """Solve until a limit and return the curve; ``tell`` receives lines about the progress."""

    def watch(progress: Progress) -> None:
        last = f", NashConv {progress.rows[-1].nash_conv:.2g}" if progress.rows else ""
        tell(f"{game.name}, {label}: iteration {progress.iteration:,}{last}")

    assembled = build(algorithm)
    if assembled.ends:
        raise ParameterError(f"The 'algorithm' parameter must name an algorithm that iterates, got {algorithm!r}.")
    assembled.advance(game, assembled.start(game), 1)  # tables that are built only once do not count
    return Curve(game.name, label, dense_run(game, assembled, limits, watch).rows)


def dense_run(
    game: Game, algorithm: Algorithm[Game, State], limits: Limits, watch: Callable[[Progress], None] | None = None
) -> RunOutcome[State]:
    """Run with closely spaced rows for a figure, whatever their evaluation costs."""

    def schedule(rows: Sequence[LogRow], cost: protocol.Cost, target: float | None) -> int:
        last = rows[-1].iteration if rows else 0
        return max(last + 1, int(last * SPACING))

    outcome = run(game, algorithm, Options(watch=watch).limited(limits), schedule=schedule)
    if outcome.status == INTERRUPTED:  # a curve that ends early must not be judged like a complete one
        raise Interrupted
    return outcome


class Panel(NamedTuple):
    """A panel of a figure, both axes logarithmic."""

    title: str
    curves: Sequence[Curve]
    across: Cost = nodes
    up: Height = Curve.best_so_far


LABELS: Final[dict[Cost | Height, str]] = {
    nodes: "nodes touched",
    iterations: "iterations",
    Curve.nash_convs: "NashConv",
    Curve.best_so_far: "NashConv",
    Curve.nodes_per_iteration: "nodes per iteration",
}


def report_curves(
    identity: str,
    folder: Path,
    measured: Mapping[str, float],
    curves: Sequence[Curve],
    title: str,
    panels: Sequence[Panel],
    ratios: Table | None = None,
) -> PaperReport:
    """Judge the claims; write all rows of all curves, a figure, and a table of ratios if there is one."""
    rows = [
        (curve.game, curve.label, row.iteration, row.nodes_touched, f"{seconds(row):.4f}", row.nash_conv, low)
        for curve in curves
        for row, low in zip(curve.rows, curve.best_so_far(), strict=True)
    ]
    columns = ["game", "algorithm", "iteration", "nodes_touched", "seconds", "nash_conv", "best_so_far"]
    return report(identity, folder, measured, Table(columns, rows), lambda path: plot(path, title, panels), ratios)


def plot(path: Path, title: str, panels: Sequence[Panel]) -> None:
    """Plot panels in rows of two."""
    down = len(panels) // 2
    with drawing(path, (10, 3.6 * down + 0.4), title, down, 2) as axes_grid:
        for axes, (name, curves, across, up) in zip(axes_grid, panels, strict=True):
            for curve in curves:
                axes.plot([across(row) for row in curve.rows], up(curve), label=curve.label, linewidth=1.4)
            axes.set(xscale="log", yscale="log", xlabel=LABELS[across], ylabel=LABELS[up], title=name)
            axes.legend(frameon=False, fontsize=8)
