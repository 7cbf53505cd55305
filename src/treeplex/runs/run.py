"""The one run loop: advance, measure now and then, keep what is done, stop when told or when good enough."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.errors import SolverError
from treeplex.evaluation.exact import Evaluation, evaluate_behaviour
from treeplex.evaluation.log import LogRow
from treeplex.algorithms.protocol import Algorithm, Behaviour, Brisk
from treeplex.runs.checkpoint import Best, Checkpoint
from treeplex.runs.limits import Limits

GROWTH: Final = 1.1  # each log row is at this many times the iterations of the one before
BREATH: Final = 0.1  # seconds a kernel may run before it comes up for air: Ctrl-C, progress, the clock

SOLVED: Final = "solved"
INTERRUPTED: Final = "interrupted"

ITERATES: Final = ("average", "current", "best")
"""What a run reports: the average strategies, the current ones, or the best of both at any checkpoint so far."""


class Progress(NamedTuple):
    """What a progress line shows."""

    iteration: int
    seconds: float
    rows: list[LogRow]  # the log so far


Watcher = Callable[[Progress], None]
Keeper = Callable[[Checkpoint], None]
Judge = Callable[[Any, Any], Evaluation]
"""Measures strategies, as the algorithm gives them, in a game."""


def next_row(iteration: int) -> int:
    """The first iteration after ``iteration`` that gets a row in the log, wherever the run was interrupted."""
    row = 1
    while row <= iteration:
        row = max(row + 1, int(row * GROWTH))
    return row


class Outcome(NamedTuple):
    """How a run ended."""

    status: str  # "solved", or what stopped it: "iterations", "seconds", "nodes", "interrupted"
    state: Any
    rows: list[LogRow]
    seconds: float
    behaviour: Behaviour
    evaluation: Evaluation


@dataclass(frozen=True)
class Plan:
    """How to run: when to stop, what to report, whom to tell, where to keep checkpoints and how often."""

    limits: Limits
    iterate: str = "average"
    watch: Watcher | None = None
    keep: Keeper | None = None
    keep_every: float = 30.0  # seconds
    judge: Judge = evaluate_behaviour
    next_row: Callable[[int], int] = next_row


def run(game: Any, algorithm: Algorithm, plan: Plan, resumed: Checkpoint | None = None) -> Outcome:
    """Run ``algorithm`` in ``game``, which only it and the plan's judge look into, until a limit is reached.

    The first Ctrl-C ends the run with the answer so far.

    Limits on seconds count from now; the others from the very start of the run.
    """
    point = resumed or Checkpoint(algorithm.start(game), [], 0.0, 0.0, None)
    state, rows, best, evaluating = point.state, point.rows, point.best, point.evaluating
    clock = _Clock(point.seconds)
    pace, kept = 1.0, clock.total()
    stride = algorithm.stride(game) if isinstance(algorithm, Brisk) else 1
    finished = _already(game, algorithm, point, plan.limits) if resumed else ""
    with ctrl_c() as pressed:
        while True:
            due = stride * plan.next_row(state.iteration // stride)
            status, finished = finished, ""
            while state.iteration < due and not status:  # one breath at a time
                upto = min(due, state.iteration + int(pace))
                touched = algorithm.nodes_touched(game, state)
                count = plan.limits.next_stop(state.iteration, touched, upto) - state.iteration
                began = time.perf_counter()
                state = algorithm.advance(game, state, count)
                breath = max(time.perf_counter() - began, 1e-9)
                pace = min(max(count * BREATH / breath, 1.0), 8.0 * pace)
                touched = algorithm.nodes_touched(game, state)
                status = plan.limits.reason(clock.now(), state.iteration, touched)
                if pressed.is_set():
                    status = INTERRUPTED
                if plan.watch:
                    plan.watch(Progress(state.iteration, clock.total(), rows))
                if plan.keep and state.iteration < due and clock.total() - kept >= plan.keep_every:
                    plan.keep(Checkpoint(state, rows, clock.total(), evaluating, best))
                    kept = clock.total()
            began = time.perf_counter()
            behaviour, evaluation, newest = _report(game, algorithm, state, plan, best)
            evaluating += time.perf_counter() - began
            _check_numbers(evaluation, algorithm.current(game, state), state.iteration)
            touched = algorithm.nodes_touched(game, state)
            value, nash_conv = evaluation.value, evaluation.nash_conv
            row = LogRow(state.iteration, touched, clock.total(), evaluating, value, nash_conv, nash_conv / 2.0)
            log = rows if rows and rows[-1].iteration == state.iteration else [*rows, row]
            if state.iteration == due:  # what is measured only because the run stops must not show in a resumed run
                rows, best = log, newest
            if plan.watch:
                plan.watch(Progress(state.iteration, clock.total(), log))
            if plan.limits.nash_conv is not None and nash_conv <= plan.limits.nash_conv:
                status = SOLVED
            if plan.keep and (status or clock.total() - kept >= plan.keep_every):
                plan.keep(Checkpoint(state, rows, clock.total(), evaluating, best))
                kept = clock.total()
            if status:
                return Outcome(status, state, log, clock.total(), behaviour, evaluation)


def _check_numbers(evaluation: Evaluation, current: Behaviour, iteration: int) -> None:
    """Stop at once when an algorithm, such as a user's own, has run out of numbers."""
    if not (math.isfinite(evaluation.nash_conv) and all(np.isfinite(strategy).all() for strategy in current)):
        raise SolverError(f"The strategies are no probabilities any more at iteration {iteration:,}.")


def _already(game: Any, algorithm: Algorithm, point: Checkpoint, limits: Limits) -> str:
    """Why a resumed run has nothing left to do, if so."""
    state, rows = point.state, point.rows
    if state.iteration == 0:
        return ""
    measured = rows and rows[-1].iteration == state.iteration
    if measured and limits.nash_conv is not None and rows[-1].nash_conv <= limits.nash_conv:
        return SOLVED
    return limits.reason(0.0, state.iteration, algorithm.nodes_touched(game, state))


def _report(
    game: Any, algorithm: Algorithm, state: Any, plan: Plan, best: Best | None
) -> tuple[Behaviour, Evaluation, Best | None]:
    """The strategies to report and how good they are."""
    if plan.iterate == "current":
        behaviour = algorithm.current(game, state)
        return behaviour, plan.judge(game, behaviour), None
    behaviour = algorithm.average(game, state)
    evaluation = plan.judge(game, behaviour)
    if plan.iterate == "average":
        return behaviour, evaluation, None
    playing = algorithm.current(game, state)
    other = plan.judge(game, playing)
    if other.nash_conv < evaluation.nash_conv:
        behaviour, evaluation = playing, other
    if best is not None and best.nash_conv <= evaluation.nash_conv:
        kept = (best.first, best.second)
        return kept, plan.judge(game, kept), best
    return behaviour, evaluation, Best(evaluation.nash_conv, behaviour[0].copy(), behaviour[1].copy())


class _Clock:
    """Seconds since now, and since the start of the run in an earlier process."""

    def __init__(self, before: float) -> None:
        self._before, self._began = before, time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self._began

    def total(self) -> float:
        return self._before + self.now()


@contextmanager
def ctrl_c() -> Generator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into an event, so that no iteration is left half done; a second interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.set()
        restore()

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, handler)
        yield pressed
    finally:
        restore()
