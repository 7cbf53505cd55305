"""What compiling, exact solving and evaluating cost: seconds (best of three processes) and peak memory.

Run: .venv/bin/python benchmarks/foundation.py
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SIZES = ("kuhn_ext(3,20,4)", "kuhn_ext(3,20,5)", "kuhn_ext(3,20,6)", "kuhn_ext(3,20,7)")
TASKS = (
    *(f"compile {game}" for game in ("leduc5", "liars_dice", *SIZES)),
    "walk liars_dice from plain Python",
    "lp liars_dice",
    "lp goofspiel(cards=5)",
    "nash_conv leduc5",
)


def compile_everything(name: str) -> dict[str, object]:
    """The treeplexes, the sparse matrix and the history tree."""
    import treeplex as tp

    tp.load("kuhn").summary()
    began = time.perf_counter()
    game = tp.load(name)
    assert game.tree.nodes == game.nodes
    assert game.payoffs.entries > 0
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "nodes": game.nodes, "us_per_node": 1e6 * seconds / game.nodes}


def walk_plain() -> dict[str, object]:
    from plain_liars_dice import PlainLiarsDice

    import treeplex as tp

    tp.load("kuhn")
    began = time.perf_counter()
    game = tp.load(PlainLiarsDice())
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "nodes": game.nodes, "us_per_node": 1e6 * seconds / game.nodes}


def linear_program(name: str) -> dict[str, object]:
    """Compile and solve."""
    import treeplex as tp

    tp.solve("kuhn", "lp")
    began = time.perf_counter()
    solution = tp.solve(name, "lp")
    return {"seconds": time.perf_counter() - began, "value": solution.value, "nash_conv": solution.nash_conv}


def nash_conv(name: str) -> dict[str, object]:
    """Once warm."""
    import treeplex as tp

    game = tp.load(name)
    policy = tp.Policy.uniform(game)
    times = []
    for _ in range(50):
        began = time.perf_counter()
        tp.evaluate(game, policy)
        times.append(time.perf_counter() - began)
    return {"seconds": min(times)}


def run(task: str) -> dict[str, object]:
    kind, _, name = task.partition(" ")
    work: dict[str, Callable[[], dict[str, object]]] = {
        "compile": lambda: compile_everything(name),
        "walk": walk_plain,
        "lp": lambda: linear_program(name),
        "nash_conv": lambda: nash_conv(name),
    }
    found = work[kind]()
    return {"task": task, **found, "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def main() -> None:
    rows = []
    for task in TASKS:
        tries = [
            json.loads(
                subprocess.run([sys.executable, __file__, task], capture_output=True, text=True, check=True).stdout
            )
            for _ in range(3)
        ]
        rows.append(min(tries, key=lambda row: row["seconds"]))
        print(json.dumps(rows[-1]))
    Path(__file__).with_name("foundation.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run(sys.argv[1])))
    else:
        main()
