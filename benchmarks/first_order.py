"""What an iteration costs beside one of CFR+, on arrays and one thread: Hedge and the methods with smoothed responses.

Sides take turns in one process, from states that have settled; the fastest stretch of each counts, in processor time.
Steps that had to be halved are in it, as they come. Run: .venv/bin/python benchmarks/first_order.py
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build

GAMES = ("leduc", "leduc5", "liars_dice")
ALGORITHMS = ("cfr+", "hedge", "egt", "mirror-prox", "omd")
ROUNDS = 15
STRETCH = 0.03  # seconds


def measure(name: str) -> dict[str, float]:
    game = tp.load(name)
    sides = {}
    for spec in ALGORITHMS:
        algorithm = build(spec).open(game, Execution(threads=1))
        state = algorithm.advance(game, algorithm.start(game), 200)
        began = time.process_time()
        state = algorithm.advance(game, state, 50)
        sides[spec] = algorithm, state, max(1, round(STRETCH / max((time.process_time() - began) / 50, 1e-7)))
    best = dict.fromkeys(ALGORITHMS, float("inf"))
    for _ in range(ROUNDS):
        for spec, (algorithm, before, count) in list(sides.items()):
            began = time.process_time()
            state = algorithm.advance(game, before, count)
            best[spec] = min(best[spec], (time.process_time() - began) / count)
            sides[spec] = algorithm, state, count
    return {spec: 1e6 * seconds for spec, seconds in best.items()}


def main() -> None:
    results = {}
    for name in GAMES:
        results[name] = measure(name)
        base = results[name][ALGORITHMS[0]]
        for spec, microseconds in results[name].items():
            print(f"{name:12} {spec:18} {microseconds:10.1f} us   {microseconds / base:5.2f} of cfr+")
            sys.stdout.flush()
    Path(__file__).with_name("first_order.json").write_text(
        json.dumps({"microseconds_an_iteration": results}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
