"""NashConv against nodes touched, for several algorithms on one game: what papers on pruning plot."""

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
from treeplex.papers.report import Report, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.runs import Limits, Progress
from treeplex.runs.log import LogRow
from treeplex.runs.loop import RunOutcome, run
from treeplex.runs.schema import Options
from treeplex.runs.status import INTERRUPTED
from treeplex.system import Interrupted

SPACING: Final = 1.1  # each row is at so many times the iterations of the one before

Cost = Callable[[LogRow], float]
"""What a row had cost."""


def nodes(row: LogRow) -> float:
    """Histories entered."""
    return float(row.nodes_touched)


def iterations(row: LogRow) -> float:
    """Counted from 1."""
    return float(row.iteration)


def seconds(row: LogRow) -> float:
    """Spent solving, not measuring."""
    return row.seconds - row.evaluation_seconds


class Curve(NamedTuple):
    """One run."""

    game: str
    label: str
    rows: list[LogRow]

    def nash_convs(self) -> list[float]:
        """Of each row."""
        return [row.nash_conv for row in self.rows]

    def best_so_far(self) -> list[float]:
        """The smallest NashConv up to each row."""
        return list(accumulate(self.nash_convs(), min))

    @property
    def best(self) -> float:
        """The smallest NashConv of all."""
        return min(self.nash_convs())

    def cost_of(self, nash_conv: float, cost: Cost = nodes) -> float:
        """What it cost until NashConv was first at most this; nan if it never was.

        On a straight line between rows in logarithms, which is how such curves look.
        """
        lows = self.best_so_far()
        costs = [cost(row) for row in self.rows]
        for place, low in enumerate(lows):
            if low > nash_conv:
                continue
            if place == 0 or low == lows[place - 1]:
                return costs[place]
            share = math.log(lows[place - 1] / nash_conv) / math.log(lows[place - 1] / low)
            return math.exp(math.log(costs[place - 1]) * (1.0 - share) + math.log(costs[place]) * share)
        return math.nan

    def nodes_per_iteration(self) -> list[float]:
        """Between each row and the one before."""
        before = [(0, 0), *((row.iteration, row.nodes_touched) for row in self.rows[:-1])]
        return [
            (row.nodes_touched - touched) / (row.iteration - iteration)
            for row, (iteration, touched) in zip(self.rows, before, strict=True)
        ]


Height = Callable[[Curve], list[float]]
"""What is drawn of each row."""


def ratio(slow: Curve, fast: Curve, cost: Cost = nodes, nash_conv: float | None = None) -> float:
    """How many times less the second costs to this NashConv, or to the worse of both final ones."""
    level = max(slow.best, fast.best) if nash_conv is None else nash_conv
    return slow.cost_of(level, cost) / fast.cost_of(level, cost)


def ratio_columns(slow: Curve, fast: Curve, nash_conv: float) -> tuple[object, ...]:
    """A row of a table of ratios: NashConv, then how many times fewer nodes and seconds it takes."""
    return nash_conv, *(f"{ratio(slow, fast, cost, nash_conv):.2f}" for cost in (nodes, seconds))


def run_curve(game: CompiledGame, label: str, algorithm: str, limits: Limits, tell: Tell) -> Curve:
    """Solve until a limit; ``tell`` hears of the progress."""

    def watch(progress: Progress) -> None:
        last = f", NashConv {progress.rows[-1].nash_conv:.2g}" if progress.rows else ""
        tell(f"{game.name}, {label}: iteration {progress.iteration:,}{last}")

    assembled = build(algorithm)
    if assembled.ends:
        raise ParameterError(f"The 'algorithm' parameter must name one that iterates, got {algorithm!r}.")
    assembled.advance(game, assembled.start(game), 1)  # what is derived only once is not part of the race
    return Curve(game.name, label, dense_run(game, assembled, limits, watch).rows)


def dense_run(
    game: Game, algorithm: Algorithm[Game, State], limits: Limits, watch: Callable[[Progress], None] | None = None
) -> RunOutcome[State]:
    """A run whose rows lie close together, whatever it costs to measure them: figures are drawn from them."""

    def schedule(rows: Sequence[LogRow], cost: protocol.Cost, target: float | None) -> int:
        last = rows[-1].iteration if rows else 0
        return max(last + 1, int(last * SPACING))

    outcome = run(game, algorithm, limits, Options(watch=watch), schedule=schedule)
    if outcome.status == INTERRUPTED:  # a curve that ends early would be judged like one that does not
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
) -> Report:
    """Judge; leaves all rows of all curves, a figure, and a table of ratios if there is one."""
    rows = [
        (curve.game, curve.label, row.iteration, row.nodes_touched, f"{seconds(row):.4f}", row.nash_conv, low)
        for curve in curves
        for row, low in zip(curve.rows, curve.best_so_far(), strict=True)
    ]
    columns = ["game", "algorithm", "iteration", "nodes_touched", "seconds", "nash_conv", "best_so_far"]
    return report(identity, folder, measured, Table(columns, rows), lambda path: plot(path, title, panels), ratios)


def plot(path: Path, title: str, panels: Sequence[Panel]) -> None:
    """Panels in rows of two."""
    down = len(panels) // 2
    with drawing(path, (10, 3.6 * down + 0.4), title, down, 2) as places:
        for axes, (name, curves, across, up) in zip(places, panels, strict=True):
            for curve in curves:
                axes.plot([across(row) for row in curve.rows], up(curve), label=curve.label, linewidth=1.4)
            axes.set(xscale="log", yscale="log", xlabel=LABELS[across], ylabel=LABELS[up], title=name)
            axes.legend(frameon=False, fontsize=8)
