"""External sampling, treeplex, OpenSpiel and LiteEFG side by side: ``.venv/bin/python benchmarks/rivals/sampling.py``.

Also pure MCCFR, nodes per second, and two threads against one on a large game. Writes sampling.json and SAMPLING.md
next to this file. See ../README.md.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from run import DUELS, Worker, environment, machine, rotated, say, versions

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.samplers import mccfr_external, pure_mccfr

HERE = Path(__file__).resolve().parent
GAMES = DUELS[:4]
ROUNDS = 7
SPRINT = 0.4  # seconds per side and round
CHECKED = 20_000  # iterations after which NashConv is compared

LARGE = "kuhn_ext(cards=3,bets=20,raises=7)"
STRETCHES = 9  # of each number of threads, in turns
STRETCH = 0.7  # seconds


def duel(game: Any) -> dict[str, Any]:
    """NashConv of all sides after the same number of iterations, then seconds per iteration, round by round."""
    with ExitStack() as stack:
        workers = {side: stack.enter_context(Worker(side)) for side in ("treeplex", "openspiel", "liteefg")}
        say(f"{game.name}: loading")
        for side, worker in workers.items():
            worker.load(game=game.ours if side == "treeplex" else game.theirs)
        say(f"{game.name}: NashConv after {CHECKED:,} iterations")
        found = {}
        for side, worker in workers.items():
            worker.start(algorithm="external")
            worker.advance(iterations=CHECKED)
            found[side] = worker.nash_conv()
        nodes = {"external": workers["treeplex"].nodes() / CHECKED}
        workers["treeplex"].start(algorithm="pure")
        workers["treeplex"].advance(iterations=CHECKED)
        nodes["pure"] = workers["treeplex"].nodes() / CHECKED
        say(f"{game.name}: timing")
        rounds: dict[str, list[float]] = {side: [] for side in (*workers, "pure")}
        for number in range(ROUNDS):
            for side in rotated(number):
                workers[side].start(algorithm="external")
                rounds[side].append(workers[side].sprint(seconds=SPRINT))
            workers["treeplex"].start(algorithm="pure")
            rounds["pure"].append(workers["treeplex"].sprint(seconds=SPRINT))
    seconds = {side: min(times) for side, times in rounds.items()}
    return {"game": game.name, "nash_conv": found, "nodes": nodes, "seconds": seconds, "rounds": rounds}


def threads() -> dict[str, Any]:
    """Nodes per second of one stream and of two, each on its own thread, in turns: the fastest stretch of each counts.

    Two threads need two idle cores. On a busy machine the clock on the wall says how many the others left over, so
    nodes per second of processor time are taken, too: twice their ratio is the speed-up that idle cores would give.
    """
    game = tp.load(LARGE)
    report: dict[str, Any] = {"game": game.name}
    for name, make in (("external", mccfr_external), ("pure", pure_mccfr)):
        say(f"{LARGE}: threads, {name}")
        runs = {}
        for count in (1, 2):
            algorithm = make(streams=count)
            runs[count] = [algorithm, algorithm.advance(game, algorithm.start(game), 2000), []]
        for _ in range(STRETCHES):
            for run in runs.values():
                run[1], *paces = stretch(game, run[0], run[1])
                run[2].append(paces)
        wall, cpu = ({count: max(pace[k] for pace in run[2]) for count, run in runs.items()} for k in (0, 1))
        report[name] = {
            "nodes_per_second": {str(count): pace for count, pace in wall.items()},
            "nodes_per_processor_second": {str(count): pace for count, pace in cpu.items()},
            "speedup": wall[2] / wall[1],
            "speedup_on_idle_cores": 2.0 * cpu[2] / cpu[1],
        }
    return report


def stretch(game: tp.CompiledGame, algorithm: MonteCarlo, state: Any) -> tuple[Any, float, float]:
    began, spent, before = time.perf_counter(), time.process_time(), algorithm.work(game, state).nodes
    while time.perf_counter() - began < STRETCH:
        state = algorithm.advance(game, state, 3000)
    nodes = algorithm.work(game, state).nodes - before
    return state, nodes / (time.perf_counter() - began), nodes / (time.process_time() - spent)


def markdown(results: dict[str, Any]) -> str:
    about, load = results["machine"], results["load_average"]
    lines = [
        "# Monte Carlo CFR: treeplex, OpenSpiel and LiteEFG",
        "",
        "Written by `benchmarks/rivals/sampling.py`. Do not edit this page.",
        f"{results['date']}, {about['cpu']}, {about['cores']} cores, load {load[0]:.1f} to {load[1]:.1f},",
        ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + ".",
        "",
        "## External sampling: microseconds per iteration",
        "",
        "One thread each, the fastest stretch of all rounds. An iteration updates both players.",
        "",
        "| game | treeplex | OpenSpiel | LiteEFG | OpenSpiel / treeplex | LiteEFG / treeplex |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in results["games"]:
        ours, first, second = (1e6 * row["seconds"][side] for side in ("treeplex", "openspiel", "liteefg"))
        lines.append(
            f"| {row['game']} | {ours:.2f} | {first:.1f} | {second:.1f} | {first / ours:.1f} | {second / ours:.1f} |"
        )
    lines += [
        "",
        f"NashConv after {CHECKED:,} iterations, so that it is known to be the same kind of algorithm:",
        "",
        "| game | treeplex | OpenSpiel | LiteEFG |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in results["games"]:
        found = row["nash_conv"]
        lines.append(f"| {row['game']} | {found['treeplex']:.4f} | {found['openspiel']:.4f} | {found['liteefg']:.4f} |")
    lines += [
        "",
        "## Nodes per second, one thread",
        "",
        "| game | external: nodes per iteration | million nodes per second | pure: nodes | million nodes per second |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for row in results["games"]:
        nodes, seconds = row["nodes"], row["seconds"]
        lines.append(
            f"| {row['game']} | {nodes['external']:.0f} | {nodes['external'] / seconds['treeplex'] / 1e6:.0f}"
            f" | {nodes['pure']:.0f} | {nodes['pure'] / seconds['pure'] / 1e6:.0f} |"
        )
    lines += [
        "",
        f"## Threads: `{results['threads']['game']}`",
        "",
        "| algorithm | one thread, million nodes per second | two threads | speed-up | speed-up on idle cores |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name in ("external", "pure"):
        row = results["threads"][name]
        paces = row["nodes_per_second"]
        lines.append(
            f"| {name} | {paces['1'] / 1e6:.1f} | {paces['2'] / 1e6:.1f} | {row['speedup']:.2f}"
            f" | {row['speedup_on_idle_cores']:.2f} |"
        )
    lines += [
        "",
        "The last column is twice the ratio of nodes per second of processor time: what two threads gain when nobody",
        "else uses the cores. The one before it depends on the load above.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    environment()
    load = [os.getloadavg()[0]]
    results: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "games": [duel(game) for game in GAMES],
        "threads": threads(),
    }
    results["load_average"] = [*load, os.getloadavg()[0]]
    (HERE / "sampling.json").write_text(json.dumps(results, indent=1) + "\n")
    (HERE / "SAMPLING.md").write_text(markdown(results))
    say("done: sampling.json, SAMPLING.md")


if __name__ == "__main__":
    main()
