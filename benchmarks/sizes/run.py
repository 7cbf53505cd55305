"""Bet sizes chosen by ``treeplex.holdem.sizes`` beside trying all of them, on the spots of ``spots.json``.

    python benchmarks/sizes/run.py river-1 --jobs 2        # one size, out of position, 500 rivers, beside all singles
    python benchmarks/sizes/run.py river-1-ip river-2 river-pairs turn-1 flop-1 --jobs 2
    python benchmarks/sizes/report.py

Every spot is a line of ``results/TASK.jsonl``, written when it is done; spots that are there are not done again. Both
sides solve the rich game themselves, to the same accuracy, one after the other in one process, with one thread but for
flops. Kernels should be on disk: let one spot run before.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from spots import spots

from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.holdem import sizes
from treeplex.poker.sizes.cases import Case
from treeplex.poker.sizes.problem import ACCURACY, Candidates, listed
from treeplex.poker.sizes.solves import Solve, StepWalk, narrowed

RESULTS = Path(__file__).parent / "results"
FIXED = ("33%,100%", "33%,150%", "20%,75%", "20%,100%", "33%,75%", "50%,150%", "50%,100%", "33%,75%,150%,a")


TOLD = ("menu", "loss_percent_of_pot", "ev_rich", "ev_kept", "better_percent_of_pot", "work", "seconds")


class Task(NamedTuple):
    """What is done on which spots."""

    street: str
    keep: int
    player: str = "oop"
    against: str = "singles"  # "singles", "pairs", "fixed", or "fine": the menu chosen, to a tenth of the accuracy
    count: int = 10**9  # spots
    accuracy: float = ACCURACY
    threads: int = 1


TASKS = {
    "river-1": Task("river", 1),
    "river-1-ip": Task("river", 1, "ip"),
    "river-2": Task("river", 2, against="fixed"),
    "river-pairs": Task("river", 2, against="pairs", count=50),
    "river-fine": Task("river", 1, against="fine", count=50),
    "turn-1": Task("turn", 1),
    "flop-1": Task("flop", 1, accuracy=0.2, threads=0),
}


def carried_out(steps):
    walk = StepWalk(steps)
    while walk.question is not None:
        walk.step(10**9)
    return walk.result


def exhaustive(spot, task: Task, chosen: list[str]) -> dict:
    """Every menu of the other side, each to the same accuracy."""
    began, player = time.perf_counter(), ("oop", "ip").index(task.player)
    bets, raises = listed(BETS, "bets", raises=False), listed(RAISES, "raises", raises=True)
    candidates = Candidates(player, (spot.street,), bets, raises)
    accuracy = task.accuracy / 10.0 if task.against == "fine" else task.accuracy
    width = accuracy * spot.pot / 100.0
    rich = carried_out(narrowed(Solve(candidates.spot(spot, {}), player, task.threads), width, ""))
    case = Case(spot, candidates, (spot.street, "bet"), rich, {})
    found = {}
    if task.against in ("fixed", "fine"):
        names = FIXED if task.against == "fixed" else [",".join(chosen)]
        menus = {name: tuple(bets.index(size) for size in name.split(",")) for name in names}
    else:
        counts = (1,) if task.against == "singles" else (1, 2)
        tried = [menu for count in counts for menu in combinations(case.distinct, count)]
        menus = {",".join(bets[k] for k in menu): menu for menu in tried}
    for name, menu in menus.items():
        solved = carried_out(case.solve(menu, accuracy))
        found[name] = [solved.low, solved.high]
    return {
        "rich": [rich.low, rich.high],
        "menus": found,
        "chips": case.chips,
        "work": rich.work + case.work,
        "rich_work": rich.work,
        "seconds": time.perf_counter() - began,
    }


def measured(job: tuple[str, int]) -> tuple[str, int, dict]:
    name, number = job
    task = TASKS[name]
    spot = spots(task.street)[number]
    ours = sizes(spot, keep=task.keep, player=task.player, accuracy=task.accuracy, threads=task.threads)
    summary = {key: ours.summary()[key] for key in TOLD}
    row = {"spot": number, "board": spot.board, "pot": spot.pot, "stack": spot.effective_stack, "ours": summary}
    return name, number, row | {"tried": exhaustive(spot, task, list(ours.menu))}


def warm() -> None:
    """Kernels are read from disk before anything is timed."""
    sizes(spots("river")[5], accuracy=5.0, gap=100.0, threads=1)


def rounded(thing):
    """Numbers to six digits."""
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [rounded(value) for value in thing]
    return float(f"{thing:.6g}") if isinstance(thing, float) else thing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+", choices=list(TASKS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=10**9, help="only so many spots")
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    jobs = []
    for name in options.tasks:
        path, task = RESULTS / f"{name}.jsonl", TASKS[name]
        lines = path.read_text().splitlines() if path.exists() else []
        done = {json.loads(line)["spot"] for line in lines if line.endswith("}")}
        if any(not line.endswith("}") for line in lines):  # cut off while it was written
            path.write_text("".join(f"{line}\n" for line in lines if line.endswith("}")))
        count = min(len(spots(task.street)), task.count, options.first)
        jobs += [(name, k) for k in range(count) if k not in done]
    with get_context("spawn").Pool(options.jobs, warm) as pool:
        for left, (name, _, row) in enumerate(pool.imap_unordered(measured, jobs)):
            with (RESULTS / f"{name}.jsonl").open("a") as file:
                file.write(json.dumps(rounded(row)) + "\n")
            if (left + 1) % 10 == 0 or left + 1 == len(jobs):
                print(f"{left + 1} of {len(jobs)}", flush=True)


if __name__ == "__main__":
    main()
