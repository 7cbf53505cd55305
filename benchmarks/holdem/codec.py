"""Bits per number of the codec of checkpoints, beside int16 and zstd; sizes and seconds of checkpoints.

    python benchmarks/holdem/codec.py bits leduc leduc5 R T F1 F2       # adds rows to codec.json
    python benchmarks/holdem/codec.py checkpoints T F1 F2        # on a quiet machine
    python benchmarks/holdem/codec.py memory T F1                # storage="compressed" beside int16
    python tools/figures.py --ran holdem/codec                   # then writes docs/theory/cfr-plus.md

Spots are those of tests/holdem/spots.json. F2 is F1 with three bet sizes instead of two. Bits are of both players'
numbers. "before" is the same checkpoint with plain arrays. A write includes the checksum and the flush to disk. It is
the middle one of three, and sides take turns. "processor" is the time of all threads of a write.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treeplex import load
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.arrow import zstd
from treeplex.codec.arrays import encode
from treeplex.engines.boards import coded
from treeplex.files import replace_text
from treeplex.holdem import load_spot, make_spot, sizes_for
from treeplex.runs.checkpoint import Checkpoint, save_checkpoint
from treeplex.tensors import CHECKPOINT, mapped_tensors

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STORED = HERE / "codec.json"
SPOTS = json.loads((ROOT / "tests" / "holdem" / "spots.json").read_text())["spots"]
LOOKS = {
    "leduc": (10, 100, 1000),
    "leduc5": (10, 100, 1000),
    "R": (10, 100, 1000),
    "T": (10, 100, 1000),
    "F1": (10, 100),
    "F2": (10, 30),
}
PLAIN = ("leduc", "leduc5")  # games without rows of hands
ALGORITHMS = ("cfr+", DEFAULT_SPOT_ALGORITHM)
FIELDS = ("regret", "average")
TIMES = 3
KINDS = ("write before", "write", "read before", "read", "cpu before", "cpu")
FIRST = 10  # iterations before those that are timed


def game_of(name: str) -> Any:
    if name in PLAIN:
        return load(name)
    if name != "F2":
        return load_spot(make_spot(SPOTS[name]))
    return load_spot(replace(make_spot(SPOTS["F1"]), sizes=sizes_for("50%, 100%, a", "60%, a")))


def segments_of(game: Any, name: str, player: int, array: np.ndarray) -> np.ndarray:
    """Rows of hands; on other games rows of one number, which are predicted to be zero."""
    return np.array([[len(array), 1]]) if name in PLAIN else coded.row_segments(game, player, len(array))


def bits(name: str, algorithm: str, last: int) -> list[dict[str, Any]]:
    """Bits per number after some iterations with 16 bits."""
    game = game_of(name)
    solver = build("cfr+" if name in PLAIN else algorithm).open(game, Execution(storage="int16", threads=0))
    state, rows = solver.start(game), []
    for iteration in (look for look in LOOKS[name] if look <= last):
        state = solver.advance(game, state, iteration - solver.work(game, state).iterations)
        for field in FIELDS:
            learners = (state.host if name in PLAIN else state).learners
            arrays = [getattr(learner, field) for learner in learners]
            scale = "scale" if name in PLAIN else f"{field}_scale"
            scales = [getattr(learner, scale) for learner in learners if arrays[0].dtype == np.int16]
            count = sum(map(len, arrays))
            streams = [encode(array, segments_of(game, name, player, array)) for player, array in enumerate(arrays)]
            rows.append(
                {
                    "game": name,
                    "algorithm": "cfr+" if name in PLAIN else algorithm,
                    "iteration": iteration,
                    "field": field,
                    "numbers": count,
                    "zeros": sum(int(np.count_nonzero(array == 0)) for array in arrays) / count,
                    "type": str(arrays[0].dtype),
                    "scales": 8 * sum(scale.nbytes for scale in scales) / count,
                    "plain": 8.0 * arrays[0].itemsize,
                    "zstd": 8 * sum(len(zstd(array.tobytes())) for array in arrays) / count,
                    "codec": 8 * sum(map(len, streams)) / count,
                }
            )
            print(rows[-1], flush=True)
    return rows


def checkpoints(name: str, storage: str, iterations: int = 10) -> dict[str, Any]:
    """Size and seconds of a checkpoint, plain and coded. The state that is read is compared bit by bit."""
    game = game_of(name)
    solver = build(DEFAULT_SPOT_ALGORITHM).open(game, Execution(storage=storage, threads=0))
    state = solver.advance(game, solver.start(game), iterations)
    point = Checkpoint(state, [], 0.0, 0.0)
    least, seconds = coded.LEAST, {key: [] for key in KINDS}
    size = {}
    with tempfile.TemporaryDirectory(dir=ROOT / "build" if (ROOT / "build").is_dir() else None) as folder:
        path = Path(folder) / "checkpoint.safetensors"
        for turn in range(TIMES + 1):
            for side, limit in ((" before", 2**60), ("", least)):
                coded.LEAST = limit
                began, work = time.perf_counter(), time.process_time()
                save_checkpoint(path, {}, solver, point)
                wrote, work = time.perf_counter(), time.process_time() - work
                with mapped_tensors(path, CHECKPOINT) as (tensors, _):
                    read = solver.restore(game, tensors, 0)
                ended = time.perf_counter()
                size[side] = path.stat().st_size
                for ours, saved in zip(state.learners, read.learners, strict=True):
                    assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, saved, strict=True))
                del read
                if turn:  # the first time compiles
                    seconds["write" + side].append(wrote - began)
                    seconds["read" + side].append(ended - wrote)
                    seconds["cpu" + side].append(work)
    row = {
        "game": name,
        "storage": storage,
        "iteration": iterations,
        "bytes before": size[" before"],
        "bytes": size[""],
    }
    return row | {key: round(statistics.median(times), 3) for key, times in seconds.items()}


def memory(name: str) -> list[dict[str, Any]]:
    """Bytes and seconds of an iteration with numbers of 16 bits, coded and as they are. Iterates are compared."""
    game, rows, saved = game_of(name), [], []
    for storage in ("int16", "compressed"):
        solver = build(DEFAULT_SPOT_ALGORITHM).open(game, Execution(storage=storage, threads=0))
        state, seconds, work = solver.advance(game, solver.start(game), FIRST), [], []
        for _ in range(TIMES):
            began, busy = time.perf_counter(), time.process_time()
            state = solver.advance(game, state, 1)
            seconds.append(time.perf_counter() - began)
            work.append(time.process_time() - busy)
        learners = [state.learners] if storage == "int16" else [state.trunk.learners, *state.boards]
        size = sum(array.nbytes for pair in learners for learner in pair for array in learner)
        count = 2 * sum(game.elements(player) for player in (0, 1))
        row = {"game": name, "storage": storage, "iteration": FIRST + TIMES, "numbers": count, "bytes": size}
        middle = {"seconds": round(statistics.median(seconds), 4), "cpu": round(statistics.median(work), 4)}
        rows.append(row | middle)
        saved.append(solver.save(state))
        print(rows[-1], flush=True)
    assert all(array.tobytes() == saved[1][key].tobytes() for key, array in saved[0].items())
    return rows


def stored() -> dict[str, Any]:
    nothing: dict[str, Any] = {"bits": [], "checkpoints": [], "memory": []}
    return nothing | (json.loads(STORED.read_text()) if STORED.exists() else {})


def keep(kind: str, rows: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    """Replace the rows of the same kind that have the same values of ``keys``."""
    known, fresh = stored(), {tuple(row[key] for key in keys) for row in rows}
    known[kind] = [row for row in known[kind] if tuple(row[key] for key in keys) not in fresh] + rows
    replace_text(STORED, json.dumps(known, indent=1) + "\n")


def bits_table(known: dict[str, Any]) -> str:
    """Bits per number, by game, algorithm and iteration."""
    lines = [
        "| game | algorithm | iterations | numbers | zeros | as stored | scales | zstd | codec |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    order = [*LOOKS]
    for row in sorted(known["bits"], key=lambda row: (order.index(row["game"]), row["algorithm"], row["iteration"])):
        name = "default" if row["algorithm"] == DEFAULT_SPOT_ALGORITHM else f"`{row['algorithm']}`"
        what = f"{row['numbers']:,} {row['field']}s"
        lines.append(
            f"| {row['game']} | {name} | {row['iteration']:,} | {what} | {100 * row['zeros']:.0f} % |"
            f" {row['plain']:.0f} | {row['scales']:.2f} | {row['zstd']:.2f} | {row['codec']:.2f} |"
        )
    return "\n".join(lines)


def checkpoints_table(known: dict[str, Any]) -> str:
    """Sizes and seconds of checkpoints, plain and coded."""
    lines = [
        "| spot | storage | plain | coded | write: plain | coded | ratio | processor: plain | coded"
        " | read: plain | coded |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    order = [*LOOKS]
    for row in sorted(known["checkpoints"], key=lambda row: (order.index(row["game"]), row["storage"])):
        sizes = " | ".join(f"{row[key] / 1e6:,.1f} MB" for key in ("bytes before", "bytes"))
        lines.append(
            f"| {row['game']} | {row['storage']} | {sizes} | {row['write before']:.2f} s | {row['write']:.2f} s |"
            f" {row['write'] / row['write before']:.2f} | {row['cpu before']:.2f} s | {row['cpu']:.2f} s |"
            f" {row['read before']:.2f} s | {row['read']:.2f} s |"
        )
    return "\n".join(lines)


def memory_table(known: dict[str, Any]) -> str:
    """Bytes per number and seconds per iteration, coded and as they are."""
    lines = [
        "| spot | storage | after iteration | MB | bytes per number | seconds per iteration | of the processor |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['game']} | {row['storage']} | {row['iteration']} | {row['bytes'] / 1e6:,.1f} |"
        f" {row['bytes'] / row['numbers']:.2f} | {row['seconds']:.3f} | {row['cpu']:.3f} |"
        for row in known["memory"]
    ]
    return "\n".join(lines)


def text(known: dict[str, Any]) -> str:
    """The tables of the page."""
    return (
        "Bits per number, of both players. The numbers have 16 bits (averages of leduc and leduc5: 64).\n\n"
        f"{bits_table(known)}\n\nCheckpoints after 10 iterations of the default:\n\n{checkpoints_table(known)}\n\n"
        f"Tables in memory, with the default:\n\n{memory_table(known)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("bits", "checkpoints", "memory"))
    parser.add_argument("games", nargs="+", choices=tuple(LOOKS))
    parser.add_argument("--last", type=int, default=1000, help="leave out later iterations")
    given = parser.parse_args()
    for name in given.games:
        if given.what == "bits":
            for algorithm in ALGORITHMS[: 1 if name in (*PLAIN, "F2") else 2]:
                keep("bits", bits(name, algorithm, given.last), ("game", "algorithm", "iteration", "field"))
        elif given.what == "memory":
            keep("memory", memory(name), ("game", "storage"))
        else:
            for storage in ("int16", "float32"):
                keep("checkpoints", [checkpoints(name, storage)], ("game", "storage"))


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
