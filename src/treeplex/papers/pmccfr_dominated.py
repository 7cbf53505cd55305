"""Ju et al. (2023), section on warm starts, after Appendix D: dominated strategies make CFR+ slow early on.

The appendix is not in the text that we have, so the games are ours. The core is a matrix of 10 x 10 standard normal
entries. Each player gets 90 more strategies, each a random mixture of the core's, worse by 0.05 or 0.5 against whatever
the opponent plays: strictly dominated by construction. NashConv of a play of the core is the same in both games.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from treeplex.api import load
from treeplex.arrays import Floats
from treeplex.games.matrix import MatrixGame
from treeplex.papers.curves import Cost, Curve, iterations, nodes, run_curve
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.runs import Limits

ID: Final = "pmccfr-dominated"

SEEDS: Final = 10
CORE: Final = 10
SIZE: Final = 100
WORSE: Final = (0.05, 0.5)
EARLY: Final = 0.1  # NashConv; payoffs are about as large as 1
LATE: Final = 1e-3
MOST: Final = 200_000  # iterations
COLOURS: Final = ("#2f5d9b", "#d1782a", "#6a9f58")


def with_dominated(core: Floats, rng: np.random.Generator, size: int, worse: float) -> Floats:
    """Return the matrix with dominated rows and columns up to ``size``; its first entries are the core's."""
    rows = rng.dirichlet(np.ones(len(core)), size - len(core)) @ core - worse
    tall = np.concatenate((core, rows))
    columns = tall @ rng.dirichlet(np.ones(core.shape[1]), size - core.shape[1]).T + worse
    return np.concatenate((tall, columns), axis=1)


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run CFR+ on all matrices, with dominated strategies and without; write a CSV and a figure."""
    cores: list[Curve] = []
    curves: dict[float, list[Curve]] = {worse: [] for worse in WORSE}
    limits = Limits(nash_conv=LATE, iterations=MOST)
    for seed in range(SEEDS):
        core = np.random.default_rng(seed).standard_normal((CORE, CORE))
        cores.append(run_curve(load(MatrixGame(core, f"core {seed}")), "core", "cfr+", limits, tell))
        for worse, runs in curves.items():
            matrix = with_dominated(core, np.random.default_rng(seed + SEEDS), SIZE, worse)
            game = load(MatrixGame(matrix, f"worse by {worse}, {seed}"))
            runs.append(run_curve(game, f"worse by {worse}", "cfr+", limits, tell))
    measured = {
        f"{name}_{worse}{suffix}": _slower(runs, cores, level, cost)
        for worse, runs in curves.items()
        for name, level in (("early", EARLY), ("late", LATE))
        for suffix, cost in (("", iterations), ("_nodes", nodes))
    }
    every = {"core": cores, **{f"worse by {worse}": runs for worse, runs in curves.items()}}
    rows = [
        (curve.game, label, row.iteration, row.nodes_touched, row.nash_conv)
        for label, runs in every.items()
        for curve in runs
        for row in curve.rows
    ]
    table = Table(["game", "strategies", "iteration", "nodes_touched", "nash_conv"], rows)
    return report(ID, folder, measured, table, lambda path: _plot(every, path))


def _slower(runs: list[Curve], cores: list[Curve], level: float, cost: Cost) -> float:
    """Return the cost with dominated strategies over that without; the median over all matrices."""
    return median(run.cost_of(level, cost) / core.cost_of(level, cost) for run, core in zip(runs, cores, strict=True))


def _plot(every: dict[str, list[Curve]], path: Path) -> None:
    with drawing(path, (7.5, 5), "", 1, 1) as (axes,):
        for (label, runs), colour in zip(every.items(), COLOURS, strict=True):
            for number, curve in enumerate(runs):
                name = {} if number else {"label": label}
                line = [iterations(row) for row in curve.rows], curve.nash_convs()
                axes.plot(*line, color=colour, linewidth=0.8, **name)
        axes.set(xscale="log", yscale="log", xlabel="iterations", ylabel="NashConv")
        axes.legend(frameon=False, fontsize=9)
        axes.set_title("CFR+ with 90 dominated strategies per player, and with the core of 10 alone", fontsize=10)
