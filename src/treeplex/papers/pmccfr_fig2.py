"""Ju et al. (2023), Figure 2: convergence over nodes touched and over seconds, with 90 % intervals.

The paper runs each of 30 rounds for 1000 seconds of Python; here a second or two of kernels does more iterations. Its
games are named by size only: "14-Card 1-Action 1-Len Leduc" is ``leduc_ext(14,1,1)``; for Kuhn we take the extension of
Table 1, for princess and monster the board of the authors' code. CFR and CFR+ are our array solvers, which count
the whole tree as touched in each pass; the paper's walk it and skip what nobody reaches.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, Final

from treeplex.algorithms.cfr import cfr, cfr_plus
from treeplex.algorithms.mccfr import mccfr_external, pure_cfr, pure_mccfr
from treeplex.algorithms.protocol import Algorithm
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.evaluation.plot import drawing
from treeplex.papers.report import Report, Table, Tell, report
from treeplex.papers.seeded_curves import LABELS, Curve, Point, crossing, curve, draw

ID: Final = "pmccfr-fig2"

GAMES: Final = {
    "leduc": "leduc_ext(cards=14,bets=1,raises=1)",
    "kuhn": "kuhn_ext(cards=3,bets=20,raises=7)",
    "pursuit": 'princess_and_monster(horizon=3,holes="a1 c1")',
}
ALGORITHMS: Final[dict[str, Algorithm[CompiledGame, Any]]] = {
    "CFR": cfr(),
    "CFR+": cfr_plus(),
    "PCFR": pure_cfr(),
    "MCCFR": mccfr_external(weight="square"),
    "PMCCFR": pure_mccfr(),
}
COLOURS: Final = {"CFR": "#888888", "CFR+": "#d1782a", "PCFR": "#6a9f58", "MCCFR": "#a03a6a", "PMCCFR": "#2f5d9b"}
RANDOM: Final = ("PCFR", "MCCFR", "PMCCFR")
SEEDS: Final = 10
SECONDS: Final = 2.0


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all games; leaves a CSV and a figure."""
    runs: dict[str, dict[str, list[Curve]]] = {}
    for name, spec in GAMES.items():
        game = load(spec)
        runs[name] = {algorithm: [] for algorithm in ALGORITHMS}
        for seed in range(SEEDS):
            for algorithm in ALGORITHMS if seed == 0 else RANDOM:  # alternating: none has the quiet hour alone
                tell(f"{game.name}, {algorithm}: run {seed + 1}")
                runs[name][algorithm].append(curve(game, ALGORITHMS[algorithm], SECONDS, seed))
    rows = [
        (GAMES[name], algorithm, seed, *point)
        for name, of_game in runs.items()
        for algorithm, curves in of_game.items()
        for seed, points in enumerate(curves)
        for point in points
    ]
    measured: dict[str, float] = {}
    for name, of_game in runs.items():
        measured |= {f"{name}_{key}": value for key, value in _compared(of_game["MCCFR"], of_game["PMCCFR"]).items()}
    last = median(points[-1].nash_conv for points in runs["leduc"]["MCCFR"])  # at the end of the time
    measured["plus_overtakes"] = last / runs["leduc"]["CFR+"][0][-1].nash_conv
    table = Table(["game", "algorithm", "seed", *Point._fields], rows)
    return report(ID, folder, measured, table, lambda path: _plot(runs, path))


def _compared(old: list[Curve], new: list[Curve]) -> dict[str, float]:
    """How many times the seconds, and the nodes, MCCFR needs for the NashConv that both reach; and the pace of both."""
    pace = [median(points[-1].nodes / points[-1].seconds for points in curves) for curves in (old, new)]
    return {axis: crossing(old, new, axis) for axis in ("seconds", "nodes")} | {"pace": pace[1] / pace[0]}


def _plot(runs: dict[str, dict[str, list[Curve]]], path: Path) -> None:
    title = f"Convergence (Ju et al. 2023, Figure 2): median and 90 % of {SEEDS} seeds"
    with drawing(path, (13, 7.5), title, len(LABELS), len(runs)) as panels:
        for axes, (axis, (name, of_game)) in zip(panels, product(LABELS, runs.items()), strict=True):
            for algorithm, curves in of_game.items():
                draw(axes, curves, axis, algorithm, COLOURS[algorithm])
            if axis == "nodes":
                axes.set_title(GAMES[name], fontsize=10)
        panels[0].legend(frameon=False)
