"""Regret-based against partial pruning and against the array engine, in nodes and seconds, on games of growing size.

Traversals take simultaneous updates, as in the paper.

For every game and family: run partial pruning for some seconds, then the others until they are as good (best so far).
All of one game in one process, one after the other; games side by side with --jobs.

Run: .venv/bin/python benchmarks/pruning.py --seconds 20
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

GAMES = (
    "leduc",
    "leduc_ext(3,3,2)",
    "leduc5",
    "leduc_ext(9,5,2)",
    "kuhn_ext(10,8,4)",
    "kuhn_ext(3,12,5)",
    "kuhn_ext(3,20,7)",
)
RIVALS = {
    "cfr": ("cfr-rbp(turns=simultaneous)", "cfr(turns=simultaneous)", "cfr"),
    "cfr+": ("cfr+-rbp(turns=simultaneous)", "cfr+(turns=simultaneous)", "cfr+"),
}


def bytes_of(state: Any) -> int:
    """Of all arrays of a state."""
    if isinstance(state, tuple):
        return sum(bytes_of(part) for part in state)
    return int(getattr(state, "nbytes", 0))


def measure(name: str, seconds: float) -> list[dict[str, object]]:
    import treeplex as tp
    from treeplex.algorithms.registry import build
    from treeplex.papers.curves import run_curve
    from treeplex.papers.curves import seconds as solving
    from treeplex.runs import Limits

    game = tp.load(name)
    for algorithms in RIVALS.values():
        for algorithm in (*algorithms, algorithms[0].replace("rbp", "partial")):
            tp.solve("kuhn", algorithm, iterations=3)  # compiles
            tp.solve(game, algorithm, iterations=1)
    out: list[dict[str, object]] = []
    for rivals in RIVALS.values():
        partial = rivals[0].replace("rbp", "partial")
        base = run_curve(game, "", partial, Limits(seconds=seconds), lambda line: None)
        goal = base.best_so_far()[-1]
        for algorithm in (partial, *rivals):
            curve = base
            if algorithm in rivals:
                limits = Limits(nash_conv=goal, seconds=4.0 * seconds)
                curve = run_curve(game, "", algorithm, limits, lambda line: None)
            last = curve.rows[-1]
            out.append(
                {
                    "game": name,
                    "nodes": game.nodes,
                    "algorithm": algorithm,
                    "nash_conv": goal,
                    "reached": curve.best_so_far()[-1] <= goal,
                    "iterations": last.iteration,
                    "nodes_touched": last.nodes_touched,
                    "seconds": solving(last),
                    "state_bytes": bytes_of(build(algorithm).start(game)),
                    "nodes_ratio": base.rows[-1].nodes_touched / last.nodes_touched,
                    "seconds_ratio": solving(base.rows[-1]) / solving(last),
                }
            )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--game", help="only this one, rows as JSON on stdout")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if options.game:
        print(json.dumps(measure(options.game, options.seconds)))
        return
    rows: list[dict[str, object]] = []
    for begin in range(0, len(GAMES), options.jobs):
        some = [
            subprocess.Popen(
                [sys.executable, __file__, "--seconds", str(options.seconds), "--game", game], stdout=subprocess.PIPE
            )
            for game in GAMES[begin : begin + options.jobs]
        ]
        for process in some:
            rows += json.loads(process.communicate()[0])
    options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("| game | nodes | algorithm | NashConv | nodes ratio | seconds | seconds ratio | state MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        mark = "" if row["reached"] else " (not reached)"
        print(
            f"| {row['game']} | {row['nodes']:,} | {row['algorithm']}{mark} | {row['nash_conv']:.2g} |"
            f" {row['nodes_ratio']:.2f} | {row['seconds']:.1f} | {row['seconds_ratio']:.2f} |"
            f" {row['state_bytes'] / 1e6:.2f} |"
        )


if __name__ == "__main__":
    main()
