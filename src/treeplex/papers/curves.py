"""NashConv against nodes touched, for several algorithms on one game: what papers on pruning plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from treeplex.algorithms import protocol
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import build
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.papers.report import Tell, write_csv
from treeplex.runs import Limits, Progress
from treeplex.runs.log import LogRow
from treeplex.runs.loop import INTERRUPTED, Outcome, Plan, run

Game = TypeVar("Game")
State = TypeVar("State")

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

    def best_so_far(self) -> list[float]:
        """The smallest NashConv up to each row."""
        lowest, out = math.inf, list[float]()
        for row in self.rows:
            lowest = min(lowest, row.nash_conv)
            out.append(lowest)
        return out

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


def run_curve(game: CompiledGame, label: str, algorithm: str, limits: Limits, tell: Tell) -> Curve:
    """Solve until a limit; ``tell`` hears of the progress."""

    def watch(progress: Progress) -> None:
        last = f", NashConv {progress.rows[-1].nash_conv:.2g}" if progress.rows else ""
        tell(f"{game.name}, {label}: iteration {progress.iteration:,}{last}")

    assembled = iterating(algorithm)
    assembled.advance(game, assembled.start(game), 1)  # what is derived only once is not part of the race
    return Curve(game.name, label, dense_run(game, assembled, limits, watch).rows)


def dense_run(
    game: Game, algorithm: Algorithm[Game, State], limits: Limits, watch: Callable[[Progress], None] | None = None
) -> Outcome[State]:
    """A run whose rows lie close together, whatever it costs to measure them: figures are drawn from them."""

    def schedule(rows: Sequence[LogRow], cost: protocol.Cost, target: float | None) -> int:
        last = rows[-1].iteration if rows else 0
        return max(last + 1, int(last * SPACING))

    outcome = run(game, algorithm, Plan(limits, watch=watch, schedule=schedule))
    if outcome.status == INTERRUPTED:  # a curve that ends early would be judged like one that does not
        raise KeyboardInterrupt
    return outcome


def iterating(algorithm: str) -> Algorithm[CompiledGame, Any]:
    """The algorithm of that name, which must be one that iterates."""
    assembled = build(algorithm)
    if assembled.ends:
        raise ParameterError(f"The 'algorithm' parameter must name one that iterates, got {algorithm!r}.")
    return assembled


def write_curves(path: Path, curves: Sequence[Curve]) -> Path:
    """All rows of all curves."""
    rows = [
        (curve.game, curve.label, row.iteration, row.nodes_touched, f"{seconds(row):.4f}", row.nash_conv, low)
        for curve in curves
        for row, low in zip(curve.rows, curve.best_so_far(), strict=True)
    ]
    return write_csv(
        path, ["game", "algorithm", "iteration", "nodes_touched", "seconds", "nash_conv", "best_so_far"], rows
    )


def plot(
    path: Path, title: str, panels: Sequence[tuple[str, str, str, Sequence[tuple[str, list[float], list[float]]]]]
) -> Path:
    """Panels in rows of two: (title, x label, y label, lines of (label, x, y)); all axes logarithmic."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    down = (len(panels) + 1) // 2
    figure: Any = Figure(figsize=(10, 3.6 * down + 0.4), layout="constrained")
    axes = figure.subplots(down, 2, squeeze=False).flatten()
    for each, (name, across, up, lines) in zip(axes, panels, strict=False):
        for label, x, y in lines:
            each.plot(x, y, label=label, linewidth=1.4)
        each.set(xscale="log", yscale="log", xlabel=across, ylabel=up, title=name)
        each.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        each.spines[["top", "right"]].set_visible(False)
        each.legend(frameon=False, fontsize=8)
    for spare in axes[len(panels) :]:
        spare.set_visible(False)
    figure.suptitle(title)
    figure.savefig(path, dpi=130, format="png")
    return path
