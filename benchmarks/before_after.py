"""Speed of two source trees of treeplex, taking turns in one run: is a change of structure free?

    .venv/bin/python benchmarks/before_after.py OLD/src src --rounds 9
    .venv/bin/python benchmarks/before_after.py OLD/src src --threads 16 --clock wall --only hold
    .venv/bin/python benchmarks/before_after.py OLD/src src --backend cuda --clock wall
    .venv/bin/python benchmarks/before_after.py OLD/src src --first        # seconds of first commands

Each tree has a process of its own that loads everything first. A round is one stretch of each task in each process, in
turn, of equally many iterations; the figure is the quotient of the least times, new / old, beside the same quotient of
the old tree against itself (two processes of it run), which says what the machine's noise is. Times are
processor times of all threads, or with ``--clock wall`` those of the clock, for machines with idle cores whose count of
processor time is coarse. ``--first`` runs commands of the command line in turns, each with an empty kernel cache.
The trees may be of 0.2 or newer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKER = r"""
import json, sys, time
import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build

TASKS, CLOCK, HOW = json.loads(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
clock = time.perf_counter if CLOCK == "wall" else time.process_time
ready = {}
for name, task in TASKS.items():
    game, algorithm = tp.load(task.get("game") or task["spot"]), build(task["algorithm"])
    execution = Execution(storage=task.get("storage"), **HOW)
    solver = algorithm.open(game, execution) if hasattr(algorithm, "open") else algorithm.prepared(game, execution)
    state = solver.advance(game, solver.start(game), 2)
    ready[name] = [game, solver, state, 1]
    while True:  # a stretch of about 30 ms
        began = clock()
        ready[name][2] = solver.advance(game, ready[name][2], ready[name][3])
        took = clock() - began
        if took > 0.03 or ready[name][3] > 10**6: break
        ready[name][3] *= 2
print(json.dumps({name: entry[3] for name, entry in ready.items()}), flush=True)
for line in sys.stdin:
    name, count = json.loads(line)
    game, solver, state, _ = ready[name]
    best = float("inf")
    for _ in range(3):
        state = solver.advance(game, solver.start(game), 2) if "spot" not in TASKS[name] else state
        began = clock()
        state = solver.advance(game, state, count)
        best = min(best, (clock() - began) / count)
    ready[name][2] = state
    print(best, flush=True)
"""

ARRAYS = {
    f"{algorithm} {game}": {"game": game, "algorithm": algorithm}
    for algorithm, game in (
        ("cfr+", "kuhn"),
        ("cfr+", "leduc"),
        ("cfr+", "leduc5"),
        ("cfr", "leduc5"),
        ("cfr+", "liars_dice"),
        ("cfr+", "goofspiel(cards=5)"),
        ("cfr+", "one_card_poker(deck=1000)"),
        ("pcfr+", "leduc5"),
        ("dcfr", "leduc5"),
        ("hedge", "kuhn"),
        ("hedge", "leduc5"),
        ("hedge-dt(turns=simultaneous)", "leduc5"),
        ("cfr-br", "leduc"),
        ("fp", "leduc"),
        ("egt", "leduc5"),
        ("egt-dt", "leduc5"),
        ("mirror-prox", "leduc5"),
        ("cfr-partial(turns=simultaneous)", "leduc5"),
        ("cfr-rbp(turns=simultaneous)", "leduc5"),
        ("cfr+-rbp(turns=simultaneous)", "leduc5"),
        ("hedge-dt-rbp(turns=simultaneous)", "leduc5"),
        ("mccfr-external", "leduc"),
        ("mccfr-outcome", "leduc"),
        ("pure-mccfr", "liars_dice"),
        ("mccfr-chance", "leduc"),
    )
}
SPOTS = {
    f"hold'em {spot} {storage}": {
        "spot": f"tests/holdem/spots.json#{spot}",
        "algorithm": "dcfr(gamma=4)",
        "storage": storage,
    }
    for spot in ("R", "TB")
    for storage in ("float32", "int16")
}


ON_A_GPU = {
    **{f"cfr+ {game}": {"game": game, "algorithm": "cfr+"} for game in ("leduc", "leduc5", "liars_dice")},
    **{
        f"hold'em {spot} {storage}": {
            "spot": f"tests/holdem/spots.json#{spot}",
            "algorithm": "dcfr(gamma=4)",
            "storage": storage,
        }
        for spot in ("R", "T", "F1")
        for storage in ("float32", "int16")
    },
}
FIRST = {
    "solve leduc": ["solve", "leduc", "--algorithm", "cfr+", "--nash-conv", "1e-3", "--no-save"],
    "a river": ["holdem", "solve", "tests/holdem/spots.json#R", "--iterations", "20", "--no-save"],
}
FIRST_ON_A_GPU = {
    "a flop on a GPU": ["holdem", "solve", "tests/holdem/spots.json#F1", "--iterations", "20", "--no-save"],
}


def path_of(tree: str) -> str:
    """``PYTHONPATH`` with a tree before what is there."""
    return os.pathsep.join([str(Path(tree).resolve()), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])


def first(trees: tuple[str, str], rounds: int, backend: str) -> None:
    """Seconds of commands that find no compiled kernel: the least of some rounds of each tree."""
    commands = FIRST if backend == "cpu" else FIRST_ON_A_GPU
    for name, arguments in commands.items():
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for side, tree in enumerate(trees):
                with tempfile.TemporaryDirectory() as cache:
                    environment = os.environ | {"PYTHONPATH": path_of(tree), "NUMBA_CACHE_DIR": cache}
                    command = [sys.executable, "-m", "treeplex", *arguments, "--backend", backend]
                    began = time.perf_counter()
                    subprocess.run(command, env=environment, check=True, capture_output=True)
                    best[side] = min(best[side], time.perf_counter() - began)
        print(f"{name:42} {best[0]:9.2f} s {best[1]:9.2f} s {best[1] / best[0]:8.3f}", flush=True)


class Side:
    """One process with one tree."""

    def __init__(self, tree: str, tasks: str, clock: str, how: dict[str, int | str]) -> None:
        environment = os.environ | {"PYTHONPATH": path_of(tree)}
        command = [sys.executable, "-c", WORKER, tasks, clock, json.dumps(how)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    def counts(self) -> dict[str, int]:
        """How many iterations of each task make a stretch, once everything is loaded."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a side did not start")
        return json.loads(line)

    def time(self, task: str, count: int) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([task, count]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--add", nargs="+", default=[], metavar="ALGORITHM@GAME", help="more tasks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--first", action="store_true", help="time first commands instead")
    given = parser.parse_args()
    if given.first:
        first((given.old, given.new), given.rounds, given.backend)
        return
    every = ON_A_GPU if given.backend == "cuda" else ARRAYS | SPOTS
    tasks = {name: task for name, task in every.items() if given.only in name}
    for algorithm, game in (text.split("@") for text in given.add):
        tasks[f"{algorithm} {game}"] = {"game": game, "algorithm": algorithm}
    how = {"threads": given.threads, "backend": given.backend}
    sides = [Side(tree, json.dumps(tasks), given.clock, how) for tree in (given.old, given.old, given.new)]
    counts, *_ = [side.counts() for side in sides]  # the same for all: iterations of one run may differ in cost
    print(f"{'':42} {'old':>11} {'new':>11} {'new/old':>8} {'old/old':>11}")
    worst = 0.0
    for task in tasks:
        rounds = []
        for number in range(given.rounds):
            order = [0, 2, 1] if number % 2 else [1, 2, 0]
            times = {side: sides[side].time(task, counts[task]) for side in order}
            rounds.append([times[side] for side in range(3)])
        old, again, new = (min(row[k] for row in rounds) for k in range(3))
        quotient, noise = new / min(old, again), max(old, again) / min(old, again)
        worst = max(worst, quotient)
        old = min(old, again)
        print(f"{task:42} {old * 1e6:9.2f}us {new * 1e6:9.2f}us {quotient:8.3f} {noise:11.3f}", flush=True)
    print(f"slowest quotient {worst:.3f}")


if __name__ == "__main__":
    main()
