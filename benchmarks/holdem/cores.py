"""What cores that work side by side lose, and what our threads lose beyond that.

    python benchmarks/holdem/cores.py tests/holdem/spots.json --spot F1 --cores 16

Milliseconds per iteration (wall clock), times the cores of a run: of one thread with the machine to itself; of
independent processes with one thread each, one per core, which share nothing but the machine; and of one run with as
many threads. Efficiency is the first over the last; what the processes lose is the machine's part of the loss.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from pathlib import Path

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.holdem import load_spot, make_spot

ROUNDS = 5


def milliseconds(file: str, name: str, threads: int, iterations: int, barrier=None) -> float:
    """The median of some rounds."""
    game = load_spot(make_spot(json.loads(Path(file).read_text())["spots"][name]))
    solver = build(DEFAULT_SPOT_ALGORITHM).open(game, Execution(threads=threads))
    state = solver.advance(game, solver.start(game), 3)
    if barrier is not None:
        barrier.wait()
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        state = solver.advance(game, state, iterations)
        rounds.append(1000.0 * (time.perf_counter() - began) / iterations)
    return statistics.median(rounds)


def _process(file: str, name: str, iterations: int, barrier, found) -> None:
    found.put(milliseconds(file, name, 1, iterations, barrier))


def processes(file: str, name: str, count: int, iterations: int) -> float:
    """The mean over processes that start at the same time."""
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(count), context.Queue()
    users = [context.Process(target=_process, args=(file, name, iterations, barrier, found)) for _ in range(count)]
    for user in users:
        user.start()
    times = [found.get() for _ in users]
    for user in users:
        user.join()
    return statistics.mean(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots_file")
    parser.add_argument("--spot", default="F1")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    given, count, iterations = (options.spots_file, options.spot), options.cores, options.iterations
    for _ in range(options.repeats):
        alone = milliseconds(*given, 1, iterations)
        apart = processes(*given, count, iterations)
        together = count * milliseconds(*given, count, 4 * iterations)
        print(
            f"{options.spot}: alone {alone:.1f}, {count} processes {apart:.1f} ({alone / apart:.2f}), {count} threads"
            f" {together:.1f} (efficiency {alone / together:.2f}; of what processes reach {apart / together:.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
