"""Brown & Sandholm (2015), simultaneous abstraction and equilibrium finding, Figure 1: continuous Leduc hold'em.

Fixed abstractions against ones that grow, by vanilla CFR: NashConv in the full game, where bets of every size are legal
and mapped by the pseudo-harmonic mapping, and the size of the abstraction, against nodes touched.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.growth.algorithm import Growing, State
from treeplex.algorithms.growth.options import Growth
from treeplex.evaluation.plot import plot_growth
from treeplex.papers.curves import dense_run
from treeplex.papers.report import Report, Tell, judge, write_csv
from treeplex.runs.games import sized_game
from treeplex.runs.limits import Limits
from treeplex.runs.log import to_table
from treeplex.runs.loop import Outcome

ID: Final = "saef-fig1"

NODES: Final = 3_000_000_000
SNAPSHOTS: Final = tuple(float(nodes) for nodes in np.geomspace(1e6, NODES, 36))
EXTRA: Final = ("nash_conv_in_abstraction", "histories", "sizes", "weight")
FIXED: Final = ("Branch-2", "Branch-3", "Branch-5")


class Curve(NamedTuple):
    """A line of the figure: the sizes to start with, and how they grow."""

    sizes: str
    growth: Growth


CURVES: Final = {
    "Branch-2": Curve("branch-2", Growth(factor=math.inf)),
    "Branch-3": Curve("branch-3", Growth(factor=math.inf)),
    "Branch-5": Curve("branch-5", Growth(factor=math.inf)),
    "Recovery-1.0": Curve("branch-2", Growth(factor=1.0)),
    "Recovery-1.01": Curve("branch-2", Growth(factor=1.01)),
    "Transfer": Curve("branch-2", Growth("transfer", factor=1.01)),
    "Recovery-1.1": Curve("branch-2", Growth(factor=1.1)),
    "Recovery-2.0": Curve("branch-2", Growth(factor=2.0)),
}
"""The figure's six, and the two thresholds that its text compares."""


def reproduce(folder: Path, tell: Tell, nodes: int = NODES) -> Report:
    """Run all curves to ``nodes``; leaves a CSV and a figure."""
    runs: dict[str, Outcome[State]] = {}
    for name, curve in CURVES.items():
        tell(f"{name} ({len(runs) + 1} of {len(CURVES)})")
        start = sized_game(f'continuous_leduc(sizes="{curve.sizes}")')
        runs[name] = dense_run(start, Growing(curve.growth), Limits(nodes=nodes))
    rows = [
        (name, row.iteration, row.nodes_touched, row.nash_conv, *(row.extra[column] for column in EXTRA))
        for name, run in runs.items()
        for row in run.rows
    ]
    columns = ["curve", "iteration", "nodes", "nash_conv", *EXTRA]
    table = write_csv(folder / f"{ID}.csv", columns, rows)
    picture = folder / f"{ID}.png"
    title = "Continuous Leduc hold'em (Brown & Sandholm 2015, Figure 1)"
    plot_growth({name: to_table(run.rows) for name, run in runs.items()}, title, picture)
    return Report(ID, judge(ID, measure(runs, nodes)), [table, picture])


def measure(runs: dict[str, Outcome[State]], nodes: int) -> dict[str, float]:
    """What the claims are about."""
    snapshots = [snapshot for snapshot in SNAPSHOTS if snapshot <= nodes]
    ours = runs["Recovery-1.01"]
    final = {name: run.evaluation.nash_conv for name, run in runs.items()}
    fall = {name: final[name] / at(run, nodes / 10) for name, run in runs.items()}
    late = [addition for addition in ours.state.additions if _street(addition.decision) == 2]
    return {
        "worst_snapshot": max(at(ours, n) / min(at(runs[name], n) for name in FIXED) for n in snapshots),
        "final_over_best_fixed": final["Recovery-1.01"] / min(final[name] for name in FIXED),
        "fixed_fall": min(fall[name] for name in FIXED),
        "coarse_fixed_fall": min(fall["Branch-2"], fall["Branch-3"]),
        "grown_fall": max(fall["Recovery-1.01"], fall["Transfer"]),
        "transfer_over_recovery": final["Transfer"] / final["Recovery-1.01"],
        "factor_1_over_1.01": final["Recovery-1.0"] / final["Recovery-1.01"],
        "factor_1.1_over_1.01": final["Recovery-1.1"] / final["Recovery-1.01"],
        "factor_2_over_1.01": final["Recovery-2.0"] / final["Recovery-1.01"],
        "near_the_bottom": len(late) / max(len(ours.state.additions), 1),
    }


def at(run: Outcome[State], nodes: float) -> float:
    """NashConv by the time that so many nodes had been touched; infinite before the first measurement."""
    return next((row.nash_conv for row in reversed(run.rows) if row.nodes_touched <= nodes), math.inf)


def _street(decision: str) -> int:
    """2 after the public card, whose label stands in the line."""
    return 2 if any(move in ("J", "Q", "K") for move in decision.split()) else 1
