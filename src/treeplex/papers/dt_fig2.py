"""Brown, Kroer & Sandholm (2017), Figure 2: how aggressive thresholds may be.

For the excessive gap technique c of c / T, with the paper's values; for Hedge d of the threshold of Theorem 1, where
the paper's values are in its figure alone: ours span a factor of fifty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, nodes, plot, run_curve, write_curves
from treeplex.papers.dt_fig1 import GAMES
from treeplex.papers.report import Report, Tell, judge
from treeplex.runs import Limits

ID: Final = "dt-fig2"

NODES: Final = {"leduc": 2 * 10**8, "leduc5": 15 * 10**8}
EGT: Final = (0.001, 0.005, 0.01, 0.05)
HEDGE: Final = (0.1, 0.5, 1.0, 5.0)
MILD: Final = 3  # so many c are mild, the last is not

Curves = dict[tuple[str, str, float], Curve]
"""By game, algorithm and parameter; zero: no threshold."""


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all; leaves a CSV and a figure."""
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
        (
            curves[game, family, 0.0].game,
            "nodes touched",
            "NashConv",
            [
                (curve.label, [nodes(row) for row in curve.rows], [row.nash_conv for row in curve.rows])
                for (where, kind, _), curve in curves.items()
                if (where, kind) == (game, family)
            ],
        )
        for game in GAMES
        for family in ("egt", "hedge")
    ]
    figure = plot(folder / f"{ID}.png", "Aggressiveness (Brown, Kroer & Sandholm 2017, Figure 2)", panels)
    table = write_curves(folder / f"{ID}.csv", list(curves.values()))
    return Report(ID, judge(ID, measure(curves)), [table, figure])


def measure(curves: Curves) -> dict[str, float]:
    """What the claims are about: NashConv at the end of runs of equally many nodes."""
    out: dict[str, float] = {}
    for game in GAMES:
        hedge = [_last(curves[game, "hedge", d]) for d in HEDGE]
        mild = [_last(curves[game, "egt", c]) for c in EGT[:MILD]]
        out[f"{game}_hedge_spread"] = max(hedge) / min(hedge)
        out[f"{game}_hedge_gain"] = _last(curves[game, "hedge", 0.0]) / max(hedge)
        out[f"{game}_egt_spread"] = max(mild) / min(mild)
        out[f"{game}_egt_gain"] = _last(curves[game, "egt", 0.0]) / max(mild)
        out[f"{game}_egt_too_much"] = _last(curves[game, "egt", EGT[-1]]) / min(mild)
    return out


def _last(curve: Curve) -> float:
    return curve.best_so_far()[-1]
