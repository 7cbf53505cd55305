"""Ju et al. (2023), Figure 3: warm start by elimination on 100 × 100 matrix games with five good strategies per side.

``gaussian_matrix`` with five better strategies, xi = 10 / T as in the paper, T = 10,000 iterations of exploring. The
paper drops actions for good ("unsafe"); beside it, our safe mode, which lets them back in.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, Final

from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.mccfr import pure_mccfr
from treeplex.algorithms.tabular import Tabular
from treeplex.algorithms.warm_start import WarmStart, warm_start
from treeplex.api import load
from treeplex.papers.report import Report, Tell, judge, write_csv
from treeplex.papers.seeded_curves import Curve, curve, draw, reached

ID: Final = "pmccfr-fig3"

SEEDS: Final = 10  # matrices
SECONDS: Final = 2.0
ALGORITHMS: Final[dict[str, Tabular[Any]]] = {
    "PMCCFR": pure_mccfr(),
    "CFR+": cfr_plus(),
    "warm start by PMCCFR": warm_start(mode="unsafe"),
    "warm start by MCCFR": warm_start(mode="unsafe", sampler="mccfr-external"),
    "warm start by PMCCFR, safe": warm_start(),
}
COLOURS: Final = ("#888888", "#d1782a", "#2f5d9b", "#a03a6a", "#6a9f58")


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all matrices; leaves a CSV and a figure."""
    runs: dict[str, list[Curve]] = {name: [] for name in ALGORITHMS}
    left: dict[str, list[float]] = {"PMCCFR": [], "MCCFR": []}
    shares: list[float] = []
    for seed in range(SEEDS):
        game = load(f"gaussian_matrix(seed={seed})")
        for name, algorithm in ALGORITHMS.items():
            tell(f"{game.name}, {name}")
            runs[name].append(curve(game, algorithm, SECONDS, seed))
        for name, kept in left.items():
            algorithm = ALGORITHMS[f"warm start by {name}"]
            assert isinstance(algorithm, WarmStart)  # noqa: S101 - by the table above
            state = algorithm.advance(game, algorithm.start(game, seed), algorithm.warmup)
            kept.append(sum(int(mask[1:].sum()) for mask in state.kept) / 2.0)
        shares.append(_exploring(runs["warm start by PMCCFR"][-1]) / runs["CFR+"][-1][-1].seconds)
    rows = [
        (f"gaussian_matrix(seed={seed})", name, *point)
        for name, curves in runs.items()
        for seed, points in enumerate(curves)
        for point in points
    ]
    table = write_csv(folder / f"{ID}.csv", ["game", "algorithm", "iteration", "nodes", "seconds", "nash_conv"], rows)
    figure = _plot(runs, folder / f"{ID}.png")
    measured = {
        "faster": _faster(runs["CFR+"], runs["warm start by PMCCFR"]),
        "safe_share": _faster(runs["CFR+"], runs["warm start by PMCCFR, safe"])
        / max(_faster(runs["CFR+"], runs["warm start by PMCCFR"]), 1e-9),
        "fewer_nodes": _faster(runs["CFR+"], runs["warm start by PMCCFR"], "nodes"),
        "faster_mccfr": _faster(runs["CFR+"], runs["warm start by MCCFR"]),
        "exploring": median(shares),
        "left_pmccfr": median(left["PMCCFR"]),
        "left_mccfr": median(left["MCCFR"]),
        "stuck_safe": float(
            sum(
                safe[-1].nash_conv > plus[-1].nash_conv
                for safe, plus in zip(runs["warm start by PMCCFR, safe"], runs["CFR+"], strict=True)
            )
        ),
    }
    return Report(ID, judge(ID, measured), [table, figure])


def _faster(old: list[Curve], new: list[Curve], axis: str = "seconds") -> float:
    """How many times sooner the NashConv that CFR+ ends with is reached; the median of all matrices."""
    ratios = [
        reached(plus, plus[-1].nash_conv, axis) / reached(warm, plus[-1].nash_conv, axis)
        for plus, warm in zip(old, new, strict=True)
    ]
    return median(ratios)


def _exploring(points: Curve) -> float:
    """Seconds until the first point after the exploration."""
    algorithm = ALGORITHMS["warm start by PMCCFR"]
    assert isinstance(algorithm, WarmStart)  # noqa: S101 - by the table above
    return next(point.seconds for point in points if point.iteration >= algorithm.warmup)


def _plot(runs: dict[str, list[Curve]], path: Path) -> Path:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.subplots()
    for (name, curves), colour in zip(runs.items(), COLOURS, strict=True):
        draw(axes, curves, "seconds", name, colour)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("NashConv")
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(
        f"{SEEDS} matrices of 100 × 100, five good strategies per side (Ju et al. 2023, Figure 3)", fontsize=10
    )
    figure.savefig(path, dpi=130, format="png")
    return path
