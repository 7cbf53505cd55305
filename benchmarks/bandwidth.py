"""How much of the machine's memory bandwidth a CFR+ iteration reaches, on one thread and on several.

Bytes are counted from the arrays an iteration must read or write at least once per pass; gathered numbers that are
read again count once. The machine's bandwidth is that of a triad a = b + s * c over as many bytes as the game's arrays
hold, by as many threads, so it is the cache's where they fit into it.

    .venv/bin/python benchmarks/bandwidth.py [--threads 1 16] [--games leduc5 rhode_island]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from numba import prange

import treeplex as tp
from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.compile.game import operator_bytes
from treeplex.compile.payoffs import Payoffs
from treeplex.engines.sequence.tiles import TiledGame, tiled

GAMES = ("leduc5", "liars_dice", "kuhn_ext(3,20,7)", "liars_dice(sides=9)", "rhode_island")
ROUNDS = 7


@numba.njit(parallel=True)
def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray, repeat: int) -> None:
    for _ in range(repeat):
        for i in prange(len(a)):
            a[i] = b[i] + 3.0 * c[i]


def best(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def machine(footprint: int, threads: int) -> float:
    """Bytes per second of a triad over ``footprint`` bytes."""
    n = max(footprint // 24, 1000)
    a, b, c = np.zeros(n), np.ones(n), np.ones(n)
    repeat = max(1, 200_000_000 // (24 * n))
    numba.set_num_threads(threads)
    triad(a, b, c, 1)
    return repeat * 24 * n / best(lambda: triad(a, b, c, repeat))


def moved(tiles: TiledGame) -> int:
    """Bytes an iteration moves: the operator once per player, and both passes over the tiles."""
    passes = 0
    for layout, rows in zip(tiles.layouts, tiles.rows, strict=True):
        passes += 8 * 4 * layout.positions  # up: regret and strategy, read and written
        passes += 8 * 4 * layout.positions  # down: strategy, plan written, average read and written
        passes += 8 * layout.positions  # the opponent's plan, gathered
        passes += 3 * 8 * len(layout.tiles.parent)  # worth written and gathered, the parent's plan
        passes += sum(array.nbytes for array in (*layout.tiles, rows.start, rows.column, rows.data))
    for side in tiles.blocks:
        if side is not None:
            passes += sum(array.nbytes for name, array in side._asdict().items() if name != "tables")
    return passes + sum(2 * 8 * layout.positions for layout in tiles.layouts) * (tiles.blocks[0] is not None)


def held(tiles: TiledGame) -> int:
    """Bytes of the arrays of an iteration."""
    return sum(4 * 8 * layout.positions for layout in tiles.layouts) + sum(
        rows.column.nbytes + rows.data.nbytes for rows in tiles.rows
    )


def measure(name: str, threads: list[int]) -> list[dict[str, object]]:
    game = tp.load(name)
    tiles = tiled(game)
    if tiles is None:
        raise SystemExit(f"{name} is too small for tiles")
    blocks = 0 if isinstance(game.operator, Payoffs) else operator_bytes(game.operator)
    footprint, bytes_moved = held(tiles) + blocks, moved(tiles)
    return [
        {
            "game": game.name,
            "operator": type(game.operator).__name__,
            "entries": game.operator.entries,
            "footprint_mb": footprint / 1e6,
            "moved_mb": bytes_moved / 1e6,
            "threads": count,
            "ms_per_iteration": 1e3 * (seconds := iteration(game, count, max(1, 100_000_000 // bytes_moved))),
            "gb_per_second": bytes_moved / seconds / 1e9,
            "machine_gb_per_second": (limit := machine(footprint, count)) / 1e9,
            "fraction": bytes_moved / seconds / limit,
        }
        for count in threads
    ]


def iteration(game: tp.CompiledGame, threads: int, count: int) -> float:
    algorithm = cfr_plus().open(game, Execution(threads=threads))
    state = algorithm.advance(game, algorithm.start(game), 3)

    def work() -> None:
        nonlocal state
        state = algorithm.advance(game, state, count)

    return best(work) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--write", action="store_true", help="to bandwidth.json, beside this file")
    given = parser.parse_args()
    print("game                  threads  footprint  moved per iteration         ms      GB/s   triad  share")
    rows: list[dict[str, object]] = []
    for name in given.games:
        rows += measure(name, given.threads)
        for row in rows[-len(given.threads) :]:
            print(
                f"{name:22}{row['threads']:7}{row['footprint_mb']:8.1f} MB{row['moved_mb']:18.1f} MB"
                f"{row['ms_per_iteration']:11.3f}{row['gb_per_second']:10.1f}{row['machine_gb_per_second']:8.1f}"
                f"{row['fraction']:7.2f}",
                flush=True,
            )
    if given.write:
        Path(__file__).with_name("bandwidth.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
