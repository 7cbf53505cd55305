"""Tammelin (2014), Figure 2: a no-limit hold'em subgame after preflop betting, to five thousandths of a big blind.

The paper does not state its flop, ranges or stacks. Ours: Ts 9s 6s with 6 big blinds in the pot and 6 behind, ranges of
about forty hands, three bet sizes (a third and two thirds of the pot, all-in) and one raise. It takes a few minutes.
Exploitability is NashConv / 2. It is evaluated every ten iterations, and from 100 on after every further tenth.

Seconds are processor time of one thread. The ratio of seconds is the ratio of iterations times the ratio of costs per
iteration. A cost is the minimum over several stretches that CFR and CFR+ run in turn from where they ended, so that
other work on the machine does not affect it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.papers.report import PaperReport, Table, Tell, report
from treeplex.plots.plot import drawing

ID: Final = "cfr-plus-fig2"

BIG_BLIND: Final = 10  # chips
TARGET: Final = 5.0  # thousandths of a big blind
MOST: Final = 2_500  # iterations after which a curve is abandoned
ROUNDS, STRETCH = 8, 10  # rounds and iterations per round, to compare costs
SPOT: Final = Spot(
    "Ts 9s 6s",
    6 * BIG_BLIND,
    6 * BIG_BLIND,
    "TT-66,ATs,A9s,KTs,QTs,JTs,98s,87s",
    "QQ,JJ,88,AKs:0.5,AJs,KQs,QJs,J9s,76s",
    sizes_for("33%, 66%, a", "a"),
)


CURVES: Final = {  # label: algorithm, and the strategies to measure
    "CFR, average": ("cfr", "average"),
    "CFR+, current": ("cfr+", "current"),
    "CFR+, average": ("cfr+", "average"),
    "CFR+, average from 50 on": ("cfr+(delay=50)", "average"),
    "CFR+, average from 100 on": ("cfr+(delay=100)", "average"),
    "CFR+, average from 200 on": ("cfr+(delay=200)", "average"),
}


Run = tuple[Algorithm[Any, Any], Any]
"""An algorithm and its final state."""


class TimedPoint(NamedTuple):
    """A point of a run; the last one is where it reached the target or was abandoned."""

    iteration: int
    seconds: float  # of iterating, processor time
    mbb: float  # exploitability in thousandths of a big blind


def reproduce(folder: Path, tell: Tell) -> PaperReport:
    """Run all curves; write a CSV and a figure."""
    game = load_spot(SPOT)
    points_by_curve: dict[str, list[TimedPoint]] = {}
    ended: dict[str, Run] = {}
    for label, (algorithm, iterate) in CURVES.items():
        tell(f"{game.name}, {game.nodes:,} nodes: {label}")
        points_by_curve[label], ended[label] = fall(game, algorithm, iterate)
    table = Table(
        ["curve", *TimedPoint._fields],
        [(label, *point) for label, points in points_by_curve.items() for point in points],
    )
    last = {label: points[-1] for label, points in points_by_curve.items()}
    plain, plus = last["CFR, average"], last["CFR+, average"]
    measured = {
        "iterations_ratio": plain.iteration / plus.iteration,
        "seconds_ratio": plain.iteration / plus.iteration * pace(game, ended["CFR, average"], ended["CFR+, average"]),
        "best_delay_over_none": min(last[label].iteration for label in CURVES if "from" in label) / plus.iteration,
        "current_over_average": last["CFR+, current"].iteration / plus.iteration,
    }
    return report(ID, folder, measured, table, lambda path: _plot(points_by_curve, path))


def pace(game: HoldemGame, *runs: Run) -> float:
    """Return the processor time per iteration of the first run over that of the second."""
    least = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for k, (solver, state) in enumerate(runs):
            began = time.process_time()
            solver.advance(game, state, STRETCH)
            least[k] = min(least[k], time.process_time() - began)
    return least[0] / least[1]


def fall(game: HoldemGame, algorithm: str, iterate: str) -> tuple[list[TimedPoint], Run]:
    """Iterate until the target or the limit; return the curve and the final state."""
    solver: Any = build(algorithm).open(game, Execution(threads=1))
    state = solver.start(game)
    points: list[TimedPoint] = []
    seconds = 0.0
    while state.iteration < MOST:
        step = max(10, state.iteration // 100 * 10)
        began = time.process_time()
        state = solver.advance(game, state, min(step, MOST - state.iteration))
        seconds += time.process_time() - began
        if iterate == "average" and not solver.weight(np.arange(1.0, state.iteration + 1.0)).any():
            continue  # the average has not begun
        mbb = 1000.0 * solver.report(game, state, iterate).evaluate().exploitability / BIG_BLIND
        points.append(TimedPoint(state.iteration, seconds, mbb))
        if mbb <= TARGET:
            break
    return points, (solver, state)


def _plot(points_by_curve: dict[str, list[TimedPoint]], path: Path) -> None:
    title = "A no-limit hold'em flop subgame with three bet sizes (Tammelin 2014, Figure 2)"
    with drawing(path, (11.5, 4.4), title, 1, 2, sharey=True) as panels:
        for axes, column, label in zip(panels, (0, 1), ("iterations", "seconds of iterating"), strict=True):
            for name, points in points_by_curve.items():
                axes.plot(
                    [point[column] for point in points], [point.mbb for point in points], label=name, linewidth=1.6
                )
            axes.axhline(TARGET, color="#bbbbbb", linestyle=":", linewidth=1)
            axes.set(xscale="log", yscale="log", xlabel=label)
        panels[0].set_ylabel("exploitability, thousandths of a big blind")
        panels[1].legend(frameon=False, fontsize=9)
