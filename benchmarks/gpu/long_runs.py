"""Long runs in float32 on a GPU: NashConv must not rise, and iterations take as long with blocks as without.

    python benchmarks/gpu/long_runs.py [--backend cpu] [--iterations 1000000]

Averages are added up in blocks after iteration 65,536 (``updates.blocks``). For each case: NashConv after 100,000
iterations and at the end, and microseconds per iteration before and after that iteration.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.updates.blocks import BEGIN

RIVER = Spot("2s 2h 2d 7c 8c", 100, 100, "AA,QQ", "KK", sizes_for("a", "a"))
CASES: list[tuple[Any, str]] = [
    ("leduc", "cfr+"),
    ("leduc", "dcfr"),
    ("leduc", "pdcfr+"),
    (RIVER, "dcfr"),
    (RIVER, "cfr+"),
]


def measured(name: Any, algorithm: str, backend: str, iterations: int) -> None:
    game = tp.load(name)
    solver: Any = build(algorithm).open(game, Execution(backend, "float32"))
    state, found, times = solver.advance(game, solver.start(game), 1_000), list[float](), list[float]()
    for end in (BEGIN, 100_000, iterations):
        began, count = time.perf_counter(), end - state.iteration
        state = solver.advance(game, state, count)
        times.append(1e6 * (time.perf_counter() - began) / count)
        found.append(solver.report(game, state, "average").evaluate().nash_conv)
    what = "river" if name is RIVER else name
    right = found[2] <= max(found[1], 1e-6 * (100.0 if name is RIVER else 13.0))
    print(
        f"{what:6s} {algorithm:7s} NashConv {found[1]:.2e} after 100,000 and {found[2]:.2e}"
        f" after {iterations:,} iterations, {'right' if right else 'WRONG'}; {times[0]:.2f} us per iteration before"
        f" {BEGIN:,}, {times[2]:.2f} after",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--iterations", type=int, default=1_000_000)
    chosen = parser.parse_args()
    for name, algorithm in CASES:
        measured(name, algorithm, chosen.backend, chosen.iterations)


if __name__ == "__main__":
    main()
