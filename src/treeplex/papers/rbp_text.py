"""Brown & Sandholm (2015): claims of the text, beside the figures. Sections 3, 4 and 4.2.

CFR-BR against CFR, linear averages in vanilla CFR, tighter bounds in (9), and prunings that last too long. Leduc, and
Leduc-5 where the size of the game matters; both players are updated in one traversal, as in the paper.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from treeplex.api import load
from treeplex.papers.curves import Curve, Panel, iterations, nodes, ratio, report_curves, run_curve
from treeplex.papers.report import PaperReport, Tell
from treeplex.runs import Limits

ID: Final = "rbp-text"

ITERATIONS: Final = 20_000
NODES: Final = {"leduc": 3 * 10**8, "leduc5": 5 * 10**8}
ARRAYS: Final = {  # label: algorithm
    "CFR": "cfr(turns=simultaneous)",
    "CFR-BR": "cfr-br",
    "CFR, linear average": "cfr(turns=simultaneous,average=linear)",
}
PRUNED: Final = {
    "RBP": "cfr-rbp(turns=simultaneous)",
    "RBP, tighter bound": "cfr-rbp(turns=simultaneous,bound=expected)",
    "RBP, 3 times too long": "cfr-rbp(turns=simultaneous,stretch=3)",
    "RBP, 10 times too long": "cfr-rbp(turns=simultaneous,stretch=10)",
}
EARLY: Final = 0.1  # of the nodes of a run


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all algorithms; write a CSV and a figure."""
    leduc, leduc5 = load("leduc"), load("leduc5")
    limits = Limits(iterations=ITERATIONS)
    plain = {label: run_curve(leduc, label, algorithm, limits, tell) for label, algorithm in ARRAYS.items()}
    pruned = {
        (game.name, label): run_curve(game, label, algorithm, Limits(nodes=NODES[game.name]), tell)
        for game in (leduc, leduc5)
        for label, algorithm in PRUNED.items()
    }
    measured = measure(plain, pruned)
    panels = [
        Panel("leduc: both players respond, averages", list(plain.values()), across=iterations),
        *(Panel(name, [curve for (game, _), curve in pruned.items() if game == name]) for name in NODES),
        Panel("leduc, by iterations", [pruned["leduc", label] for label in PRUNED], across=iterations),
    ]
    title = "Claims of the text (Brown & Sandholm 2015)"
    return report_curves(ID, folder, measured, [*plain.values(), *pruned.values()], title, panels)


def measure(plain: dict[str, Curve], pruned: dict[tuple[str, str], Curve]) -> dict[str, float]:
    """Compute the measurements that the claims refer to."""
    out = {
        "br": ratio(plain["CFR-BR"], plain["CFR"], iterations),
        "linear": plain["CFR, linear average"].nash_convs()[-1] / plain["CFR"].nash_convs()[-1],
    }
    for game in NODES:
        exact = pruned[game, "RBP"]
        out[f"{game}_tighter"] = ratio(exact, pruned[game, "RBP, tighter bound"], nodes)
        for factor in (3, 10):
            longer = pruned[game, f"RBP, {factor} times too long"]
            out[f"{game}_{factor}_falls"] = at(longer, EARLY * NODES[game]) / longer.best
            out[f"{game}_{factor}_slower"] = ratio(longer, exact, iterations)
            out[f"{game}_{factor}_nodes"] = ratio(longer, exact, nodes)
    return out


def at(curve: Curve, touched: float) -> float:
    """Return the best NashConv within ``touched`` nodes."""
    lows = zip(curve.rows, curve.best_so_far(), strict=True)
    return min((low for row, low in lows if row.nodes_touched <= touched), default=curve.rows[0].nash_conv)
