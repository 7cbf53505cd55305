"""Brown & Sandholm (2015), Figure 1: regret-based against partial pruning on Leduc and Leduc-5.

NashConv and nodes per iteration against nodes touched, both players updated in one traversal. CFR+ is judged by the
best strategies so far, as in the paper. The paper does not state the length of its runs. Ratios grow with the run; ours
are measured where the run with partial pruning ends. CFR on Leduc runs to 2e-4, because its ratio still grows at 5e-4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, Panel, nodes, ratio, ratio_columns, report_curves, run_curve, seconds
from treeplex.papers.report import PaperReport, Table, Tell
from treeplex.runs import Limits

ID: Final = "rbp-fig1"

TURNS: Final = "(turns=simultaneous)"  # the paper updates both players in one traversal

GAMES: Final = ("leduc", "leduc5")
FAMILIES: Final = {"cfr": "CFR", "cfr+": "CFR+"}
NODES: Final = {  # with partial pruning; regret-based pruning runs until it is as good
    ("leduc", "cfr"): 15 * 10**10,
    ("leduc", "cfr+"): 10**9,
    ("leduc5", "cfr"): 2 * 10**9,
    ("leduc5", "cfr+"): 3 * 10**9,
}
GOALS: Final = {("leduc", "cfr"): 2e-4}  # NashConv at which partial pruning stops
LEVELS: Final = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0005, 0.0003, 0.0001)


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all algorithms; write the curves, a table of ratios and a figure."""
    pairs: dict[tuple[str, str], tuple[Curve, Curve]] = {}
    for name in GAMES:
        game = load(name)
        for family, title in FAMILIES.items():
            limits = Limits(nash_conv=GOALS.get((name, family)), nodes=NODES[name, family])
            partial = run_curve(game, f"{title}, partial pruning", f"{family}-partial{TURNS}", limits, tell)
            goal = Limits(nash_conv=partial.best, nodes=4 * NODES[name, family])
            regret = run_curve(game, f"{title}, regret-based pruning", f"{family}-rbp{TURNS}", goal, tell)
            pairs[name, family] = partial, regret
    curves = [curve for pair in pairs.values() for curve in pair]
    measured: dict[str, float] = {}
    for (name, family), (partial, regret) in pairs.items():
        measured[f"{name}_{family}_nodes"] = ratio(partial, regret, nodes, partial.best)
        measured[f"{name}_{family}_seconds"] = ratio(partial, regret, seconds, partial.best)
        rates = [curve.nodes_per_iteration()[-1] for curve in (partial, regret)]
        measured[f"{name}_{family}_per_iteration"] = rates[0] / rates[1]
        share = measured[f"{name}_{family}_seconds"] / measured[f"{name}_{family}_nodes"]
        measured["least_share_in_seconds"] = min(share, measured.get("least_share_in_seconds", share))
    rows = [
        (name, family, *ratio_columns(partial, regret, level))
        for (name, family), (partial, regret) in pairs.items()
        for level in (*(level for level in LEVELS if partial.best < level < partial.rows[0].nash_conv), partial.best)
    ]
    panels = [
        Panel(name, [curve for curve in curves if curve.game == name], up=up)
        for up in (Curve.best_so_far, Curve.nodes_per_iteration)
        for name in GAMES
    ]
    title = "Regret-based pruning (Brown & Sandholm 2015, Figure 1)"
    ratios = Table(["game", "algorithm", "nash_conv", "nodes", "seconds"], rows)
    return report_curves(ID, folder, measured, curves, title, panels, ratios)
