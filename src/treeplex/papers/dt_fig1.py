"""Brown, Kroer & Sandholm (2017), Figure 1: Hedge, regret matching and the excessive gap technique, pruned and not.

NashConv against nodes touched, on Leduc and Leduc-5 with the paper's bet sizes. CFR updates both players in one
traversal; the excessive gap technique needs three gradients per step, each a traversal. The paper states neither the
length of its runs nor its c and d. Our c and d did best in Figure 2 without harm. Ratios grow with the run; ours are
measured where the slower run ends. We run CFR+ with simultaneous updates, and also with alternating ones as in its own
paper, because this paper does not state which it uses.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from treeplex.algorithms.registry import build
from treeplex.api import load
from treeplex.papers.curves import Cost, Curve, Panel, nodes, ratio, ratio_columns, report_curves, run_curve, seconds
from treeplex.papers.report import PaperReport, Table, Tell
from treeplex.runs import Limits

ID: Final = "dt-fig1"

GAMES: Final = {"leduc": 'leduc(sizes="dt")', "leduc5": 'leduc5(sizes="dt")'}
NODES: Final = {  # by game and family (the beginning of a label)
    (game, family): millions * 10**6
    for game, budgets in {"leduc": (500, 1_000, 1_000, 500), "leduc5": (5_000, 10_000, 1_000, 1_000)}.items()
    for family, millions in zip(("EGT", "Hedge", "RM", "CFR+"), budgets, strict=True)
}
LINES: Final = {  # label: algorithm
    "EGT": "egt",
    "EGT, thresholds": "egt-dt(c=0.01)",
    "Hedge": "hedge(turns=simultaneous)",
    "Hedge, thresholds": "hedge-dt(d=5,turns=simultaneous)",
    "Hedge, thresholds and RBP": "hedge-dt-rbp(d=5,turns=simultaneous)",
    "RM, partial pruning": "cfr-partial(turns=simultaneous)",
    "RM, thresholds": "rm-dt(turns=simultaneous)",
    "RM, RBP": "cfr-rbp(turns=simultaneous)",
    "CFR+, partial pruning": "cfr+-partial(turns=simultaneous)",
    "CFR+, RBP": "cfr+-rbp(turns=simultaneous)",
    "CFR+, alternating": "cfr+-partial",
}
PANELS: Final = (  # as in the paper: the effect of thresholds on the left, all algorithms on the right
    ("EGT", "EGT, thresholds", "Hedge", "Hedge, thresholds", "Hedge, thresholds and RBP"),
    (
        "EGT, thresholds",
        "Hedge, thresholds and RBP",
        "RM, partial pruning",
        "RM, RBP",
        "CFR+, partial pruning",
        "CFR+, RBP",
        "CFR+, alternating",
    ),
)

RACE: Final = (LINES["RM, partial pruning"], LINES["Hedge, thresholds"])
COLUMNS: Final = ("game", "slower", "faster", "nash_conv", "nodes", "seconds")

Curves = dict[tuple[str, str], Curve]


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all algorithms; write the curves, a table of ratios and a figure."""
    curves: Curves = {}
    for short, name in GAMES.items():
        game = load(name)
        for label, algorithm in LINES.items():
            _compile(algorithm)
            family = label.partition(",")[0]
            goal = curves[short, family].best if (short, family) in curves else None
            limits = Limits(nash_conv=goal, nodes=NODES[short, family])  # no further than the plain run
            curves[short, label] = run_curve(game, label, algorithm, limits, tell)
    tell("nodes per second")
    measured = measure(curves) | {"nodes_per_second": _speed(RACE[0]) / _speed(RACE[1])}
    title = "Dynamic thresholding (Brown, Kroer & Sandholm 2017, Figure 1)"
    panels = [
        Panel(curves[game, labels[0]].game, [curves[game, label] for label in labels], up=Curve.nash_convs)
        for game in GAMES
        for labels in PANELS
    ]
    ratios = Table(COLUMNS, _table(curves))
    return report_curves(ID, folder, measured, list(curves.values()), title, panels, ratios)


def measure(curves: Curves) -> dict[str, float]:
    """Compute the measurements that the claims refer to."""
    out: dict[str, float] = {}
    for game in GAMES:
        out[f"{game}_egt"] = times(curves, game, "EGT", "EGT, thresholds")
        out[f"{game}_hedge"] = times(curves, game, "Hedge", "Hedge, thresholds and RBP")
        out[f"{game}_hedge_seconds"] = times(curves, game, "Hedge", "Hedge, thresholds and RBP", seconds)
        out[f"{game}_egt_seconds"] = times(curves, game, "EGT", "EGT, thresholds", seconds)
        out[f"{game}_matching_over_hedge"] = times(curves, game, "RM, RBP", "Hedge, thresholds and RBP")
        same = times(curves, game, "RM, partial pruning", "RM, thresholds")
        out["matching"] = max(same, 1.0 / same, out.get("matching", 1.0))
    out["egt_growth"] = out["leduc5_egt"] / out["leduc_egt"]
    out["hedge_growth"] = out["leduc5_hedge"] / out["leduc_hedge"]
    out["hedge_over_matching"] = 1.0 / out["leduc5_matching_over_hedge"]
    others = [label for label in LINES if not label.startswith("CFR+")]
    for name, plus in (("plus", "CFR+, partial pruning"), ("alternating", "CFR+, alternating")):
        out[f"{name}_ahead"] = min(times(curves, "leduc5", label, plus) for label in others)
        out[f"egt_over_{name}"] = times(curves, "leduc", plus, "EGT, thresholds")
    out["plus_pruned"] = curves["leduc", "CFR+, RBP"].best / curves["leduc", "CFR+, partial pruning"].best
    return out


def _compile(algorithm: str) -> None:
    """Compile an algorithm's kernels, so that seconds do not include it."""
    game, assembled = load("kuhn"), build(algorithm)
    assembled.advance(game, assembled.start(game), 1)


def _speed(algorithm: str, rounds: int = 10, stretch: int = 10) -> float:
    """Return nodes per second of processor time on Leduc-5, in the fastest of some stretches of a warm run."""
    game, assembled = load(GAMES["leduc5"]), build(algorithm)
    state, best = assembled.advance(game, assembled.start(game), 100), 0.0
    for _ in range(rounds):
        before, began = assembled.work(game, state).nodes, time.process_time()
        state = assembled.advance(game, state, stretch)
        best = max(best, (assembled.work(game, state).nodes - before) / (time.process_time() - began))
    return best


def times(curves: Curves, game: str, slow: str, fast: str, cost: Cost = nodes) -> float:
    """Return the first algorithm's cost over the second's, at the worse of both final NashConvs."""
    return ratio(curves[game, slow], curves[game, fast], cost)


def _table(curves: Curves) -> list[tuple[object, ...]]:
    """Return ratios at several levels of NashConv, since savings grow with the run."""
    rows: list[tuple[object, ...]] = []
    pairs = (("EGT", "EGT, thresholds"), ("Hedge", "Hedge, thresholds"), ("Hedge", "Hedge, thresholds and RBP"))
    for game in GAMES:
        for slow, fast in pairs:
            one, two = curves[game, slow], curves[game, fast]
            last, level = max(one.best, two.best), one.rows[0].nash_conv / 10.0
            while level > last:
                rows.append((game, slow, fast, *ratio_columns(one, two, level)))
                level /= 10.0**0.5
            rows.append((game, slow, fast, *ratio_columns(one, two, last)))
    return rows
