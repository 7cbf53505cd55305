"""Tammelin (2014), Figure 2: a no-limit hold'em subgame after preflop betting, to five thousandths of a big blind.

The paper does not say which flop, ranges or stacks. Ours: Ts 9s 6s with 6 big blinds in the pot and 6 behind, ranges of
about forty hands, three bet sizes (a third and two thirds of the pot, all-in) and one raise: a few minutes of work.
Exploitability is NashConv / 2. It is looked at every ten iterations, and every tenth part later from 100 on.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.algorithms.holdem import HoldemCFR
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.papers.report import Report, Tell, judge, write_csv

ID: Final = "cfr-plus-fig2"

BIG_BLIND: Final = 10  # chips
TARGET: Final = 5.0  # thousandths of a big blind
MOST: Final = 2_500  # iterations after which a curve is given up
SPOT: Final = Spot(
    "Ts 9s 6s",
    6 * BIG_BLIND,
    6 * BIG_BLIND,
    "TT-66,ATs,A9s,KTs,QTs,JTs,98s,87s",
    "QQ,JJ,88,AKs:0.5,AJs,KQs,QJs,J9s,76s",
    sizes_for("33%, 66%, a", "a"),
)


class Curve(NamedTuple):
    """One line of the figure."""

    label: str
    algorithm: str
    current: bool


CURVES: Final = (
    Curve("CFR, average", "cfr", current=False),
    Curve("CFR+, current", "cfr+", current=True),
    Curve("CFR+, average", "cfr+", current=False),
    Curve("CFR+, average from 50 on", "cfr+(delay=50)", current=False),
    Curve("CFR+, average from 100 on", "cfr+(delay=100)", current=False),
    Curve("CFR+, average from 200 on", "cfr+(delay=200)", current=False),
)


class Found(NamedTuple):
    """How a curve fell."""

    points: list[tuple[int, float, float]]  # iteration, seconds of iterating, mbb

    @property
    def iterations(self) -> int:
        """When the target was met, or where the curve was given up."""
        return self.points[-1][0]

    @property
    def seconds(self) -> float:
        """Of iterating, until then."""
        return self.points[-1][1]


def reproduce(folder: Path, tell: Tell) -> Report:
    """Run all curves; leaves a CSV and a figure."""
    game = load_spot(SPOT)
    found: dict[str, Found] = {}
    for curve in CURVES:
        tell(f"{game.name}, {game.nodes:,} nodes: {curve.label}")
        found[curve.label] = fall(game, curve)
    rows = [(label, *point) for label, one in found.items() for point in one.points]
    table = write_csv(folder / f"{ID}.csv", ["curve", "iteration", "seconds", "mbb"], rows)
    figure = _plot(found, folder / f"{ID}.png")
    plain, plus = found["CFR, average"], found["CFR+, average"]
    delayed = [found[curve.label] for curve in CURVES if "from" in curve.label]
    measured = {
        "iterations_ratio": plain.iterations / plus.iterations,
        "seconds_ratio": plain.seconds / plus.seconds,
        "best_delay_over_none": min(one.iterations for one in delayed) / plus.iterations,
        "current_over_average": found["CFR+, current"].iterations / plus.iterations,
    }
    return Report(ID, judge(ID, measured), [table, figure])


def fall(game: HoldemGame, curve: Curve) -> Found:
    """Iterate until the target is met, or given up."""
    solver = build(curve.algorithm).prepared(game, Execution())
    assert isinstance(solver, HoldemCFR)  # noqa: S101 - by the table above
    state = solver.start(game)
    points: list[tuple[int, float, float]] = []
    seconds = 0.0
    while state.iteration < MOST:
        step = max(10, state.iteration // 100 * 10)
        began = time.perf_counter()
        state = solver.advance(game, state, min(step, MOST - state.iteration))
        seconds += time.perf_counter() - began
        if not curve.current and not solver.rule(state.iteration).weight[1:].any():
            continue  # the average has not begun
        played = solver.strategies(game, state, "current" if curve.current else "average")
        mbb = 1000.0 * solver.evaluate(game, played).exploitability / BIG_BLIND
        points.append((state.iteration, seconds, mbb))
        if mbb <= TARGET:
            break
    return Found(points)


def _plot(found: dict[str, Found], path: Path) -> Path:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=(11.5, 4.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, column, label in zip(panels, (0, 1), ("iterations", "seconds of iterating"), strict=True):
        for name, one in found.items():
            axes.plot([p[column] for p in one.points], [p[2] for p in one.points], label=name, linewidth=1.6)
        axes.axhline(TARGET, color="#bbbbbb", linestyle=":", linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("exploitability, thousandths of a big blind")
    panels[1].legend(frameon=False, fontsize=9)
    figure.suptitle("A no-limit hold'em flop subgame with three bet sizes (Tammelin 2014, Figure 2)")
    figure.savefig(path, dpi=130, format="png")
    return path
