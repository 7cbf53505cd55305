"""Tammelin (2014), Figure 1: one-card poker, iterations until exploitability is below one millibet per hand.

Exploitability is NashConv / 2 in bets of one chip. Iterations are counted exactly up to ``EXACT_UPTO`` (every one is
evaluated) and within one per cent beyond.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from treeplex.algorithms.cfr import CFR, cfr, cfr_plus
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.evaluation.plot import drawing
from treeplex.papers.report import Report, Table, Tell, report

ID: Final = "cfr-plus-fig1"

DECKS: Final = (3, 4, 6, 10, 18, 32, 56, 100, 178, 316, 562, 1000, 1778)
SMALL: Final = 10  # decks up to here count as small
TARGET: Final = 0.001  # bets per hand
EXACT_UPTO: Final = 2_000
MOST: Final = 1_000_000  # iterations after which a curve is given up
CURVES: Final = {  # column: algorithm, and whether its current strategies are measured
    "cfr_average": (cfr(), False),
    "cfr+_average": (cfr_plus(), False),
    "cfr+_current": (cfr_plus(), True),
}


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all decks; leaves a CSV and a figure."""
    rows: list[tuple[int, ...]] = []
    for deck in DECKS:
        tell(f"one_card_poker(deck={deck})")
        game = load(f"one_card_poker(deck={deck})")
        counts = [iterations_to_target(game, algorithm, current=current) for algorithm, current in CURVES.values()]
        rows.append((deck, *counts))
    measured = {
        "smallest_ratio": min(cfr / plus for _, cfr, plus, _ in rows),
        "median_ratio": median(cfr / plus for _, cfr, plus, _ in rows),
        "current_over_average_small": min(now / plus for deck, _, plus, now in rows if deck <= SMALL),
        "current_over_average_large": max(now / plus for deck, _, plus, now in rows if deck >= 100),
    }
    return report(ID, folder, measured, Table(["deck", *CURVES], rows), lambda path: _plot(rows, path))


def iterations_to_target(game: CompiledGame, algorithm: CFR, *, current: bool) -> int:
    """The first iteration after which exploitability is below the target; ``MOST`` if none is."""
    state = algorithm.start(game)
    while state.iteration < MOST:
        step = 1 if state.iteration < EXACT_UPTO else state.iteration // 100
        state = algorithm.advance(game, state, min(step, MOST - state.iteration))
        strategies = algorithm.current(game, state) if current else algorithm.average(game, state)
        if evaluate_strategies(game, strategies).exploitability < TARGET:
            return state.iteration
    return MOST


def _plot(rows: list[tuple[int, ...]], path: Path) -> None:
    with drawing(path, (7, 4.5), "", 1, 1) as (axes,):
        decks = [row[0] for row in rows]
        for column, label in ((1, "CFR, average"), (2, "CFR+, average"), (3, "CFR+, current")):
            axes.plot(decks, [row[column] for row in rows], marker="o", markersize=4, label=label)
        axes.axhline(MOST, color="#bbbbbb", linestyle=":", linewidth=1)
        axes.text(decks[-1], MOST, "given up", ha="right", va="bottom", color="#888888", fontsize=8)
        axes.set(xscale="log", yscale="log", xlabel="deck size", ylabel="iterations to 1 millibet per hand")
        axes.legend(frameon=False)
        axes.set_title("One-card poker (Tammelin 2014, Figure 1)")
