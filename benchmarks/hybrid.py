"""Arrays and walks, and the hybrid of both.

    .venv/bin/python benchmarks/hybrid.py constants      # nanoseconds for src/treeplex/algorithms/hybrid.py
    .venv/bin/python benchmarks/hybrid.py race           # hybrid against arrays with the same turns, seconds to the same NashConv

Processor seconds of iterations alone, one thread. In a race the sides take turns, a tenth of a second each, so that whatever
else the machine does is shared; the goal is the lowest NashConv that the slower one reached in ``--seconds``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
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
    """Best of many stretches: arrays per number read, walks per node entered and per node of a response."""
    import treeplex as tp
    from treeplex.algorithms.registry import build
    from treeplex.algorithms.tabular import sweep

    found: list[dict[str, Any]] = []
    for name in options.games:
        game = tp.load(name)
        arrays, walk = build("cfr"), build("cfr-nested-rbp")
        one, two = arrays.advance(game, arrays.start(game), 2), walk.advance(game, walk.start(game), options.warm)
        count = max(1, int(2e7 / sweep(game)))
        per_number, rows = math.inf, list[tuple[float, float, float]]()
        for _ in range(options.rounds):
            one, spent = timed(arrays, game, one, count)
            per_number = min(per_number, spent / (count * sweep(game)) * 1e9)
            before = two
            two, spent = timed(walk, game, two, max(1, count // 4))
            responses = two.responses - before.responses
            rows.append((two.nodes - before.nodes - responses, responses, spent * 1e9))
        entered, responses, spent = np.array(sorted(rows, key=lambda row: row[2] / row[0])[: len(rows) // 3 + 1]).T
        per_node = float(spent.sum() / (entered + 2.0 * responses).sum())
        found.append({"game": name, "number": per_number, "node": per_node, "ratio": per_node / per_number})
        print(
            f"{name:24s} arrays {per_number:.3f} ns per number, {per_number * sweep(game) / 1e3:.1f} us per iteration;"
            f" walks {per_node:.1f} ns per node, twice that in responses; ratio {per_node / per_number:.0f}",
            flush=True,
        )
    mean = {key: math.exp(sum(math.log(row[key]) for row in found) / len(found)) for key in ("number", "node", "ratio")}
    print("geometric means:", {key: round(value, 2) for key, value in mean.items()})
    return {"games": found, "means": mean}


class Runner:
    """One side of a race: seconds spent, and (seconds, lowest NashConv) so far."""

    def __init__(self, game: Any, name: str) -> None:
        from treeplex.algorithms.registry import build

        self.game, self.algorithm, self.seconds, self.pace = game, build(name), 0.0, 1.0
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
            self.pace = min(8.0 * self.pace, max(1.0, count * SLICE / max(spent, 1e-6) / 4.0))
            if self.state.iteration >= self.due:
                value = float(evaluate_strategies(self.game, self.algorithm.average(self.game, self.state)).nash_conv)
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
                sides[1].algorithm.average(game, sides[1].algorithm.advance(game, sides[1].state, 2))  # compiles
                sides[1].algorithm.walk.advance(game, sides[1].algorithm.walk.start(game), 2)
                sides[1].state = sides[1].algorithm.start(game)
                while max(side.seconds for side in sides) < options.seconds:
                    for side in sides:
                        side.go()
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
    parser.add_argument("--warm", type=int, default=3000, help="iterations before a walk is measured")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"constants": constants, "race": race}[options.what](options)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
