"""Brown, Kroer & Sandholm (2017), Figure 2: how aggressive thresholds may be.

For the excessive gap technique: c of c / T, with the paper's values. For Hedge: d of the threshold of Theorem 1. The
paper's values of d appear only in its figure; ours span a factor of fifty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, Panel, report_curves, run_curve
from treeplex.papers.dt_fig1 import GAMES
from treeplex.papers.report import PaperReport, Tell
from treeplex.runs import Limits

ID: Final = "dt-fig2"

NODES: Final = {"leduc": 2 * 10**8, "leduc5": 15 * 10**8}
EGT: Final = (0.001, 0.005, 0.01, 0.05)
HEDGE: Final = (0.1, 0.5, 1.0, 5.0)
MILD: Final = 3  # number of mild values of c; the last one is not mild

Curves = dict[tuple[str, str, float], Curve]
"""Curves by game, algorithm and parameter; zero means no threshold."""


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all algorithms; write a CSV and a figure."""
    curves: Curves = {}
    for short, name in GAMES.items():
        game, limits = load(name), Limits(nodes=NODES[short])
        curves[short, "egt", 0.0] = run_curve(game, "EGT", "egt", limits, tell)
        for c in EGT:
            curves[short, "egt", c] = run_curve(game, f"EGT, c = {c:g}", f"egt-dt(c={c})", limits, tell)
        curves[short, "hedge", 0.0] = run_curve(game, "Hedge", "hedge(turns=simultaneous)", limits, tell)
        for d in HEDGE:
            algorithm = f"hedge-dt(d={d},turns=simultaneous)"
            curves[short, "hedge", d] = run_curve(game, f"Hedge, d = {d:g}", algorithm, limits, tell)
    panels = [
        Panel(
            curves[game, family, 0.0].game, [curves[game, family, x] for x in (0.0, *parameters)], up=Curve.nash_convs
        )
        for game in GAMES
        for family, parameters in (("egt", EGT), ("hedge", HEDGE))
    ]
    title = "Aggressiveness (Brown, Kroer & Sandholm 2017, Figure 2)"
    return report_curves(ID, folder, measure(curves), list(curves.values()), title, panels)


def measure(curves: Curves) -> dict[str, float]:
    """Compute the measurements of the claims: NashConv at the end of runs of equally many nodes."""
    out: dict[str, float] = {}
    for game in GAMES:
        hedge = [curves[game, "hedge", d].best for d in HEDGE]
        mild = [curves[game, "egt", c].best for c in EGT[:MILD]]
        out[f"{game}_hedge_spread"] = max(hedge) / min(hedge)
        out[f"{game}_hedge_gain"] = curves[game, "hedge", 0.0].best / max(hedge)
        out[f"{game}_egt_spread"] = max(mild) / min(mild)
        out[f"{game}_egt_gain"] = curves[game, "egt", 0.0].best / max(mild)
        out[f"{game}_egt_too_much"] = curves[game, "egt", EGT[-1]].best / min(mild)
    return out
