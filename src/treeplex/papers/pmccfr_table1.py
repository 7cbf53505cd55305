"""Ju et al. (2023), Table 1: nodes touched by the first five iterations, over 30 seeds.

The paper's algorithms are those of its authors' published code (github.com/Zealoter/CFVFP, the state of August 2023),
which differ from its words in two ways that the counts show. "MCCFR" is not external sampling: chance's moves are
sampled, both players' moves are all tried where somebody reaches them, and without positive regret a pure strategy is
drawn. And CFR+, CFR and MCCFR count a node when it is looked at, before it is found that nobody reaches it, while PCFR
and PMCCFR never look at such nodes. We do the same for the comparison (``ours``), and report beside it the nodes
entered, which is what ``nodes_touched`` means elsewhere, and external sampling as the paper describes it.

Everybody starts from random strategies and both players update at once, as in the paper. Bets in ``kuhn_ext`` are 1, 2,
3, ... chips; in the authors' code 1, 2, 4, 8, ...
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.mccfr import MonteCarlo, mccfr_chance, mccfr_external, pure_cfr, pure_mccfr
from treeplex.algorithms.traversals import Reached
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.engines.sampling.arrays import MATCH
from treeplex.papers.leduc_pots import leduc_pots
from treeplex.papers.report import Report, Tell, judge, write_csv
from treeplex.updates.schedules import linear, power
from treeplex.updates.turns import SIMULTANEOUS

ID: Final = "pmccfr-table1"

SEEDS: Final = 30
ITERATIONS: Final = 5
GAMES: Final = {"leduc": leduc_pots, "kuhn": lambda: "kuhn_ext(cards=3,bets=20,raises=7)"}

AT_ONCE: Final = "simultaneous"
ALGORITHMS: Final[dict[str, MonteCarlo]] = {
    "CFR+": MonteCarlo(Reached(MATCH), linear(), SIMULTANEOUS, plus=True, streams=1),
    "CFR": MonteCarlo(Reached(MATCH), power(2.0), SIMULTANEOUS, plus=False, streams=1),
    "PCFR": pure_cfr(turns=AT_ONCE),
    "PMCCFR": pure_mccfr(turns=AT_ONCE),
    "MCCFR": mccfr_chance(weight="square", turns=AT_ONCE, fallback="random"),
    "external sampling": mccfr_external(weight="square", turns=AT_ONCE),
}
LOOKERS: Final = ("CFR+", "CFR", "MCCFR")  # who counts nodes that are looked at and not entered
PAPER: Final = {  # average number of nodes touched per iteration
    "leduc": {"CFR+": 131615.8, "CFR": 110428.3, "PCFR": 11027.4, "PMCCFR": 110.4, "MCCFR": 221.3},
    "kuhn": {"CFR+": 2774844.0, "CFR": 2198996.4, "PCFR": 5413.0, "PMCCFR": 855.8, "MCCFR": 5528.1},
}


class Touched(NamedTuple):
    """Nodes per iteration, averaged over iterations and seeds."""

    entered: float
    looked: float


def reproduce(folder: Path, tell: Tell) -> Report:
    """Count for every game, algorithm and seed; leaves a CSV and a figure."""
    rows: list[tuple[str, str, float, float, float, float, float]] = []
    measured: dict[str, float] = {}
    for name, make in GAMES.items():
        game = load(make())
        for algorithm in ALGORITHMS:
            tell(f"{game.name}, {algorithm}")
            nodes = touched(game, ALGORITHMS[algorithm])
            ours = nodes.looked if algorithm in LOOKERS else nodes.entered
            paper = PAPER[name].get(algorithm, float("nan"))
            share = 100.0 / game.nodes
            rows.append((game.name, algorithm, paper, ours, nodes.entered, paper * share, ours * share))
            measured[f"{name}_{algorithm}"] = ours * share
            if algorithm in PAPER[name]:
                measured[f"{name}_{algorithm}_ratio"] = ours / paper
        measured[f"{name}_nodes"] = game.nodes
        measured[f"{name}_pmccfr_fewest"] = float(
            measured[f"{name}_PMCCFR"] == min(measured[f"{name}_{other}"] for other in PAPER[name])
        )
    columns = ["game", "algorithm", "paper", "ours", "entered", "paper_percent", "ours_percent"]
    table = write_csv(folder / f"{ID}.csv", columns, rows)
    return Report(ID, judge(ID, measured), [table, _plot(rows, folder / f"{ID}.png")])


def touched(game: CompiledGame, algorithm: MonteCarlo, seeds: int = SEEDS) -> Touched:
    """The average over seeds and the first iterations."""
    total = np.zeros(2)
    for seed in range(seeds):
        state = algorithm.start(game, seed)
        if isinstance(algorithm.sampler, Reached) and algorithm.sampler.rule == MATCH:
            rng = np.random.default_rng(seed)  # random strategies to start from: regrets too small to last
            for table in state.streams[0].tables:
                table.regret[:] = 1e-12 * rng.random(len(table.regret))
        total += algorithm.advance(game, state, ITERATIONS).streams[0].nodes
    entered, refused = (total / (seeds * ITERATIONS)).tolist()
    return Touched(entered, entered + refused)


def _plot(rows: list[tuple[str, str, float, float, float, float, float]], path: Path) -> Path:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=(11, 4.2), layout="constrained")
    games = list(dict.fromkeys(row[0] for row in rows))
    for axes, name in zip(figure.subplots(1, len(games)), games, strict=True):
        own = [row for row in rows if row[0] == name]
        place = np.arange(len(own))
        axes.bar(place - 0.2, [row[5] for row in own], 0.38, label="paper", color="#b8c4d6")
        axes.bar(place + 0.2, [row[6] for row in own], 0.38, label="ours", color="#2f5d9b")
        for x, row in zip(place.tolist(), own, strict=True):
            for shift, value in ((-0.2, row[5]), (0.2, row[6])):
                if value == value:  # noqa: PLR0124 - the paper has no such row
                    axes.text(x + shift, value * 1.1, f"{value:.2g}", ha="center", fontsize=7)
        axes.set_yscale("log")
        axes.set_xticks(place, [row[1].replace(" ", "\n") for row in own])
        axes.set_ylabel("nodes touched per iteration, % of the tree")
        axes.set_title(name, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.suptitle("Nodes touched by the first five iterations (Ju et al. 2023, Table 1)")
    figure.savefig(path, dpi=130, format="png")
    return path
