"""Brown & Sandholm (2015), Figure 2: best responses in zero-reach sequences, against nodes touched and iterations.

For CFR we also run the paper's rule with the range of counterfactual values in place of the range of payoffs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, Panel, iterations, nodes, ratio, report_curves, run_curve
from treeplex.papers.rbp_fig1 import FAMILIES, GAMES, TURNS
from treeplex.papers.report import PaperReport, Tell
from treeplex.runs import Limits

ID: Final = "rbp-fig2"

NODES: Final = {
    ("leduc", "cfr"): 3 * 10**9,
    ("leduc", "cfr+"): 3 * 10**8,
    ("leduc5", "cfr"): 2 * 10**9,
    ("leduc5", "cfr+"): 2 * 10**9,
}


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all algorithms; write a CSV and a figure."""
    curves: list[Curve] = []
    measured: dict[str, float] = {}
    for name in GAMES:
        game = load(name)
        for family, title in FAMILIES.items():
            limits = Limits(nodes=NODES[name, family])
            plain = run_curve(game, f"{title}, partial pruning", f"{family}-partial{TURNS}", limits, tell)
            answer = run_curve(game, f"{title}, best responses", f"{family}-zero-reach-br{TURNS}", limits, tell)
            measured[f"{name}_{family}_nodes"] = ratio(plain, answer, nodes)
            measured[f"{name}_{family}_iterations"] = ratio(plain, answer, iterations)
            curves += [plain, answer]
            if family == "cfr":
                algorithm = f"cfr-zero-reach-br{TURNS[:-1]},spread=counterfactual)"
                tighter = run_curve(game, f"{title}, best responses, counterfactual range", algorithm, limits, tell)
                measured[f"{name}_tighter_iterations"] = ratio(plain, tighter, iterations)
                measured[f"{name}_tighter_nodes"] = ratio(plain, tighter, nodes)
                curves.append(tighter)
    for measure in ("nodes", "iterations"):
        plus = [measured[f"{name}_cfr+_{measure}"] for name in GAMES]
        measured[f"cfr+_{measure}_most"] = max(*plus, *(1.0 / each for each in plus))
    panels = [
        Panel(name, [curve for curve in curves if curve.game == name], across)
        for across in (nodes, iterations)
        for name in GAMES
    ]
    title = "Best responses in zero-reach sequences (Brown & Sandholm 2015, Figure 2)"
    return report_curves(ID, folder, measured, curves, title, panels)
