"""What overhead and simulation share: spots, solvers on one machine and over workers, and seconds per iteration."""

from __future__ import annotations

import json
import os
import statistics
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.cluster.shards import sharding
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.errors import Note
from treeplex.games.holdem.spot import make_spot
from treeplex.runs.cut import cut
from treeplex.runs.requests import solving

SPOTS = Path(__file__).parents[2] / "tests/holdem/spots.json"
ALGORITHM = "cfr+"

Advance = Callable[[int], None]


def game_of(name: str) -> HoldemGame:
    return load_spot(make_spot(json.loads(SPOTS.read_text(encoding="utf-8"))["spots"][name]))


@contextmanager
def started(cpus: int, niceness: int = 0) -> Generator[Any]:
    """A Ray cluster of one node on this machine, attached to.

    Its workers have the priority of this process: Ray would give them niceness 15, with which they wait for whatever
    else runs on their cores, while threads here do not.
    """
    os.environ["RAY_worker_niceness"] = str(niceness)  # noqa: SIM112 - Ray spells it so
    ray.init("local", num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield ray
    finally:
        ray.shutdown()


def here(game: HoldemGame, threads: int) -> Advance:
    """One process."""
    solver: Any = build(ALGORITHM).open(game, Execution("cpu", "float32", threads))
    states = [solver.start(game)]

    def advance(iterations: int) -> None:
        states[0] = solver.advance(game, states[0], iterations)

    return advance


@contextmanager
def over(module: Any, game: HoldemGame, workers: int) -> Generator[tuple[Any, Advance]]:
    """Workers of one thread each: what carries the run out, and how it is advanced."""
    warnings.simplefilter("ignore", Note)
    solver = build(ALGORITHM).open(game, Execution("cpu", "float32", 1))
    request = solving(game, ALGORITHM, storage="float32", threads=1)
    with sharding(module, workers, 1, None) as how:
        made = cut(game, solver, request, how, None)
        states = [made.start(game)]

        def advance(iterations: int) -> None:
            states[0] = made.advance(game, states[0], iterations)

        yield made, advance


def seconds(advance: Advance, iterations: int) -> float:
    """Of an iteration."""
    began = time.perf_counter()
    advance(iterations)
    return (time.perf_counter() - began) / iterations


def in_turn(ways: dict[str, Advance], iterations: int, repeats: int) -> dict[str, list[float]]:
    """Seconds per iteration of each way, one after the other in every round, so that other work hits all alike."""
    for advance in ways.values():
        advance(2)  # kernels compiled, memory touched
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, advance in ways.items():
            found[name].append(seconds(advance, iterations))
    return found


def processor_seconds(process: int) -> float:
    """Spent by a process so far, on Linux: what it computes, without what it waits for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median(numbers: list[float]) -> float:
    return statistics.median(numbers)


def least(numbers: list[float]) -> float:
    """What it takes when nothing else is in the way."""
    return min(numbers)
