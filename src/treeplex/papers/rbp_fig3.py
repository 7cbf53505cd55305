"""Brown & Sandholm (2015), Figure 3: the minimum number of iterations that a pruning must skip, on Leduc-5."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, Panel, report_curves, run_curve
from treeplex.papers.rbp_fig1 import FAMILIES
from treeplex.papers.report import PaperReport, Tell
from treeplex.runs import Limits

ID: Final = "rbp-fig3"

THRESHOLDS: Final = (1, 5, 10, 25, 50)
NODES: Final = {"cfr": 5 * 10**8, "cfr+": 10**9}
EARLY: Final = 0.02  # of the nodes of a run


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all thresholds; write a CSV and a figure."""
    game = load("leduc5")
    curves: dict[str, list[Curve]] = {}
    measured: dict[str, float] = {}
    for family, title in FAMILIES.items():
        limits, algorithm = Limits(nodes=NODES[family]), f"{family}-rbp(threshold={{}},turns=simultaneous)"
        each = [run_curve(game, f"{title}, {skip}", algorithm.format(skip), limits, tell) for skip in THRESHOLDS]
        curves[family] = each
        early = [_at(curve, EARLY * NODES[family]) for curve in each]
        late = [_at(curve, NODES[family]) for curve in each]
        measured[f"{family}_spread"] = max(late) / min(late)
        measured[f"{family}_early"] = early[-1] / early[0]
        measured[f"{family}_late"] = late[0] / late[-1]
        measured[f"{family}_from_10_to_50"] = max(late[2] / late[-1], late[-1] / late[2])
    everything = [curve for each in curves.values() for curve in each]
    panels = [Panel(FAMILIES[family], each) for family, each in curves.items()]
    title = "Least iterations to skip (Brown & Sandholm 2015, Figure 3)"
    return report_curves(ID, folder, measured, everything, title, panels)


def _at(curve: Curve, touched: float) -> float:
    """Return the best NashConv within ``touched`` nodes."""
    lows = [low for row, low in zip(curve.rows, curve.best_so_far(), strict=True) if row.nodes_touched <= touched]
    return lows[-1] if lows else curve.rows[0].nash_conv
