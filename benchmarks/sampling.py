"""Nodes per second of every sampler on one core, OpenSpiel beside it, and streams on a large game.

    .venv/bin/python benchmarks/sampling.py              # prints the tables, in about five minutes
    .venv/bin/python benchmarks/sampling.py --write      # and keeps them: SAMPLING.md, sampling.json
    .venv/bin/python benchmarks/sampling.py --streams 1 2 4 8 16 --write      # the table of streams anew

Every round runs the same iterations of each sampler, from a state that is kept for that, and some of OpenSpiel's C++
solver, in a process of its own, on its way after as many iterations; the sides take turns and the fastest stretch
counts, in processor time. An iteration updates both players. OpenSpiel needs the extra ``openspiel``; without it its
columns stay empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo, SamplingState
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.evaluation.exact import evaluate_strategies

HERE = Path(__file__).resolve().parent
GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=5,points_order=descending))"
GAMES = {  # ours: OpenSpiel's
    "leduc(suits=true)": "leduc_poker",
    "liars_dice(sides=4)": "liars_dice(dice_sides=4)",
    "goofspiel(cards=5)": GOOFSPIEL,
    "kuhn_ext(cards=3,bets=20,raises=7)": None,
}
PURE = ("pure-mccfr", "pure-mccfr(turns=simultaneous)")
ALGORITHMS = {  # ours: OpenSpiel's
    "mccfr-external": "ExternalSamplingMCCFRSolver",
    "mccfr-external(turns=simultaneous)": None,
    "mccfr-average": None,
    "mccfr-outcome": None,
    "mccfr-outcome(baseline=0)": "OutcomeSamplingMCCFRSolver",
    "mccfr-chance": None,
    "pure-mccfr": None,
    "pure-mccfr(turns=simultaneous)": None,
    "pure-cfr": None,
}
WARMUP = 5000  # iterations before anything is timed; fewer if they take longer than WARMUP_SECONDS
WARMUP_SECONDS = 6.0
ROUNDS = 40
STRETCH = 0.008  # seconds: short ones are undisturbed more often

LARGE = "kuhn_ext(cards=16,bets=20,raises=7)"
STREAMED = ("mccfr-external", "pure-mccfr")
STREAM_ITERATIONS = 40_000
STREAM_ROUNDS = 40


def openspiel(connection: Any, game: str, solver: str) -> None:
    """The other process: runs as many iterations as it is told, and answers with its processor time."""
    import pyspiel

    made = getattr(pyspiel, solver)(pyspiel.load_game(game), seed=1)
    while (count := connection.recv()) is not None:
        began = time.process_time()
        for _ in range(count):
            made.run_iteration()
        connection.send(time.process_time() - began)


class Rival:
    """OpenSpiel's solver of a game, ready to be timed."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        done, spent = 0, 0.0
        while done < WARMUP and spent < WARMUP_SECONDS:
            spent += self._run(100)
            done += 100
        self._count = max(1, round(STRETCH * done / spent))
        self.seconds = float("inf")

    def stretch(self) -> None:
        """Keep the seconds per iteration if it was the fastest stretch so far."""
        self.seconds = min(self.seconds, self._run(self._count) / self._count)

    def _run(self, count: int) -> float:
        self._connection.send(count)
        return self._connection.recv()


@contextmanager
def rival(game: str | None, solver: str | None) -> Generator[Rival | None]:
    """OpenSpiel in a process of its own, where it has both."""
    if game is None or solver is None or find_spec("pyspiel") is None:
        yield None
        return
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=openspiel, args=(there, game, solver))
    process.start()
    try:
        yield Rival(here)
    finally:
        here.send(None)
        process.join()


class Sampler:
    """An algorithm with the state from which every stretch begins."""

    def __init__(self, game: tp.CompiledGame, name: str) -> None:
        algorithm = build(name)
        assert isinstance(algorithm, MonteCarlo)
        self._game, self._algorithm = game, algorithm
        state, began = algorithm.advance(game, algorithm.start(game), 1), time.process_time()
        while state.iteration < WARMUP and time.process_time() - began < WARMUP_SECONDS:
            state = algorithm.advance(game, state, 50)
        self._state, self._count = state, 16
        while self.stretch()[0] < STRETCH:
            self._count *= 2
        seconds, nodes = self.stretch()
        self.seconds, self.nodes = seconds / self._count, nodes / self._count

    def stretch(self) -> tuple[float, int]:
        """Seconds and nodes of the iterations after the state that is kept."""
        copy = SamplingState(tuple(copied(stream) for stream in self._state.streams), self._state.iteration)
        before, began = self._algorithm.work(self._game, copy).nodes, time.process_time()
        after = self._algorithm.advance(self._game, copy, self._count)
        spent = time.process_time() - began
        self.seconds = min(getattr(self, "seconds", float("inf")), spent / self._count)
        return spent, self._algorithm.work(self._game, after).nodes - before


def copied(part: Any) -> Any:
    """Arrays that can be modified without harm to the old ones."""
    if isinstance(part, tuple):
        parts = [copied(each) for each in part]
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
    return part.copy()


def measured(name: str, theirs: str | None) -> list[dict[str, Any]]:
    """A row for every algorithm."""
    game, rows = tp.load(name), []
    pairs = [PURE] + [(each,) for each in ALGORITHMS if each not in PURE]
    for group in pairs:  # what is compared takes turns
        with rival(theirs, ALGORITHMS[group[0]]) as other:
            samplers = [Sampler(game, each) for each in group]
            for _ in range(ROUNDS):
                for sampler in samplers:
                    sampler.stretch()
                if other:
                    other.stretch()
        for each, sampler in zip(group, samplers, strict=True):
            row = {"game": name, "algorithm": each, "nodes": sampler.nodes, "seconds": sampler.seconds}
            rows.append(row | ({"openspiel_seconds": other.seconds} if other else {}))
    return sorted(rows, key=lambda row: list(ALGORITHMS).index(row["algorithm"]))


def streams(name: str, counts: list[int]) -> list[dict[str, Any]]:
    """Numbers of streams, each on a thread of its own, in turns: nodes per second, of all and of a processor."""
    game = tp.load(LARGE)
    sides: list[Any] = [build(f"{name}(streams={count})") for count in counts]
    half = STREAM_ITERATIONS // 2  # without timing: memory is touched for the first time
    states = [side.advance(game, side.start(game), half) for side in sides]
    paces = [[0.0, 0.0] for _ in counts]
    for _ in range(STREAM_ROUNDS):
        for k, side in enumerate(sides):
            before, began, spent = side.work(game, states[k]).nodes, time.perf_counter(), time.process_time()
            states[k] = side.advance(game, states[k], half // STREAM_ROUNDS)
            seconds = (time.perf_counter() - began, time.process_time() - spent)
            nodes = side.work(game, states[k]).nodes - before
            paces[k] = [max(pace, nodes / each) for pace, each in zip(paces[k], seconds, strict=True)]
    answers = [side.report(game, state, "average").arrays for side, state in zip(sides, states, strict=True)]
    if len(counts) > 1:
        single = sides[1].open(game, Execution(threads=1))
        again = single.report(game, single.advance(game, single.start(game), STREAM_ITERATIONS), "average").arrays
        if not all(np.array_equal(one, two) for one, two in zip(again, answers[1], strict=True)):
            raise RuntimeError(f"{name} with {counts[1]} streams gave another answer on one thread.")
    nash_conv = [evaluate_strategies(game, answer).nash_conv for answer in answers]
    return [
        {"algorithm": name, "streams": count, "nodes_per_second": pace, "nash_conv": gap}
        for count, pace, gap in zip(counts, paces, nash_conv, strict=True)
    ]


def tables(results: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {each}" for name, each in results["versions"].items())
    lines = [
        "# Samplers: nodes per second on one core, OpenSpiel beside them",
        "",
        f"{results['date']}, {results['cpu']}, {results['cores']} cores, load {results['load'][0]:.1f} to"
        f" {results['load'][1]:.1f}, {packages}.",
        "Printed by `benchmarks/sampling.py`. One thread, the fastest stretch, sides taking turns. An iteration",
        "updates both players. OpenSpiel's nodes per second: its iterations per second times our nodes per iteration.",
        "",
        "| game | algorithm | nodes per iteration | µs per iteration | ns per node | million nodes per second"
        " | OpenSpiel, µs per iteration | million nodes per second | OpenSpiel ÷ treeplex |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in results["rows"]:
        nodes, seconds, theirs = row["nodes"], row["seconds"], row.get("openspiel_seconds")
        other = f"{1e6 * theirs:.2f} | {nodes / theirs / 1e6:.2f} | {theirs / seconds:.0f}×" if theirs else "| |"
        lines.append(
            f"| `{row['game']}` | `{row['algorithm']}` | {nodes:,.1f} | {1e6 * seconds:.3f}"
            f" | {1e9 * seconds / nodes:.1f} | {nodes / seconds / 1e6:.0f} | {other} |"
        )
    lines += ["", "Pure MCCFR, ns per node with simultaneous updates over those with alternating ones:", ""]
    lines += ["| game | ratio |", "| --- | ---: |"]
    for game in dict.fromkeys(row["game"] for row in results["rows"]):
        one, two = (
            next(r["seconds"] / r["nodes"] for r in results["rows"] if (r["game"], r["algorithm"]) == (game, name))
            for name in PURE
        )
        lines.append(f"| `{game}` | {two / one:.2f} |")
    if results["streams"]:
        lines += [
            "",
            f"Streams on `{LARGE}`, each on a thread of its own, on {results['stream_cores']} cores; NashConv after"
            f" {STREAM_ITERATIONS:,} iterations of each.",
            "With one thread for all streams the answer was the same to the bit (checked for the second row).",
            "",
            "| algorithm | streams | million nodes per second | speed-up | of one processor | NashConv |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
    alone = {row["algorithm"]: row["nodes_per_second"][0] for row in results["streams"] if row["streams"] == 1}
    for row in results["streams"]:
        pace, core = row["nodes_per_second"]
        lines.append(
            f"| `{row['algorithm']}` | {row['streams']} | {pace / 1e6:.1f} | {pace / alone[row['algorithm']]:.2f}"
            f" | {core / 1e6:.1f} | {row['nash_conv']:.3f} |"
        )
    return "\n".join(lines) + "\n"


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    models = [line for line in cpuinfo.read_text().splitlines() if "model name" in line] if cpuinfo.exists() else []
    return models[0].partition(":")[2].strip() if models else platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the tables in SAMPLING.md and sampling.json")
    parser.add_argument("--only", default="", help="games whose name has this in it; no streams")
    parser.add_argument("--streams", nargs="*", type=int, help="streams alone, so many side by side; the rest is kept")
    options = parser.parse_args()
    if options.streams:
        results = json.loads((HERE / "sampling.json").read_text())
        results["streams"] = [row for name in STREAMED for row in streams(name, options.streams)]
        results["stream_cores"] = os.cpu_count()
        kept(results, options.write)
        return
    load = [os.getloadavg()[0]]
    packages = ("treeplex", "numba", "open_spiel") if find_spec("pyspiel") else ("treeplex", "numba")
    results: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in packages},
        "rows": [row for ours, theirs in GAMES.items() if options.only in ours for row in measured(ours, theirs)],
        "streams": [] if options.only else [row for name in STREAMED for row in streams(name, [1, 2])],
        "stream_cores": os.cpu_count(),
    }
    results["load"] = [*load, os.getloadavg()[0]]
    kept(results, options.write)


def kept(results: dict[str, Any], write: bool) -> None:
    """Print the tables, and keep them if asked for."""
    text = tables(results)
    print(text)
    if write:
        (HERE / "sampling.json").write_text(json.dumps(results, indent=1) + "\n")
        (HERE / "SAMPLING.md").write_text(text)


if __name__ == "__main__":
    main()
