"""Convergence over nodes and seconds: runs limited by training time, and bands over seeds.

Time is the processor time of this process. With one thread it is the wall-clock time on an idle machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import UNIFORM
from treeplex.algorithms.protocol import Algorithm, Execution, State
from treeplex.algorithms.random_start import initial_state
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame

GROWTH: Final = 1.25  # factor from the seconds of one point to the next
FIRST: Final = 1e-3  # seconds
LABELS: Final = {"nodes": "nodes touched", "seconds": "seconds of training"}  # by axis


class Point(NamedTuple):
    """A measured point of a run."""

    iteration: int
    nodes: int
    seconds: float  # processor time of training, without evaluation
    nash_conv: float


Curve = list[Point]


def curve(
    game: CompiledGame,
    algorithm: Algorithm[CompiledGame, State],
    seconds: float,
    seed: int = 0,
    start: str = UNIFORM,
    goal: float = 0.0,
) -> Curve:
    """Run for ``seconds`` of training or until NashConv is at most ``goal``; measurements are closer at the start."""
    algorithm = algorithm.open(game, Execution(threads=1))
    algorithm.advance(game, algorithm.start(game, seed), 1)  # compile or load kernels, and build trees
    state, spent, due, batch, points = initial_state(algorithm, game, seed, start), 0.0, FIRST, 1.0, Curve()
    while spent < seconds:
        while spent < due:
            began = time.process_time()
            state = algorithm.advance(game, state, int(batch))
            took = max(time.process_time() - began, 1e-6)
            spent += took
            batch = max(min(batch * 2.0, batch * max(due - spent, FIRST) / took), 1.0)
        nash_conv = algorithm.report(game, state, "average").evaluate().nash_conv
        points.append(Point(*algorithm.work(game, state)[:2], spent, nash_conv))
        if nash_conv <= goal:
            break
        due = max(due * GROWTH, spent)
    return points


def reached(points: Curve, target: float, axis: str) -> float:
    """Return the "seconds" or "nodes" at which a curve first falls to ``target``, or infinity."""
    return next((float(getattr(point, axis)) for point in points if point.nash_conv <= target), float("inf"))


def band(runs: Sequence[Curve], axis: str, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Return median, 5 % and 95 % of several curves on a grid, each interpolated between its points."""
    rows: list[Any] = []
    for points in runs:
        at = np.log([max(float(getattr(point, axis)), 1e-12) for point in points])
        height = np.log([max(point.nash_conv, 1e-300) for point in points])
        rows.append(np.exp(np.interp(np.log(grid), at, height)))
    low, middle, high = np.quantile(np.array(rows), (0.05, 0.5, 0.95), axis=0)
    return middle, low, high


def grid_of(runs: Sequence[Curve], axis: str) -> Floats:
    """Return a grid from where all curves have begun to where the first of them ends."""
    begin = max(float(getattr(points[0], axis)) for points in runs)
    end = min(float(getattr(points[-1], axis)) for points in runs)
    return np.geomspace(begin, max(end, begin * 1.01), 80)


def crossing(old: Sequence[Curve], new: Sequence[Curve], axis: str) -> float:
    """Return the position of the median of ``old`` over that of ``new`` along ``axis``, at the same NashConv.

    That NashConv is the lowest that both medians reach.
    """
    grids = [grid_of(runs, axis) for runs in (old, new)]
    middles = [np.minimum.accumulate(band(runs, axis, grid)[0]) for runs, grid in zip((old, new), grids, strict=True)]
    target = max(float(middle[-1]) for middle in middles)
    first, second = (float(grid[int(np.argmax(middle <= target))]) for grid, middle in zip(grids, middles, strict=True))
    return first / second


def draw(axes: Any, runs: Sequence[Curve], axis: str, label: str, colour: str) -> None:
    """Draw one algorithm's median and band."""
    grid = grid_of(runs, axis)
    middle, low, high = band(runs, axis, grid)
    axes.plot(grid, middle, label=label, color=colour, linewidth=1.6)
    if len(runs) > 1:
        axes.fill_between(grid, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel=LABELS[axis], ylabel="NashConv")
