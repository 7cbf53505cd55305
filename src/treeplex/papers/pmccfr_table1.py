"""Ju et al. (2023), Table 1: nodes touched by the first five iterations, over 30 seeds.

The paper's algorithms are those of its authors' published code (github.com/Zealoter/CFVFP, the state of August 2023).
The code differs from the paper's text in two ways that the counts show. First, "MCCFR" is not external sampling: it
samples chance, tries all moves of both players where the node is reached, and draws a pure strategy if no regret is
positive. Second, CFR+, CFR and MCCFR count a node when they look at it, before they know that its reach is zero. PCFR
and PMCCFR never look at such nodes. We count the same way for the comparison (``ours``). We also report the nodes
entered (the meaning of ``nodes_touched`` in the rest of treeplex), and external sampling as the paper describes it.

All algorithms start from random strategies and both players update at once, as in the paper. The Leduc extension is the
authors', payoffs of folds included (``leduc_pots(folds="published")``). Their PCFR redraws an action after every
iteration where it has learnt nothing yet. ``other`` is the count by another reading of the rules: in Leduc a fold loses
the stake, and bets in the Kuhn extension are 1, 2, 4, 8, ... chips, as in the authors' code, not 1, 2, 3, 4, ...
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.mccfr import MonteCarlo, SamplingState
from treeplex.algorithms.options import RANDOM, UNIFORM
from treeplex.algorithms.random_start import initial_state
from treeplex.algorithms.samplers import mccfr_chance, mccfr_external, pure_cfr, pure_mccfr
from treeplex.algorithms.traversals import Reached
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.engines.sampling.arrays import MATCH
from treeplex.engines.sampling.tree import sample_tree
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing
from treeplex.updates.schedules import linear, power
from treeplex.updates.turns import SIMULTANEOUS

ID: Final = "pmccfr-table1"

SEEDS: Final = 30
ITERATIONS: Final = 5
GAMES: Final = {"leduc": 'leduc_pots(folds="published")', "kuhn": "kuhn_ext(cards=3,bets=20,raises=7)"}
OTHER: Final = {"leduc": "leduc_pots", "kuhn": "kuhn_ext(cards=3,bets=20,raises=7,sizes=doubled)"}

AT_ONCE: Final = "simultaneous"


ALGORITHMS: Final[dict[str, MonteCarlo]] = {
    "CFR+": MonteCarlo(Reached(MATCH), linear(), SIMULTANEOUS, plus=True, streams=1),
    "CFR": MonteCarlo(Reached(MATCH), power(2.0), SIMULTANEOUS, plus=False, streams=1),
    "PCFR": pure_cfr(weight="log", turns=AT_ONCE),
    "PMCCFR": pure_mccfr(weight="log", average="same", turns=AT_ONCE),
    "MCCFR": mccfr_chance(weight="square", turns=AT_ONCE, fallback="random"),
    "external sampling": mccfr_external(weight="square", turns=AT_ONCE),
}
START: Final[dict[Any, str]] = {ALGORITHMS[name]: RANDOM for name in ("CFR+", "CFR")}
"""Others draw pure strategies themselves."""
REDRAWN: Final = ("PCFR",)  # their code redraws an action where nothing has been learnt
LOOKERS: Final = ("CFR+", "CFR", "MCCFR")  # they count nodes that they look at without entering
PAPER: Final = {  # average number of nodes touched per iteration
    "leduc": {"CFR+": 131615.8, "CFR": 110428.3, "PCFR": 11027.4, "PMCCFR": 110.4, "MCCFR": 221.3},
    "kuhn": {"CFR+": 2774844.0, "CFR": 2198996.4, "PCFR": 5413.0, "PMCCFR": 855.8, "MCCFR": 5528.1},
}


class Touched(NamedTuple):
    """Nodes per iteration, averaged over iterations and seeds."""

    entered: float
    looked: float
    error: float  # standard error of the mean over seeds, of the nodes entered


class TableRow(NamedTuple):
    """A row of the CSV table."""

    game: str
    algorithm: str
    paper: float
    ours: float
    entered: float
    paper_percent: float
    ours_percent: float
    error: float  # relative standard error of our count over seeds
    other: float


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Count for every game, algorithm and seed; write a CSV and a figure."""
    rows: list[TableRow] = []
    measured: dict[str, float] = {}
    for name, spec in GAMES.items():
        game, variant = load(spec), load(OTHER[name])
        for algorithm, assembled in ALGORITHMS.items():
            tell(f"{game.name}, {algorithm}")
            nodes, others = (touched(each, assembled, redraw=algorithm in REDRAWN) for each in (game, variant))
            ours, other = (counts.looked if algorithm in LOOKERS else counts.entered for counts in (nodes, others))
            paper = PAPER[name].get(algorithm, float("nan"))
            share = 100.0 / game.nodes
            where = TableRow(game.name, algorithm, paper, ours, nodes.entered, paper * share, ours * share, 0.0, other)
            rows.append(where._replace(error=nodes.error / nodes.entered))
            measured[f"{name}_{algorithm}"] = ours * share
            if algorithm in PAPER[name]:
                measured[f"{name}_{algorithm}_ratio"] = ours / paper
                measured[f"{name}_{algorithm}_other"] = other / paper
                measured[f"{name}_{algorithm}_entered"] = nodes.entered / paper
        measured[f"{name}_nodes"] = game.nodes
        measured[f"{name}_pmccfr_fewest"] = float(
            measured[f"{name}_PMCCFR"] == min(measured[f"{name}_{other}"] for other in PAPER[name])
        )
    return report(ID, folder, measured, Table(TableRow._fields, rows), lambda path: _plot(rows, path))


def touched(game: CompiledGame, algorithm: MonteCarlo, seeds: int | None = None, *, redraw: bool = False) -> Touched:
    """Return nodes per iteration, averaged over seeds and the first iterations."""
    counts: list[Any] = []
    for seed in range(SEEDS if seeds is None else seeds):
        state = initial_state(algorithm, game, seed, START.get(algorithm, UNIFORM))
        rng = np.random.default_rng(seed)
        for _ in range(ITERATIONS):
            state = algorithm.advance(game, state, 1)
            if redraw:
                _draw_again(game, state, rng)
        counts.append(state.streams[0].nodes / ITERATIONS)
    entered, refused = np.mean(counts, axis=0).tolist()
    return Touched(entered, entered + refused, float(np.std(counts, axis=0)[0] / np.sqrt(len(counts))))


def _draw_again(game: CompiledGame, state: SamplingState, rng: np.random.Generator) -> None:
    """Pick an action at random wherever all values are zero; the state is modified in place."""
    form = sample_tree(game)
    for player, (treeplex, table) in enumerate(zip(game.treeplexes, state.streams[0].tables, strict=True)):
        place, first = form.sequence_index[player], treeplex.first[:-1]
        known = np.add.reduceat(np.abs(table.regret[place]), first) > 0.0
        pick = (rng.random(len(first)) * treeplex.actions).astype(np.int32)
        here = place[first]
        table.pick[here] = np.where(known, table.pick[here], pick)


def _plot(rows: list[TableRow], path: Path) -> None:
    games = list(dict.fromkeys(row.game for row in rows))
    title = "Nodes touched by the first five iterations (Ju et al. 2023, Table 1)"
    with drawing(path, (11, 4.2), title, 1, len(games)) as panels:
        for axes, name in zip(panels, games, strict=True):
            own = [row for row in rows if row.game == name]
            x_ticks = np.arange(len(own))
            for shift, column, colour in ((-0.2, "paper", "#b8c4d6"), (0.2, "ours", "#2f5d9b")):
                shares = [getattr(row, f"{column}_percent") for row in own]
                axes.bar(x_ticks + shift, shares, 0.38, label=column, color=colour)
                for x, share in zip(x_ticks.tolist(), shares, strict=True):
                    if share == share:  # noqa: PLR0124 - the paper has no such row
                        axes.text(x + shift, share * 1.1, f"{share:.2g}", ha="center", fontsize=7)
            axes.grid(visible=False)
            axes.set(yscale="log", ylabel="nodes touched per iteration, % of the tree")
            axes.set_xticks(x_ticks, [row.algorithm.replace(" ", "\n") for row in own])
            axes.set_title(name, fontsize=10)
            axes.legend(frameon=False)
