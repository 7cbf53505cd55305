"""From which size on is a GPU faster than one core, and than all cores? CFR+ in float64, and hold'em in float32.

    python benchmarks/gpu/break_even.py [--out FOLDER]

Milliseconds per iteration, medians, compilation apart, beside the numbers that an iteration reads (``sweep`` for games,
``HoldemCFR.cost`` for spots: what ``engines.PAYS_FROM`` is compared with). Prints a table and the sizes at which the
GPU begins to win and stays ahead, and keeps break_even.json; with matplotlib also break_even.png.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from holdem import OWN, spot_named
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.algorithms.tabular import sweep
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.compile.source import compiled
from treeplex.holdem import load_spot

GAMES = (
    *("kuhn", "leduc", "leduc(suits=true)", "goofspiel(cards=4)", "goofspiel(cards=5)", "liars_dice(sides=4)"),
    *(f"kuhn_ext(cards=3,bets={bets},raises=7)" for bets in (7, 9, 11, 13, 16, 20)),
    *("leduc5", "liars_dice"),
)
SPOTS = ("R", "TB", "T", "F1", *OWN)
LONGEST = 3.0  # seconds of a measurement


def pace(advance: Callable[[int], Any]) -> float:
    """Milliseconds per iteration: the median of five stretches."""
    advance(2)
    began = time.perf_counter()
    advance(8)
    count = max(min(int(0.1 * LONGEST * 8 / (time.perf_counter() - began)), 2000), 1)
    found = []
    for _ in range(5):
        began = time.perf_counter()
        advance(count)
        found.append((time.perf_counter() - began) / count * 1e3)
    return statistics.median(found)


class Advancing:
    """One algorithm on one game, as a run carries it out."""

    def __init__(self, algorithm: str, game: Any, execution: Execution) -> None:
        self.game, self.solver = game, build(algorithm).open(game, execution)
        self.state = self.solver.start(game)

    def __call__(self, count: int) -> None:
        self.state = self.solver.advance(self.game, self.state, count)


def measured(name: str, file: str, cores: int) -> dict[str, Any]:
    """A row of the table."""
    is_spot = name in SPOTS
    game: Any = load_spot(spot_named(name, file)) if is_spot else compiled(name)
    algorithm, storage = (DEFAULT_SPOT_ALGORITHM, "float32") if is_spot else ("cfr+", "float64")
    row: dict[str, Any] = {"name": name, "engine": "boards" if is_spot else "sequence"}
    ways = {
        "cuda": Execution("cuda", storage),
        "one": Execution("cpu", storage, 1),
        "all": Execution("cpu", storage, 0),
    }
    for way, execution in ways.items():
        advancing = Advancing(algorithm, game, execution)
        if way == "one":
            row["numbers"] = advancing.solver.cost(game).iteration if is_spot else sweep(game)
        row[way] = pace(advancing)
        del advancing
    row["cores"] = cores
    return row


def wins_from(rows: list[dict[str, Any]], rival: str) -> float | None:
    """Numbers from which on the GPU is faster in every row; None if it is nowhere."""
    found = None
    for row in sorted(rows, key=lambda row: -row["numbers"]):
        if row["cuda"] > row[rival]:
            break
        found = row["numbers"]
    return found


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for axis, (engine, title) in zip(
        axes, (("sequence", "games, CFR+, float64"), ("boards", "hold'em spots, float32")), strict=True
    ):
        own = sorted((row for row in rows if row["engine"] == engine), key=lambda row: row["numbers"])
        for way, label in (("one", "1 core"), ("all", f"{own[0]['cores']} cores" if own else ""), ("cuda", "GPU")):
            axis.loglog([row["numbers"] for row in own], [row[way] for row in own], "o-", label=label, markersize=4)
        axis.set(title=title, xlabel="numbers read per iteration", ylabel="milliseconds per iteration")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="tests/holdem/spots.json")
    parser.add_argument("--names", nargs="*", default=[*GAMES, *SPOTS[:5]])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    given = parser.parse_args()
    cores, rows = len(os.sched_getaffinity(0)), []
    print(f"milliseconds per iteration; {cores} cores")
    for name in given.names:
        rows.append(row := measured(name, given.file, cores))
        print(f"{name:36s} {row['numbers']:14,.0f}  one {row['one']:9.3f}  all {row['all']:9.3f}"
              f"  GPU {row['cuda']:9.3f}", flush=True)  # fmt: skip
        (given.out / "break_even.json").write_text(json.dumps(rows, indent=1) + "\n")
    for engine in ("sequence", "boards"):
        own = [row for row in rows if row["engine"] == engine]
        print(engine, {rival: wins_from(own, rival) for rival in ("one", "all")})
    plot(rows, given.out / "break_even.png")


if __name__ == "__main__":
    main()
