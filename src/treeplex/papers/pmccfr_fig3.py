"""Ju et al. (2023), Figure 3: warm start by elimination on 100 × 100 matrix games with five good strategies per side.

``gaussian_matrix`` with five better strategies, xi = 10 / T as in the paper, T = 10,000 iterations of exploring. The
paper drops actions for good ("unsafe"). We also run our safe mode, which lets them return. "MCCFR" in the authors' code
samples only chance, and a matrix game has none: it is regret matching against the opponent's whole strategy.

CFR+ runs for 20 seconds per matrix, because the lead of a warm start grows with the length of the run. The others stop
where they are as good as CFR+ is at its end.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, Final

from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.samplers import pure_mccfr
from treeplex.algorithms.warm_start import WarmStart, warm_start
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.papers.seeded_curves import Curve, Point, curve, draw, reached
from treeplex.plots.plot import drawing

ID: Final = "pmccfr-fig3"

SEEDS: Final = 10  # matrices
SECONDS: Final = 20.0
DRAWN: Final = {"PMCCFR": 2.0}  # seconds of a curve that is drawn and not compared
WARM: Final[dict[str, WarmStart]] = {  # by sampler
    "PMCCFR": warm_start(mode="unsafe"),
    "MCCFR": warm_start(mode="unsafe", sampler="mccfr-external"),
    "chance sampling": warm_start(mode="unsafe", sampler="mccfr-chance"),
}
ALGORITHMS: Final[dict[str, Algorithm[CompiledGame, Any]]] = {  # the first sets the goal
    "CFR+": cfr_plus(),
    "PMCCFR": pure_mccfr(weight="log", average="same"),
    **{f"warm start by {sampler}": algorithm for sampler, algorithm in WARM.items()},
    "warm start by PMCCFR, safe": warm_start(),
}
COLOURS: Final = ("#d1782a", "#888888", "#2f5d9b", "#a03a6a", "#c9a227", "#6a9f58")


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all matrices; write a CSV and a figure."""
    runs: dict[str, list[Curve]] = {name: [] for name in ALGORITHMS}
    left: dict[str, list[float]] = {sampler: [] for sampler in WARM}
    shares: list[float] = []
    for seed in range(SEEDS):
        game, goal = load(f"gaussian_matrix(seed={seed})"), 0.0
        for name, algorithm in ALGORITHMS.items():
            tell(f"{game.name}, {name}")
            runs[name].append(curve(game, algorithm, DRAWN.get(name, SECONDS), seed, goal=goal))
            goal = runs["CFR+"][-1][-1].nash_conv
        for sampler, algorithm in WARM.items():
            state = algorithm.advance(game, algorithm.start(game, seed), algorithm.warmup)
            left[sampler].append(sum(int(mask[1:].sum()) for mask in state.kept) / 2.0)
        points, warmup = runs["warm start by PMCCFR"][-1], WARM["PMCCFR"].warmup
        exploring = next(point.seconds for point in points if point.iteration >= warmup)
        shares.append(exploring / runs["CFR+"][-1][-1].seconds)
    rows = [
        (f"gaussian_matrix(seed={seed})", name, *point)
        for name, curves in runs.items()
        for seed, points in enumerate(curves)
        for point in points
    ]
    plus, safe = runs["CFR+"], runs["warm start by PMCCFR, safe"]
    faster = _faster(plus, runs["warm start by PMCCFR"])
    measured = {
        "faster": faster,
        "safe_share": _faster(plus, safe) / max(faster, 1e-9),
        "fewer_nodes": _faster(plus, runs["warm start by PMCCFR"], "nodes"),
        "faster_mccfr": _faster(plus, runs["warm start by MCCFR"]),
        "faster_chance": _faster(plus, runs["warm start by chance sampling"]),
        "left_chance": median(left["chance sampling"]),
        "exploring": median(shares),
        "left_pmccfr": median(left["PMCCFR"]),
        "left_mccfr": median(left["MCCFR"]),
        "stuck_safe": float(sum(a[-1].nash_conv > b[-1].nash_conv for a, b in zip(safe, plus, strict=True))),
    }
    table = Table(["game", "algorithm", *Point._fields], rows)
    return report(ID, folder, measured, table, lambda path: _plot(runs, path))


def _faster(old: list[Curve], new: list[Curve], axis: str = "seconds") -> float:
    """Return the cost of CFR+ to its final NashConv over the new curve's; the median over all matrices."""
    ratios = [
        reached(plus, plus[-1].nash_conv, axis) / reached(warm, plus[-1].nash_conv, axis)
        for plus, warm in zip(old, new, strict=True)
    ]
    return median(ratios)


def _plot(runs: dict[str, list[Curve]], path: Path) -> None:
    with drawing(path, (7.5, 5), "", 1, 1) as (axes,):
        for (name, curves), colour in zip(runs.items(), COLOURS, strict=True):
            draw(axes, curves, "seconds", name, colour)
        axes.legend(frameon=False, fontsize=9)
        title = f"{SEEDS} matrices of 100 × 100, five good strategies per side (Ju et al. 2023, Figure 3)"
        axes.set_title(title, fontsize=10)
