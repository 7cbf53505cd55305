"""Estimate memory, threads and seconds of jobs before any of them runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from treeplex.engines.open import CPU
from treeplex.problems.loading import load
from treeplex.runs.batch.jobs import BatchJob, errors_at
from treeplex.runs.requests import solving
from treeplex.runs.solve import checked

PROCESS: Final = 400 * 2**20
"""Bytes of a process before it loads a game: Python, Numba, Arrow."""

COPIES: Final = 24  # arrays of 8 bytes per sequence that an algorithm and its evaluation use
SPARE: Final = 1.15  # factor for working memory of threads and tables of hands of a hold'em spot
NANOSECOND: Final = 1e-9  # per number read: see ``Cost``


class Need(NamedTuple):
    """Estimated resources of one job."""

    job: BatchJob
    name: str  # of the game
    bytes: int
    seconds: float | None  # with one thread; None: unknown
    shares: bool  # whether several threads can work on it


class Task(NamedTuple):
    """A job with the memory and threads assigned to it."""

    job: BatchJob
    bytes: int
    threads: int


class Machine(NamedTuple):
    """Processors and memory of a machine."""

    cores: int
    memory: float  # bytes


def needs(jobs: Sequence[BatchJob], watch: Callable[[int], None] | None = None) -> list[Need]:
    """Estimate each job, or raise if it cannot be solved; adjacent jobs on one game load it once."""
    loaded: dict[str, Any] = {}
    all_needs: list[Need] = []
    for number, job in enumerate(jobs):
        with errors_at(f"job {job.id!r}"):
            all_needs.append(_of_spot(job) if "spot" in job.fields else _of_game(job, loaded))
        if watch is not None:
            watch(number + 1)
    return all_needs


def _of_spot(job: BatchJob) -> Need:
    from treeplex.engines.boards.game import estimate, split_spot  # noqa: PLC0415
    from treeplex.engines.boards.solver import ITERATIONS, seconds_per_iteration  # noqa: PLC0415 - kernels take time
    from treeplex.updates.storage import STORAGES  # noqa: PLC0415

    spot, storage = job.spot, job.fields.get("storage") or "float32"
    assert spot is not None  # noqa: S101 - a job with this field has one
    size = estimate(spot, split_spot(spot), storage)
    numbers = size / (2.0 * STORAGES[storage].bytes)
    each, limits = seconds_per_iteration(numbers), job.limits
    percent = 0.5 if limits.nash_conv is None else 50.0 * limits.nash_conv / spot.pot
    to_target = _between(ITERATIONS, percent) if job.targeted else math.inf
    iterations = min(to_target, math.inf if limits.iterations is None else limits.iterations)
    seconds = min(iterations * each, math.inf if limits.seconds is None else limits.seconds)
    return Need(job, spot.board, PROCESS + int(SPARE * size), seconds if math.isfinite(seconds) else None, True)


def _between(known: dict[str, int], percent: float) -> float:
    """Return the iterations to an exploitability, along the power law through two known points."""
    (a, first), (b, second) = ((float(word.rstrip("%pot")), count) for word, count in known.items())
    slope = math.log(second / first) / math.log(a / b)
    return first * (a / max(percent, 1e-6)) ** slope


def _of_game(job: BatchJob, loaded: dict[str, Any]) -> Need:
    source = job.fields["game"]
    if source not in loaded:
        loaded.clear()  # jobs on one game are adjacent, and two large games may not fit
        loaded[source] = load(source)
    request = solving(loaded[source], job.fields.get("algorithm"), **job.options, threads=1, backend=CPU)
    limits, game, solver = request.limits, request.problem.game, checked(request)
    each = 0.0 if not solver.steady or solver.ends else solver.cost(game).iteration * NANOSECOND
    counted = math.inf if limits.iterations is None or not each else limits.iterations * each
    seconds = min(counted, math.inf if limits.seconds is None else limits.seconds)
    streams = getattr(solver, "streams", 1)
    arrays = COPIES * 8 * sum(treeplex.sequences for treeplex in game.treeplexes) * streams
    size = PROCESS + 3 * game.bytes + arrays  # the game, while it is compiled and in the engine's order
    return Need(job, game.name, size, seconds if math.isfinite(seconds) else None, False)


def tasks(all_needs: Sequence[Need], machine: Machine, machines: int = 1) -> list[Task]:
    """Assign threads to jobs: one each, more where memory or too few jobs would leave processors idle."""
    crowd = max(1, machine.cores * machines // max(len(all_needs), 1))
    return [Task(need.job, need.bytes, _threads(need, machine, crowd) if need.shares else 1) for need in all_needs]


def _threads(need: Need, machine: Machine, crowd: int) -> int:
    beside = max(1, int(machine.memory // need.bytes))  # number of such jobs that fit into one machine
    return max(1, min(machine.cores, max(crowd, math.ceil(machine.cores / beside))))


def longest(all_needs: Sequence[Need], planned: Sequence[Task], cores: int) -> float | None:
    """Return the seconds of all tasks on ``cores`` well-shared processors; None if any job's time is unknown."""
    known = [
        (need.seconds, task.threads) for need, task in zip(all_needs, planned, strict=True) if need.seconds is not None
    ]
    if len(known) < len(all_needs):
        return None
    return max(sum(seconds for seconds, _ in known) / cores, *(seconds / threads for seconds, threads in known))
