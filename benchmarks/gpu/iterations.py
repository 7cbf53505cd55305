"""Iterations that discounts and weights need on spots, found on a GPU; for trees that take a CPU long.

    python benchmarks/gpu/iterations.py tests/holdem/spots.json --spots T,F1 "dcfr(gamma=4)" cfr+

Every ten iterations the average strategies are evaluated. ``benchmarks/holdem/discounts.py`` does the same on random
turns and rivers without a GPU.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from holdem import MOST, Solve, solver_for, spot_named
from treeplex.api import DEFAULT_SPOT_ALGORITHM

TARGETS = (1.0, 0.5, 0.3, 0.2, 0.1)  # per cent of the pot


def found(solve: Solve, algorithm: str, last: int) -> dict[float, int]:
    """Iterations to each target."""
    solve.restart()
    solve.solver = solver_for(solve.game, solve.storage, name=algorithm)
    solve.schedules = solve.solver.schedules(MOST)
    met: dict[float, int] = {}
    while solve.t < last and len(met) < len(TARGETS):
        solve.iterate(10)
        percent = 50.0 * solve.evaluate()[1] / solve.spot.pot
        met |= {target: solve.t for target in TARGETS if percent <= target and target not in met}
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="spots.json")
    parser.add_argument("algorithms", nargs="+")
    parser.add_argument("--spots", default="T,F1")
    parser.add_argument("--last", type=int, default=400)
    given = parser.parse_args()
    print(f"{'iterations to ' + ', '.join(map(str, TARGETS)) + ' % of pot':60s}")
    for name in given.spots.split(","):
        solve = Solve(spot_named(name, given.file), "float32")
        for algorithm in [DEFAULT_SPOT_ALGORITHM, *given.algorithms]:
            met = found(solve, algorithm, given.last)
            print(f"{name:8s} {algorithm:52s}", *(f"{met.get(target, '-'):>5}" for target in TARGETS), flush=True)
        del solve


if __name__ == "__main__":
    main()
