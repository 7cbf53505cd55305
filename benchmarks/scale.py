"""Time per CFR+ iteration and stored sequence, from games that fit into the cache to Rhode Island hold'em.

Beside it what compiling takes per sequence: seconds, memory at the peak and memory kept. A sequence is one action of
one infoset of one player; an iteration updates all of both players. Every game is measured in a process of its own,
best of many rounds, in processor time, so that waiting for a busy core counts for nothing; only the column of all
threads is wall clock. The pace of the machine is measured beside it, in turns: a triad a = b + s * c over as many bytes
as the arrays of an iteration hold.

    .venv/bin/python benchmarks/scale.py            # all: table, scale.json, docs/images/scale.png
    .venv/bin/python benchmarks/scale.py leduc5     # some: their rows

With ``--wall`` all times are those of the clock, for machines with idle cores whose count of processor time is coarse.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import treeplex as tp
from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.compile.game import operator_bytes
from treeplex.plots.plot import drawing

FAMILIES = {
    "Leduc, two to five bet sizes": ["leduc", "leduc5", "leduc_ext(13,3,3)", "leduc_ext(13,5,4)"],
    "liar's dice": [f"liars_dice(sides={sides})" for sides in (4, 5, 6, 7, 8)],
    "Kuhn poker, more bets": ["kuhn_ext(3,8,7)", "kuhn_ext(3,11,7)", "kuhn_ext(3,15,7)", "kuhn_ext(3,20,7)"],
    "Rhode Island hold'em": [f"rhode_island(ranks={ranks})" for ranks in (2, 3, 4, 6, 8, 10)] + ["rhode_island"],
}
WALL = "--wall" in sys.argv
ROUNDS = 9
SHORTEST = 0.05  # seconds of a round
OUT = Path(__file__).with_name("scale.json")
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "scale.png"


@numba.njit
def triad(a: Any, b: Any, c: Any) -> None:
    """A pass over three arrays."""
    for i in range(len(a)):
        a[i] = b[i] + 3.0 * c[i]


def peak() -> int:
    """Bytes this process has held at most."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(name: str) -> dict[str, Any]:
    """The row of a game, in this process."""
    tp.load("kuhn")
    own = time.perf_counter if WALL else time.process_time
    before, began = peak(), own()
    game = tp.load(name)
    game.operator  # noqa: B018 - small games build theirs when first asked
    seconds, taken = own() - began, peak() - before
    sequences = sum(treeplex.sequences for treeplex in game.treeplexes)
    touched = operator_bytes(game.operator) + 40 * sequences
    a, b, c = (np.ones(max(touched // 24, 1000)) for _ in range(3))
    triad(a, b, c)
    row: dict[str, Any] = {
        "game": name,
        "sequences": sequences,
        "operator": type(game.operator).__name__,
        "touched_bytes": touched,
        "compile_ns_per_sequence": 1e9 * seconds / sequences,
        "compile_seconds": seconds,
        "peak_bytes_per_sequence": taken / sequences,
        "kept_bytes_per_sequence": game.bytes / sequences,
        "learning_bytes_per_sequence": 40,  # regret, average, strategy, plan, values
    }
    for label, threads, clock in (("one", 1, own), ("all", 0, time.perf_counter)):
        algorithm = cfr_plus().open(game, Execution(threads=threads))
        state = algorithm.advance(game, algorithm.start(game), 2)
        began = clock()
        state = algorithm.advance(game, state, 1)
        count = max(1, int(SHORTEST / max(clock() - began, 1e-6)))
        repeat = max(1, int(SHORTEST * 5e9 / (24 * len(a))))
        times: list[float] = []
        passes: list[float] = []
        for _ in range(ROUNDS):
            began = clock()
            state = algorithm.advance(game, state, count)
            times.append((clock() - began) / count)
            began = clock()
            for _ in range(repeat):
                triad(a, b, c)
            passes.append((clock() - began) / repeat)
        row[f"{label}_ns"] = 1e9 * min(times) / sequences
        row[f"{label}_triad_ns_per_byte"] = 1e9 * min(passes) / (24 * len(a))
    return row


def shown(row: dict[str, Any]) -> str:
    """A line of the table."""
    numbers = [f"{row[key]:8.1f}" for key in ("one_ns", "all_ns", "compile_ns_per_sequence")]
    memory = [f"{row[key]:7.0f}" for key in ("peak_bytes_per_sequence", "kept_bytes_per_sequence")]
    return f"{row['game']:26}{row['sequences']:>12,}{row['touched_bytes'] / 2**20:9.1f} " + " ".join(numbers + memory)


HEAD = f"{'game':26}{'sequences':>12}{'MiB':>9} {'1 thread':>8} {'all':>8} {'compile':>8} {'peak':>7} {'kept':>7}"


def plot(rows: list[dict[str, Any]]) -> None:
    """Time per iteration and sequence over the size, and what compiling takes."""
    found = {row["game"]: row for row in rows}
    titles = (
        "ns per iteration and sequence, one thread",
        "compiling: ns per sequence",
        "compiling: bytes per sequence",
    )
    keys = ("one_ns", "compile_ns_per_sequence", "peak_bytes_per_sequence")
    with drawing(IMAGE, (12.0, 4.0), "From the cache to Rhode Island hold'em", 1, 3) as panels:
        for axes, title, key in zip(panels, titles, keys, strict=True):
            for family, names in FAMILIES.items():
                points = [found[name] for name in names if name in found and (key == keys[0] or large(found[name]))]
                axes.plot([p["sequences"] for p in points], [p[key] for p in points], "o-", label=family, markersize=4)
            axes.set_xscale("log")
            axes.set_xlabel("sequences of both players")
            axes.set_title(title, fontsize=10)
            axes.set_ylim(bottom=0.0)
        panels[0].legend(fontsize=8)


def large(row: dict[str, Any]) -> bool:
    """Large enough that compiling is not all overhead, and memory more than the system rounds it to."""
    return row["sequences"] >= 50_000


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
        sys.exit()
    chosen = [word for word in sys.argv[1:] if word != "--wall"]
    wanted = chosen or [name for names in FAMILIES.values() for name in names]
    measured = []
    print(HEAD)
    for game_name in wanted:
        command = [sys.executable, __file__, "--one", game_name, *["--wall"] * WALL]
        measured.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(shown(measured[-1]), flush=True)
    if not chosen:
        OUT.write_text(json.dumps(measured, indent=1) + "\n")
        plot(measured)
