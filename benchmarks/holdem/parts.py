"""Where an iteration's time goes on one thread: nanoseconds per number kept, by part of a pass.

    python benchmarks/holdem/parts.py tests/holdem/spots.json --spots T,F1 --storage float32

A part takes what is saved by leaving it out, and all that come after it: kernels are compiled with fewer and fewer
parts of the last street, each in a process with a cache of its own. Nothing is pruned, or what comes before would
have less to do without what comes after; the last line is with pruning. Half of the numbers kept are regrets, half
averages; a pair counts as one number.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

PARTS = {
    "into the street": ["enter"],
    "down": ["descend"],
    "terminals": ["settle", "_clear", "fetch_last"],
    "up": ["ascend"],
    "out of the street": ["leave", "collect"],
}


def measured(file: str, name: str, storage: str, left_out: list[str], prune: bool) -> float:
    """Nanoseconds per number and iteration, without some functions of ``passes`` on the last street."""
    from treeplex.algorithms.protocol import Execution
    from treeplex.algorithms.registry import build
    from treeplex.api import DEFAULT_SPOT_ALGORITHM
    from treeplex.engines.boards.cpu import passes
    from treeplex.holdem import load_spot, make_spot
    from treeplex.kernels.jit import callee

    for function in left_out:
        setattr(passes, function, _above_the_last(getattr(passes, function), callee))
    game = load_spot(make_spot(json.loads(Path(file).read_text())["spots"][name]))
    solver = replace(build(DEFAULT_SPOT_ALGORITHM).open(game, Execution(storage=storage, threads=1)), prune=prune)
    state = solver.advance(game, solver.start(game), 3)
    numbers, best = sum(game.elements(player) for player in (0, 1)), float("inf")
    for _ in range(5):
        began = time.process_time()
        state = solver.advance(game, state, 5)
        best = min(best, time.process_time() - began)
    return 1e9 * best / 5 / numbers


def _above_the_last(function, callee):
    """The function, but on the last street it does nothing."""

    @callee
    def kept(tables, place, *rest):
        if place.level != 2:
            function(tables, place, *rest)

    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots_file")
    parser.add_argument("--spots", default="T,F1")
    parser.add_argument("--storage", default="float32")
    parser.add_argument("--without", help="used by this program itself: print one measurement")
    options = parser.parse_args()
    names = options.spots.split(",")
    if options.without is not None:
        first, *left_out = options.without.split(",")
        print(measured(options.spots_file, names[0], options.storage, left_out, first == "prune"))
        return
    print(f"{'':20}" + "".join(f"{name:>8}" for name in names))
    columns = [_column(options.spots_file, name, options.storage) for name in names]
    for k, part in enumerate((*PARTS, "first streets", "all", "with pruning")):
        print(f"{part:20}" + "".join(f"{column[k]:8.2f}" for column in columns), flush=True)


def _column(file: str, name: str, storage: str) -> list[float]:
    left_out: list[str] = []
    times = [_in_a_process(file, name, storage, left_out)]
    for part in reversed(PARTS):
        left_out += PARTS[part]
        times.append(_in_a_process(file, name, storage, left_out))
    shares = [before - after for before, after in itertools.pairwise(times)]
    return [*reversed(shares), times[-1], times[0], _in_a_process(file, name, storage, [], "prune")]


def _in_a_process(file: str, name: str, storage: str, left_out: list[str], first: str = "") -> float:
    command = [sys.executable, __file__, file, "--spots", name, "--storage", storage]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command += ["--without", ",".join((first, *left_out))]
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
