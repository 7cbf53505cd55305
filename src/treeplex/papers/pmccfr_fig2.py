"""Ju et al. (2023), Figure 2: convergence over nodes touched and over seconds, with 90 % intervals.

The paper runs each of 30 rounds for 1000 seconds of Python; here a second or two of kernels does more iterations. Two
settings run side by side:

* the paper's, as in Table 1: all start from random strategies, both players update at once, CFR and MCCFR have square
  weights, PCFR and PMCCFR log weights. "MCCFR" samples only chance, as in the authors' code, and CFR and CFR+ walk the
  tree. "14-Card 1-Action 1-Len Leduc" is the game of the authors' code, with 207,887 nodes.
* ours: alternating updates, external sampling, CFR and CFR+ on arrays, Pure MCCFR with its defaults, and a Leduc whose
  bets rise (``leduc_ext``).

Kuhn is the extension of Table 1; princess and monster uses the board of the authors' code. Quality is NashConv. The
authors' code measures a smaller number: one deviation, by the argmax of immediate regrets.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, Final

from treeplex.algorithms.cfr import cfr, cfr_plus
from treeplex.algorithms.options import UNIFORM
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.samplers import mccfr_external, pure_cfr, pure_mccfr
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.papers.pmccfr_table1 import ALGORITHMS as ALL
from treeplex.papers.pmccfr_table1 import START
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.papers.seeded_curves import LABELS, Curve, Point, crossing, curve, draw
from treeplex.plots.plot import drawing

ID: Final = "pmccfr-fig2"

GAMES: Final = {  # by setting
    "paper": {
        "leduc": "leduc_pots(ranks=14,bets=1,open_raise=true)",
        "kuhn": "kuhn_ext(cards=3,bets=20,raises=7)",
        "pursuit": 'princess_and_monster(horizon=3,holes="a1 c1")',
    },
    "ours": {
        "leduc": "leduc_ext(cards=14,bets=1,raises=1)",
        "kuhn": "kuhn_ext(cards=3,bets=20,raises=7)",
        "pursuit": 'princess_and_monster(horizon=3,holes="a1 c1")',
    },
}
ALGORITHMS: Final[dict[str, dict[str, Algorithm[CompiledGame, Any]]]] = {
    "paper": {name: ALL[name] for name in ("CFR", "CFR+", "PCFR", "MCCFR", "PMCCFR")},
    "ours": {
        "CFR": cfr(),
        "CFR+": cfr_plus(),
        "PCFR": pure_cfr(),
        "MCCFR": mccfr_external(weight="square"),
        "PMCCFR": pure_mccfr(),
    },
}
COLOURS: Final = {"CFR": "#888888", "CFR+": "#d1782a", "PCFR": "#6a9f58", "MCCFR": "#a03a6a", "PMCCFR": "#2f5d9b"}
SEEDS: Final = 5
SECONDS: Final = 2.0

Runs = dict[tuple[str, str], dict[str, list[Curve]]]
"""Curves by setting and game, then by algorithm."""


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all games; write a CSV and a figure."""
    runs: Runs = {}
    for setting, games in GAMES.items():
        for name, spec in games.items():
            game, algorithms = load(spec), ALGORITHMS[setting]
            runs[setting, name] = {algorithm: [] for algorithm in algorithms}
            for seed in range(SEEDS):
                for algorithm, assembled in algorithms.items():  # in turn, so that load affects all alike
                    tell(f"{setting}: {game.name}, {algorithm}: run {seed + 1}")
                    start = START.get(assembled, UNIFORM)
                    runs[setting, name][algorithm].append(curve(game, assembled, SECONDS, seed, start))
    rows = [
        (setting, GAMES[setting][name], algorithm, seed, *point)
        for (setting, name), of_game in runs.items()
        for algorithm, curves in of_game.items()
        for seed, points in enumerate(curves)
        for point in points
    ]
    measured: dict[str, float] = {}
    for (setting, name), of_game in runs.items():
        compared = _compared(of_game["MCCFR"], of_game["PMCCFR"])
        measured |= {f"{setting}_{name}_{key}": value for key, value in compared.items()}
        last = {each: median(points[-1].nash_conv for points in of_game[each]) for each in ("MCCFR", "CFR+")}
        measured[f"{setting}_{name}_plus_overtakes"] = last["MCCFR"] / last["CFR+"]  # at the end of the run
    table = Table(["setting", "game", "algorithm", "seed", *Point._fields], rows)
    return report(ID, folder, measured, table, lambda path: _plot(runs, path))


def _compared(old: list[Curve], new: list[Curve]) -> dict[str, float]:
    """Return MCCFR's seconds and nodes over PMCCFR's, to the NashConv that both reach, and the ratio of paces."""
    pace = [median(points[-1].nodes / points[-1].seconds for points in curves) for curves in (old, new)]
    return {axis: crossing(old, new, axis) for axis in ("seconds", "nodes")} | {"pace": pace[1] / pace[0]}


def _plot(runs: Runs, path: Path) -> None:
    title = f"Convergence (Ju et al. 2023, Figure 2): median and 90 % of {SEEDS} seeds"
    rows = list(product(GAMES, LABELS))
    with drawing(path, (13, 3.6 * len(rows)), title, len(rows), len(runs) // len(GAMES)) as panels:
        places = (((setting, name), axis) for setting, axis in rows for name in GAMES[setting])
        for axes, ((setting, name), axis) in zip(panels, places, strict=True):
            for algorithm, curves in runs[setting, name].items():
                draw(axes, curves, axis, algorithm, COLOURS[algorithm])
            if axis == "nodes":
                axes.set_title(f"{setting}: {GAMES[setting][name]}", fontsize=9)
        panels[0].legend(frameon=False)
