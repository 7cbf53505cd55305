"""Brown & Sandholm (2015), simultaneous abstraction and equilibrium finding, Figure 1: continuous Leduc hold'em.

Fixed abstractions against ones that grow, by vanilla CFR: NashConv in the full game and the size of the abstraction,
against nodes touched. In the full game bets of every size are legal and translated by the pseudo-harmonic mapping. Each
fixed abstraction is drawn with its plateau, the NashConv that it converges to. Branch-5 and Recovery-1.01 also run with
ten times the nodes, because Branch-5 has not levelled off before.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.growth.algorithm import Growing, GrowthState
from treeplex.growth.options import Growth
from treeplex.limits import Limits
from treeplex.papers.curves import dense_run
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.problems.loading import sized_game
from treeplex.runs.loop import RunOutcome

ID: Final = "saef-fig1"

NODES: Final = 3_000_000_000
LATER: Final = 10  # times as many nodes, for two of the curves
LONG: Final = ("Branch-5", "Recovery-1.01")
LONGER: Final = ", longer"  # ends the names of these runs
SNAPSHOTS: Final = tuple(float(nodes) for nodes in np.geomspace(1e6, NODES, 36))
EXTRA: Final = ("nash_conv_in_abstraction", "histories", "sizes", "weight")
FIXED: Final = ("Branch-2", "Branch-3", "Branch-5")
CONVERGED: Final = 0.01  # NashConv in the abstraction over that in the full game, at a plateau

CURVES: Final = {  # label: initial sizes and options of growth
    "Branch-2": ("branch-2", Growth(factor=math.inf)),
    "Branch-3": ("branch-3", Growth(factor=math.inf)),
    "Branch-5": ("branch-5", Growth(factor=math.inf)),
    "Recovery-1.0": ("branch-2", Growth(factor=1.0)),
    "Recovery-1.01": ("branch-2", Growth(factor=1.01)),
    "Transfer": ("branch-2", Growth("transfer", factor=1.01)),
    "Recovery-1.1": ("branch-2", Growth(factor=1.1)),
    "Recovery-2.0": ("branch-2", Growth(factor=2.0)),
}
"""The six curves of the figure, and the two thresholds that its text compares."""


class Plateau(NamedTuple):
    """The limit of a fixed abstraction."""

    full: float  # NashConv in the full game
    inside: float  # NashConv in the abstraction, which is nearly solved
    nodes: int  # nodes that CFR+ touched


def reproduce(folder: Path, tell: Tell, nodes: int = NODES) -> PaperReport:
    """Run all curves to ``nodes``; write a CSV and a figure."""
    runs: dict[str, RunOutcome[GrowthState]] = {}
    for name in CURVES:
        tell(f"{name} ({len(runs) + 1} of {len(CURVES)})")
        runs[name] = growth_run(name, nodes)
    for name in LONG:
        tell(f"{name}, {LATER} times as long")
        runs[name + LONGER] = growth_run(name, LATER * nodes)
    tell("plateaus of the fixed abstractions")
    levels = plateaus(nodes)
    rows = [
        (name, row.iteration, row.nodes_touched, row.nash_conv, *(row.extra[column] for column in EXTRA), level)
        for name, run in runs.items()
        for level in [levels[name].full if name in levels else ""]
        for row in run.rows
    ]
    table = Table(["curve", "iteration", "nodes", "nash_conv", *EXTRA, "plateau"], rows)
    return report(ID, folder, measure(runs, levels, nodes), table, lambda path: _plot(runs, levels, path))


def growth_run(name: str, nodes: int) -> RunOutcome[GrowthState]:
    """Run one of the curves to ``nodes``."""
    sizes, growth = CURVES[name]
    start = sized_game(f'continuous_leduc(sizes="{sizes}")')
    return dense_run(start, Growing(growth), Limits(nodes=nodes))


def plateaus(nodes: int = NODES) -> dict[str, Plateau]:
    """Run CFR+ until NashConv in the abstraction is small against that in the full game, or for ``nodes``."""
    by_name: dict[str, Plateau] = {}
    for name in FIXED:
        start = sized_game(f'continuous_leduc(sizes="{CURVES[name][0]}")')
        game = GrowingGame(start.rules, start.menu, RULES["cfr+"])
        while name not in by_name:
            game.advance(100)
            full, inside = game.measure().nash_conv, game.measure(whole=False).nash_conv
            if inside <= CONVERGED * full or game.touched >= nodes:
                by_name[name] = Plateau(full, inside, game.touched)
    return by_name


def measure(runs: dict[str, RunOutcome[GrowthState]], levels: dict[str, Plateau], nodes: int) -> dict[str, float]:
    """Compute the measurements that the claims refer to."""
    snapshots = [snapshot for snapshot in SNAPSHOTS if snapshot <= nodes]
    ours = runs["Recovery-1.01"]
    final = {name: run.evaluation.nash_conv for name, run in runs.items()}
    fall = {name: final[name] / at(run, nodes / 10) for name, run in runs.items()}
    late_final = {name: final[name + LONGER] for name in LONG}
    late = [addition for addition in ours.state.additions if _street(addition.decision) == 2]
    return {
        "worst_snapshot": max(at(ours, n) / min(at(runs[name], n) for name in FIXED) for n in snapshots),
        "final_over_best_fixed": final["Recovery-1.01"] / min(final[name] for name in FIXED),
        "final_over_best_plateau": final["Recovery-1.01"] / min(level.full for level in levels.values()),
        "branch_5_over_plateau": final["Branch-5"] / levels["Branch-5"].full,
        "fixed_fall": min(fall[name] for name in FIXED),
        "coarse_fixed_fall": min(fall["Branch-2"], fall["Branch-3"]),
        "grown_fall": max(fall["Recovery-1.01"], fall["Transfer"]),
        "transfer_over_recovery": final["Transfer"] / final["Recovery-1.01"],
        "factor_1_over_1.01": final["Recovery-1.0"] / final["Recovery-1.01"],
        "factor_1.1_over_1.01": final["Recovery-1.1"] / final["Recovery-1.01"],
        "factor_2_over_1.01": final["Recovery-2.0"] / final["Recovery-1.01"],
        "late_branch_5_over_plateau": late_final["Branch-5"] / levels["Branch-5"].full,
        "late_branch_5_fall": late_final["Branch-5"] / final["Branch-5"],
        "late_grown_fall": late_final["Recovery-1.01"] / final["Recovery-1.01"],
        "late_over_best_plateau": late_final["Recovery-1.01"] / min(level.full for level in levels.values()),
        "near_the_bottom": len(late) / max(len(ours.state.additions), 1),
    }


def at(run: RunOutcome[GrowthState], nodes: float) -> float:
    """Return NashConv after ``nodes`` touched nodes, or infinity before the first measurement."""
    return next((row.nash_conv for row in reversed(run.rows) if row.nodes_touched <= nodes), math.inf)


def _street(decision: str) -> int:
    """Return 2 if the line has the label of the public card, else 1."""
    return 2 if any(move in ("J", "Q", "K") for move in decision.split()) else 1


def _plot(runs: dict[str, RunOutcome[GrowthState]], levels: dict[str, Plateau], path: Path) -> None:
    """Plot NashConv above, with dotted lines at plateaus, and the size of the abstraction below."""
    title = "Continuous Leduc hold'em (Brown & Sandholm 2015, Figure 1)"
    with drawing(path, (8, 7), title, 2, 1, sharex=True, height_ratios=(3, 2)) as (upper, lower):
        for curve, run in runs.items():
            name = curve.removesuffix(LONGER)
            if curve + LONGER in runs:  # the longer run begins with the same points
                continue
            touched = [row.nodes_touched for row in run.rows]
            histories = [row.extra["histories"] + row.extra["archived"] for row in run.rows]
            style = {"label": name, "linewidth": 1.6, "linestyle": "--" if name in FIXED else "-"}
            (line,) = upper.plot(touched, [row.nash_conv for row in run.rows], **style)
            if name in levels:
                upper.axhline(levels[name].full, color=line.get_color(), linewidth=1.0, linestyle=":")
            lower.plot(touched, histories, **style)
        upper.set(xscale="log", yscale="log", ylabel="NashConv in the full game, chips per hand")
        lower.set(xscale="log", yscale="log", ylabel="histories of the abstraction", xlabel="nodes touched")
        upper.legend(frameon=False)
