"""Ju et al. (2023), section on warm starts, after Appendix D: dominated strategies make CFR+ slow early on.

The appendix is not in the text that we have, so the games are ours. The core is a matrix of 10 x 10 standard normal
entries. Each player gets 90 more strategies, each a random mixture of the core's, worse by ``WORSE`` against whatever
the opponent plays: strictly dominated by construction. NashConv of a play of the core is the same in both games.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from treeplex.api import load
from treeplex.games.matrix import MatrixGame
from treeplex.papers.curves import Curve, iterations, run_curve
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.runs import Limits

ID: Final = "pmccfr-dominated"

SEEDS: Final = 10
CORE: Final = 10
SIZE: Final = 100
WORSE: Final = 0.5
EARLY: Final = 0.1  # NashConv; payoffs are about as large as 1
LATE: Final = 1e-3
MOST: Final = 200_000  # iterations


def with_dominated(core: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return the matrix with dominated rows and columns up to ``size``; its first entries are the core's."""
    rows = rng.dirichlet(np.ones(len(core)), size - len(core)) @ core - WORSE
    tall = np.concatenate((core, rows))
    columns = tall @ rng.dirichlet(np.ones(core.shape[1]), size - core.shape[1]).T + WORSE
    return np.concatenate((tall, columns), axis=1)


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run CFR+ on all matrices, with dominated strategies and without; write a CSV and a figure."""
    pairs: list[tuple[Curve, Curve]] = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        core = rng.standard_normal((CORE, CORE))
        games = [MatrixGame(core, f"core {seed}"), MatrixGame(with_dominated(core, rng, SIZE), f"dominated {seed}")]
        limits = Limits(nash_conv=LATE, iterations=MOST)
        core_curve, full = (run_curve(load(game), game.name, "cfr+", limits, tell) for game in games)
        pairs.append((full, core_curve))
    early = median(full.cost_of(EARLY, iterations) / core.cost_of(EARLY, iterations) for full, core in pairs)
    late = median(full.cost_of(LATE, iterations) / core.cost_of(LATE, iterations) for full, core in pairs)
    rows = [
        (curve.label, row.iteration, row.nodes_touched, row.nash_conv)
        for pair in pairs
        for curve in pair
        for row in curve.rows
    ]
    table = Table(["game", "iteration", "nodes_touched", "nash_conv"], rows)
    measured = {"early": early, "late": late}
    return report(ID, folder, measured, table, lambda path: _plot(pairs, path))


def _plot(pairs: list[tuple[Curve, Curve]], path: Path) -> None:
    with drawing(path, (7.5, 5), "", 1, 1) as (axes,):
        for full, core in pairs:
            for curve, colour in ((full, "#d1782a"), (core, "#2f5d9b")):
                axes.plot([iterations(row) for row in curve.rows], curve.nash_convs(), color=colour, linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="iterations", ylabel="NashConv")
        axes.set_title("CFR+ with 90 % dominated strategies (orange) and without (blue)", fontsize=10)
