"""Exploitability over a long run: iterations to each target, and by how much it ever rises.

    python benchmarks/holdem/series.py tests/holdem/spots.json R,TB,T,F1 float32,int16 --last 1000 --threads 0

Looks every ten iterations up to 1,000, then every fifty. "rise": the largest look over the lowest one before it, until
the lowest is at most 0.005 % of the pot; "after": the largest look after that. Random turns and rivers of
``discounts.py`` are named turn:7 and river:12.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from discounts import random_spot

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.holdem import load_spot, make_spot

TARGETS = (0.5, 0.1, 0.05, 0.02, 0.005)  # per cent of the pot


def series(game, algorithm: str, storage: str, threads: int, last: int, enough: float) -> list[tuple[int, float]]:
    solver = build(algorithm).open(game, Execution(storage=storage, threads=threads))
    state, looks = solver.start(game), []
    while state.iteration < last and not (looks and looks[-1][1] <= enough):
        state = solver.advance(game, state, 10 if state.iteration < 1000 else 50)
        found = solver.report(game, state, "average").evaluate().exploitability
        looks.append((state.iteration, 100.0 * found / game.spot.pot))
    return looks


def line(looks: list[tuple[int, float]]) -> str:
    met = [next((str(t) for t, found in looks if found <= target), "-") for target in TARGETS]
    lowest, rise, after = float("inf"), 1.0, None
    for _, found in looks:
        if lowest > TARGETS[-1]:
            rise = max(rise, found / lowest) if lowest < TARGETS[0] else rise
        else:
            after = max(after or 0.0, found)
        lowest = min(lowest, found)
    told = "" if after is None else f"  after {after:.5f}"
    return f"to {' / '.join(met)}  rise {rise:.3f}  last {looks[-1][1]:.5f} at {looks[-1][0]:,}{told}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots_file")
    parser.add_argument("spots")
    parser.add_argument("storages", nargs="?", default="float32,int16")
    parser.add_argument("--algorithm", default=DEFAULT_SPOT_ALGORITHM)
    parser.add_argument("--last", type=int, default=1000)
    parser.add_argument("--enough", type=float, default=0.0, help="per cent of the pot at which to stop")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    known = json.loads(Path(given.spots_file).read_text())["spots"]
    print("iterations to", " / ".join(f"{target} %" for target in TARGETS))
    for name in given.spots.split(","):
        street, _, seed = name.partition(":")
        game = load_spot(random_spot(street, int(seed)) if seed else make_spot(known[name]))
        for storage in given.storages.split(","):
            looks = series(game, given.algorithm, storage, given.threads, given.last, given.enough)
            print(f"{name:8} {storage:8}", line(looks), flush=True)


if __name__ == "__main__":
    main()
