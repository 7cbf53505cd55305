"""Brown & Sandholm (2015), Figure 3: on Leduc-5, how many iterations a pruning must be expected to skip."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, nodes, plot, run_curve, write_curves
from treeplex.papers.rbp_fig1 import FAMILIES
from treeplex.papers.report import Report, Tell, judge
from treeplex.runs import Limits

ID: Final = "rbp-fig3"

THRESHOLDS: Final = (1, 5, 10, 25, 50)
NODES: Final = {"cfr": 5 * 10**8, "cfr+": 10**9}
EARLY: Final = 0.02  # of the nodes of a run


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all; leaves a CSV and a figure."""
    game = load("leduc5")
    curves: dict[str, list[Curve]] = {
        family: [
            run_curve(
                game,
                f"{title}, {skip}",
                f"{family}-rbp(threshold={skip},turns=simultaneous)",
                Limits(nodes=NODES[family]),
                tell,
            )
            for skip in THRESHOLDS
        ]
        for family, title in FAMILIES.items()
    }
    measured: dict[str, float] = {}
    for family, each in curves.items():
        early = [_at(curve, EARLY * NODES[family]) for curve in each]
        late = [_at(curve, NODES[family]) for curve in each]
        measured[f"{family}_spread"] = max(late) / min(late)
        measured[f"{family}_early"] = early[-1] / early[0]
        measured[f"{family}_late"] = late[0] / late[-1]
        measured[f"{family}_from_10_to_50"] = max(late[2] / late[-1], late[-1] / late[2])
    everything = [curve for each in curves.values() for curve in each]
    panels = [
        (
            FAMILIES[family],
            "nodes touched",
            "NashConv",
            [(curve.label, [nodes(row) for row in curve.rows], curve.best_so_far()) for curve in each],
        )
        for family, each in curves.items()
    ]
    figure = plot(folder / f"{ID}.png", "Least iterations to skip (Brown & Sandholm 2015, Figure 3)", panels)
    return Report(ID, judge(ID, measured), [write_curves(folder / f"{ID}.csv", everything), figure])


def _at(curve: Curve, touched: float) -> float:
    """The best NashConv within so many nodes."""
    lows = [low for row, low in zip(curve.rows, curve.best_so_far(), strict=True) if row.nodes_touched <= touched]
    return lows[-1] if lows else curve.rows[0].nash_conv
