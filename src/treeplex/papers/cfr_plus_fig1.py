"""Tammelin (2014), Figure 1: one-card poker, iterations until exploitability is below one millibet per hand.

Exploitability is NashConv / 2 in bets of one chip. Iterations are counted exactly up to ``EXACT_UPTO`` (every one is
evaluated) and within one per cent beyond. The paper's Algorithm 1 averages in the order "faced" and does not state its
delay. We also run the other orders and a delay of five. CFR always uses the order of CFR+.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from treeplex.algorithms.cfr import CFR, cfr, cfr_plus
from treeplex.api import load
from treeplex.compile.game import CompiledGame
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing

ID: Final = "cfr-plus-fig1"

DECKS: Final = (3, 4, 6, 10, 18, 32, 56, 100, 178, 316, 562, 1000, 1778)
SMALL: Final = 10  # the largest small deck
LARGE: Final = 100  # the smallest large deck
FOUR: Final = 4  # the smallest deck in which a delay helps: with three cards no delay from 0 to 60 reaches ten
TARGET: Final = 0.001  # bets per hand
EXACT_UPTO: Final = 2_000
MOST: Final = 1_000_000  # iterations after which a curve is abandoned
ORDERS: Final = ("faced", "played", "next")  # orders of averaging; the first is that of Algorithm 1
DELAY: Final = 5
CURVES: Final = {  # column: algorithm, and whether to measure its current strategies
    **{f"cfr_{order}": (cfr(order=order), False) for order in ORDERS},
    **{f"cfr+_{order}": (cfr_plus(order=order), False) for order in ORDERS},
    "cfr+_delayed": (cfr_plus(delay=DELAY), False),
    "cfr+_faced_delayed": (cfr_plus(delay=DELAY, order=ORDERS[0]), False),
    "cfr+_current": (cfr_plus(), True),
}
DRAWN: Final = {
    "cfr_faced": "CFR, average",
    "cfr+_faced": "CFR+, average",
    "cfr+_faced_delayed": f"CFR+, average from {DELAY} on",
    "cfr+_current": "CFR+, current",
}


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all decks; write a CSV and a figure."""
    rows: list[dict[str, int]] = []
    for deck in DECKS:
        tell(f"one_card_poker(deck={deck})")
        game = load(f"one_card_poker(deck={deck})")
        counts = {
            column: iterations_to_target(game, algorithm, current=current)
            for column, (algorithm, current) in CURVES.items()
        }
        rows.append({"deck": deck} | counts)
    table = Table(["deck", *CURVES], [list(row.values()) for row in rows])
    return report(ID, folder, measure(rows), table, lambda path: _plot(rows, path))


def measure(rows: list[dict[str, int]]) -> dict[str, float]:
    """Compute the measurements that the claims refer to."""
    out: dict[str, float] = {}
    for order, plus in (*((order, f"cfr+_{order}") for order in ORDERS), (ORDERS[0], "cfr+_faced_delayed")):
        ratios = [row[f"cfr_{order}"] / row[plus] for row in rows]
        name = plus.removeprefix("cfr+_")
        out |= {f"smallest_ratio_{name}": min(ratios), f"median_ratio_{name}": median(ratios)}
    out["smallest_ratio_from_four"] = min(
        row["cfr_faced"] / row["cfr+_faced_delayed"] for row in rows if row["deck"] >= FOUR
    )
    over = {row["deck"]: row["cfr+_current"] / row["cfr+_faced"] for row in rows}
    out["current_over_average_small"] = min(ratio for deck, ratio in over.items() if deck <= SMALL)
    out["current_over_average_large"] = max(ratio for deck, ratio in over.items() if deck >= LARGE)
    return out


def iterations_to_target(game: CompiledGame, algorithm: CFR, *, current: bool) -> int:
    """Return the first iteration with exploitability below the target, or ``MOST`` if there is none."""
    state = algorithm.start(game)
    while state.iteration < MOST:
        step = 1 if state.iteration < EXACT_UPTO else state.iteration // 100
        state = algorithm.advance(game, state, min(step, MOST - state.iteration))
        report = algorithm.report(game, state, "current" if current else "average")
        if report.evaluate().exploitability < TARGET:
            return state.iteration
    return MOST


def _plot(rows: list[dict[str, int]], path: Path) -> None:
    with drawing(path, (7, 4.5), "", 1, 1) as (axes,):
        decks = [row["deck"] for row in rows]
        for column, label in DRAWN.items():
            axes.plot(decks, [row[column] for row in rows], marker="o", markersize=4, label=label)
        axes.axhline(MOST, color="#bbbbbb", linestyle=":", linewidth=1)
        axes.text(decks[-1], MOST, "given up", ha="right", va="bottom", color="#888888", fontsize=8)
        axes.set(xscale="log", yscale="log", xlabel="deck size", ylabel="iterations to 1 millibet per hand")
        axes.legend(frameon=False)
        axes.set_title("One-card poker (Tammelin 2014, Figure 1)")
