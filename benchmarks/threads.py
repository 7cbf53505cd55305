"""Time per iteration by the number of threads, and what of it is lost: is more than one ever slower?

    .venv/bin/python benchmarks/threads.py --threads 1 2 4 8 16 --games leduc5 'kuhn_ext(3,20,7)'

CFR+ in float64. Each number of threads has its turn in every round, in one process, after a warm-up; the figure is the
best of all rounds, by the clock. Efficiency is (time of one thread) / (threads x time). ``0`` is what a run takes if it
is told nothing. Beside each game: ns per sequence by one thread, how iterations are carried out (tiles or walks), and
how many pieces its largest height is cut into.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

GAMES = [
    "leduc",
    "leduc5",
    "liars_dice",
    "goofspiel(cards=5)",
    "goofspiel(cards=6)",
    "princess_and_monster",
    "kuhn_ext(3,20,4)",
    "kuhn_ext(3,20,7)",
    "kuhn_ext(13,8,4)",
    "one_card_poker(1000)",
    "one_card_poker(20000)",
    "rhode_island",
]
STRETCH = 0.05  # seconds of iterations between two looks at the clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16, 0])
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--storage", default="float64")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--piece", type=int, help="vectors of a thread, instead of what the engine has")
    parser.add_argument("--numbers", type=int, help="numbers of a thread in walks and gradients by blocks, likewise")
    given = parser.parse_args()
    from treeplex.engines.sequence import partition

    partition.PIECE, partition.NUMBERS = given.piece or partition.PIECE, given.numbers or partition.NUMBERS
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = sorted({1, *(count for count in given.threads if count <= cores)} - {0}) + [0] * (0 in given.threads)
    print(f"{cores} cores; microseconds per iteration (efficiency)")
    print(f"{'':24}{'ns/seq':>8}{'form':>8}{'pieces':>8}", *(f"{count or 'told 0':>18}" for count in counts))
    slower = 0
    for name in given.games:
        slower += measure(name, counts, given.storage, given.rounds)
    sys.exit(1 if slower else 0)


def measure(name: str, counts: list[int], storage: str, rounds: int) -> bool:
    """Print a row; was one thread clearly faster than the number of threads that a run takes by itself?"""
    import treeplex as tp
    from treeplex.algorithms.protocol import Execution
    from treeplex.algorithms.registry import build
    from treeplex.engines.sequence.partition import runs
    from treeplex.engines.sequence.tiles import tiled

    game = tp.load(name)
    solvers = {count: build("cfr+").open(game, Execution(storage=storage, threads=count)) for count in counts}
    states: dict[int, Any] = {count: solver.advance(game, solver.start(game), 2) for count, solver in solvers.items()}
    began = time.perf_counter()
    states[1] = solvers[1].advance(game, states[1], 1)
    stretch = max(1, int(STRETCH / (time.perf_counter() - began)))
    best = dict.fromkeys(counts, float("inf"))
    for _ in range(rounds):
        for count in counts:
            began = time.perf_counter()
            states[count] = solvers[count].advance(game, states[count], stretch)
            best[count] = min(best[count], (time.perf_counter() - began) / stretch)
    found = tiled(game, storage)
    table = None if found is None else runs(found, max(counts))[0]
    pieces = 1 if table is None else max(len(set(row.tolist())) - 1 for row in table.up)
    sequences = sum(treeplex.sequences for treeplex in game.treeplexes)
    row = f"{name:24}{best[1] / sequences * 1e9:8.2f}{'walks' if found is None else 'tiles':>8}{pieces:>8}"
    cells = [f"{best[c] * 1e6:10.1f} ({best[1] / best[c] / c:4.2f})" if c else f"{best[c] * 1e6:18.1f}" for c in counts]
    print(row, *(f"{cell:>18}" for cell in cells), flush=True)
    return 0 in best and best[0] > 1.05 * best[1]


if __name__ == "__main__":
    main()
