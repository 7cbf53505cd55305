"""Arrays and walks, and the hybrid of both.

    .venv/bin/python benchmarks/hybrid.py constants      # nanoseconds for src/treeplex/algorithms/hybrid.py
    .venv/bin/python benchmarks/hybrid.py race           # hybrid against arrays with the same turns

Processor seconds of iterations alone, one thread. In a race the sides take turns, a tenth of a second each, so that
whatever else the machine does is shared; the goal is the lowest NashConv that the slower one reached in ``--seconds``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

GAMES = ("leduc", "leduc5", "kuhn_ext(3,12,5)", "liars_dice(sides=5)", "goofspiel(cards=5)", "princess_and_monster")
TURNS = ("simultaneous", "alternating")
SLICE = 0.1  # seconds


def timed(algorithm: Any, game: Any, state: Any, count: int) -> tuple[Any, float]:
    began = time.process_time()
    state = algorithm.advance(game, state, count)
    return state, time.process_time() - began


def constants(options: argparse.Namespace) -> dict[str, Any]:
    """Arrays per number read; walks per node entered, infoset visited and node of a response.

    Of every kind of stretch the fastest of many. Walks are measured early and late, on all games, and their constants
    fitted so that relative errors are least.
    """
    from scipy.optimize import nnls

    import treeplex as tp
    from treeplex.algorithms.hybrid import NEAR
    from treeplex.algorithms.registry import build
    from treeplex.algorithms.tabular import sweep

    found: list[dict[str, Any]] = []
    for name in options.games:
        game = tp.load(name)
        for turns in TURNS:
            arrays, walk = replace(build(f"cfr(turns={turns})"), threads=1), build(f"cfr-nested-rbp(turns={turns})")
            one, two = arrays.advance(game, arrays.start(game), 2), walk.advance(game, walk.start(game), 2)
            count = max(1, int(2e7 / sweep(game)))
            for warm in options.warm:
                two = walk.advance(game, two, warm - two.iteration)
                per_number, per_iteration, best = math.inf, math.inf, np.zeros(3)
                pace = 10
                for _ in range(options.rounds):
                    one, spent = timed(arrays, game, one, count)
                    per_number = min(per_number, spent / (count * sweep(game)) * 1e9)
                    before = two
                    two, spent = timed(walk, game, two, pace)
                    if spent / pace * 1e9 < per_iteration:
                        responses = two.responses - before.responses
                        entered = two.nodes - before.nodes - responses
                        best = np.array((entered, two.visits - before.visits, responses)) / pace
                        per_iteration = spent / pace * 1e9
                    pace = max(1, min(20 * pace, int(0.03 * pace / spent)))
                row = {"game": name, "turns": turns, "at": warm, "number": per_number, "walk": per_iteration}
                found.append(row | dict(zip(("entered", "visits", "responses"), best.tolist(), strict=True)))
                print(
                    f"{name:22s} {turns:12s} at {warm:6,}: arrays {per_number:.3f} ns per number,"
                    f" {per_number * sweep(game) / 1e3:8.1f} us per iteration; walks {per_iteration / 1e3:8.1f} us,"
                    f" {best[0]:9.0f} nodes, {best[1]:7.0f} infosets, {best[2]:6.0f} nodes in responses",
                    flush=True,
                )
    near = [min(row["visits"], NEAR) for row in found]
    rest = [[row["visits"] - some, row["responses"], 1.0] for row, some in zip(found, near, strict=True)]
    parts = np.array([[row["entered"], some, *more] for row, some, more in zip(found, near, rest, strict=True)])
    spent = np.array([row["walk"] for row in found])
    fitted, _ = nnls(parts / spent[:, None], np.ones(len(found)))
    number = math.exp(sum(math.log(row["number"]) for row in found) / len(found))
    off = parts @ fitted / spent
    names = ("NODE", "VISIT", "FAR_VISIT", "RESPONSE_NODE", "ITERATION")
    print(
        f"NUMBER = {number:.3f} ", "  ".join(f"{key} = {value:.1f}" for key, value in zip(names, fitted, strict=True))
    )
    print(f"fitted over measured: {off.min():.2f} to {off.max():.2f}")
    return {"rows": found, "number": number, "fitted": fitted.tolist()}


class Runner:
    """One side of a race: seconds spent, and (seconds, lowest NashConv) so far."""

    def __init__(self, game: Any, name: str) -> None:
        from treeplex.algorithms.registry import build

        algorithm: Any = build(name)
        self.algorithm = replace(algorithm, threads=1) if hasattr(algorithm, "threads") else algorithm
        self.game, self.seconds, self.pace = game, 0.0, 1.0
        self.state = self.algorithm.start(game)
        self.rows: list[tuple[float, float, int]] = []
        self.due = 1

    def go(self) -> None:
        """For a slice of time; NashConv is measured at iterations five per cent apart, and takes no time."""
        from treeplex.evaluation.exact import evaluate_strategies

        until = self.seconds + SLICE
        while self.seconds < until:
            count = max(1, min(self.due - self.state.iteration, int(self.pace)))
            self.state, spent = timed(self.algorithm, self.game, self.state, count)
            self.seconds += spent
            self.pace = min(8.0 * self.pace, max(1.0, count * SLICE / max(spent, 1e-6)))
            if self.state.iteration >= self.due:
                value = float(
                    evaluate_strategies(
                        self.game, self.algorithm.report(self.game, self.state, "average").arrays, 1
                    ).nash_conv
                )
                lowest = min(value, self.rows[-1][1]) if self.rows else value
                self.rows.append((self.seconds, lowest, self.state.iteration))
                self.due = self.state.iteration + max(1, self.state.iteration // 20)

    def when(self, goal: float) -> float:
        """Seconds to a NashConv, interpolated in logarithms."""
        before = None
        for row in self.rows:
            if row[1] <= goal:
                if before is None or before[1] == row[1]:
                    return row[0]
                part = math.log(before[1] / goal) / math.log(before[1] / row[1])
                return math.exp(math.log(max(before[0], 1e-9)) * (1.0 - part) + math.log(max(row[0], 1e-9)) * part)
            before = row
        return math.inf


def compile_all(side: Runner) -> None:
    """Every kernel of a hybrid, so that no race is charged with compiling."""
    algorithm, game = side.algorithm, side.game
    state = algorithm.advance(game, side.state, 2)
    algorithm.report(game, state, "average").evaluate()
    algorithm.walk.average(game, algorithm.walk.advance(game, algorithm.handed_over(game, state.arrays), 2))
    side.state = algorithm.start(game)


def race(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Hybrid and arrays, game by game."""
    import treeplex as tp

    out: list[dict[str, Any]] = []
    print("| game | family | turns | NashConv | arrays, s | hybrid, s | arrays over hybrid | handed over at |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.games:
        game = tp.load(name)
        for family in options.families:
            for turns in TURNS:
                slow = "hedge" if family == "hedge-dt" else family
                sides = [Runner(game, f"{each}(turns={turns})") for each in (slow, f"{family}-hybrid")]
                compile_all(sides[1])
                while min(side.seconds for side in sides) < options.seconds:
                    min(sides, key=lambda side: side.seconds).go()
                goal = max(side.rows[-1][1] for side in sides)
                arrays, hybrid = (side.when(goal) for side in sides)
                at = sides[1].state.handed_over_at
                row = {"game": name, "family": family, "turns": turns, "goal": goal, "arrays": arrays, "hybrid": hybrid}
                out.append(row | {"handed_over_at": at, "iterations": sides[1].state.iteration})
                print(
                    f"| `{name}` | `{family}` | {turns} | {goal:.2e} | {arrays:.2f} | {hybrid:.2f} |"
                    f" {arrays / hybrid:.2f} | {f'{at:,}' if at else 'never'} of {sides[1].state.iteration:,} |",
                    flush=True,
                )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["constants", "race"])
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--families", nargs="+", default=["cfr", "cfr+"], choices=["cfr", "cfr+", "hedge-dt"])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--warm", type=int, nargs="+", default=[300, 3000], help="iterations before a walk is measured")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"constants": constants, "race": race}[options.what](options)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
