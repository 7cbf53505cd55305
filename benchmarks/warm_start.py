"""Warm start by elimination beside CFR+ and every other fast algorithm, on the matrix games of Figure 3 of Ju et al.

    python benchmarks/warm_start.py [--seconds 1] [--seeds 10] [--game NAME ...]

For each matrix the target is the NashConv that CFR+ ends with after so many seconds of processor time. A row has the
median over matrices of the seconds and of the nodes until the target was first met ("-": not met by half of them),
and of CFR+'s over these. All take turns on each matrix. ``lp`` is exact: its row has the seconds of a whole solve.
"""

from __future__ import annotations

import argparse
import math
import time
from statistics import median

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.papers.seeded_curves import curve, reached

PLAIN = "cfr+"
GAMES = ("gaussian_matrix", "gaussian_matrix(better=20)", "gaussian_matrix(better=50)")
ALGORITHMS = (
    PLAIN,
    "dcfr",
    "pcfr+",
    "pdcfr+",
    "egt",
    "warm-start(mode=unsafe)",
    "warm-start",
    "warm-start(mode=unsafe,sampler=mccfr-external)",
    "warm-start(mode=unsafe,sampler=mccfr-chance)",
)


def seeded(name: str, seed: int) -> str:
    """The game with this seed."""
    return f"{name[:-1]},seed={seed})" if name.endswith(")") else f"{name}(seed={seed})"


def shown(numbers: list[float]) -> str:
    """The median, or a dash."""
    middle = median(numbers)
    return f"{middle:.3g}" if math.isfinite(middle) else "-"


def main() -> None:
    """Run all, and print a table for each kind of game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--game", action="append", help="instead of those of the figure; may be given again")
    given = parser.parse_args()
    for name in given.game or GAMES:
        cost: dict[str, dict[str, list[float]]] = {key: {"seconds": [], "nodes": []} for key in ALGORITHMS}
        targets: list[float] = []
        exact: list[float] = []
        for seed in range(given.seeds):
            game = tp.load(seeded(name, seed))
            runs = {key: curve(game, build(key), given.seconds, seed) for key in ALGORITHMS}
            targets.append(runs[PLAIN][-1].nash_conv)
            for key, points in runs.items():
                for axis, found in cost[key].items():
                    found.append(reached(points, targets[-1], axis))
            began = time.process_time()
            tp.solve(game, "lp")
            exact.append(time.process_time() - began)
        print(f"\n{name}: {given.seeds} games, NashConv {median(targets):.2g} after {given.seconds:g} s of {PLAIN}")
        print(f"{'':48}{'seconds':>10}{'nodes':>10}{'faster':>10}{'fewer':>10}")
        for key, of in cost.items():
            ratios = {
                axis: [plain / own for plain, own in zip(cost[PLAIN][axis], found, strict=True)]
                for axis, found in of.items()
            }
            numbers = (of["seconds"], of["nodes"], ratios["seconds"], ratios["nodes"])
            print(f"{key:48}" + "".join(f"{shown(number):>10}" for number in numbers))
        print(f"{'lp':48}{shown(exact):>10}")


if __name__ == "__main__":
    main()
