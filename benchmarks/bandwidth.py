"""How much of the machine's memory bandwidth a CFR+ iteration reaches, on one thread.

Bytes are counted from the arrays an iteration must read or write at least once per pass; gathered numbers that are
read again count once. The machine's bandwidth is that of a triad a = b + s * c over as many bytes as the game's arrays
hold, so it is the cache's where they fit into it. Run: .venv/bin/python benchmarks/bandwidth.py
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

import treeplex as tp
from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.compile.blocks import Blocks
from treeplex.compile.game import CompiledGame, operator_bytes

GAMES = ("leduc5", "liars_dice", "kuhn_ext(3,20,7)", "liars_dice(sides=9)")
ROUNDS = 7


@numba.njit
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray, repeat: int) -> None:
    for _ in range(repeat):
        for i in range(len(a)):
            a[i] = b[i] + 3.0 * c[i]


def best(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def machine(footprint: int) -> float:
    """Bytes per second of a triad over ``footprint`` bytes."""
    n = max(footprint // 24, 1000)
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)
    repeat = max(1, 200_000_000 // (24 * n))
    triad(a, b, c, 1)
    return repeat * 24 * n / best(lambda: triad(a, b, c, repeat))


def moved(game: CompiledGame) -> int:
    """Bytes an iteration moves: the operator once per player, and every pass over the sequences."""
    operator = game.operator
    passes = 0
    for treeplex in game.treeplexes:
        s, i = treeplex.sequences, treeplex.infosets
        passes += 8 * s  # values written by the operator
        passes += (
            8 * s * 7 + 8 * i
        )  # bottom-up: values, regret rw, strategy rrww (read, hope, scaled), first and parent
        passes += 8 * s * 5 + 8 * i  # top-down: strategy, average rw, weights rw
        passes += 8 * s  # the opponent's weights, gathered
    if isinstance(operator, Blocks):
        sides = [(side.start, side.column, side.amount, side.table, side.sequence, side.other) for side in operator]
        return passes + sum(array.nbytes for side in sides for array in side)
    return passes + operator_bytes(operator)


def measure(name: str) -> dict[str, object]:
    game = tp.load(name)
    algorithm = cfr_plus().prepared(game, Execution(threads=1))
    state = algorithm.advance(game, algorithm.start(game), 3)
    footprint = operator_bytes(game.operator) + sum(5 * 8 * treeplex.sequences for treeplex in game.treeplexes)
    count = max(1, 100_000_000 // moved(game))

    def work() -> None:
        nonlocal state
        state = algorithm.advance(game, state, count)

    seconds = best(work) / count
    reached, limit = moved(game) / seconds, machine(footprint)
    return {
        "game": game.name,
        "operator": type(game.operator).__name__,
        "entries": game.operator.entries,
        "footprint_mb": footprint / 1e6,
        "ms_per_iteration": 1e3 * seconds,
        "ns_per_entry": 1e9 * seconds / game.operator.entries,
        "moved_mb": moved(game) / 1e6,
        "gb_per_second": reached / 1e9,
        "machine_gb_per_second": limit / 1e9,
        "fraction": reached / limit,
    }


if __name__ == "__main__":
    rows = []
    for game_name in sys.argv[1:] or GAMES:
        rows.append(measure(game_name))
        print(json.dumps(rows[-1]))
    Path(__file__).with_name("bandwidth.json").write_text(json.dumps(rows, indent=1) + "\n")
