"""The one run loop: advance, measure now and then, stop when told or when good enough."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple, Protocol

from treeplex.arrays import Floats
from treeplex.compiled.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import evaluate_behaviour
from treeplex.evaluation.log import LogRow, to_table
from treeplex.evaluation.policy import Policy
from treeplex.solvers.solution import SOLVED, Solution

GROWTH = 1.1  # each checkpoint is at this many times the iterations of the one before
BREATH = 0.1  # seconds a kernel may run before it comes up for air: Ctrl-C, progress, the clock


class Algorithm(Protocol):
    """What the run loop needs of an iterative algorithm. ``State`` is its own affair, but has ``iteration``."""

    def start(self, game: CompiledGame) -> Any:
        """The state before the first iteration."""
        ...

    def advance(self, game: CompiledGame, state: Any, iterations: int) -> Any:
        """The state some iterations later; the old one may be overwritten."""
        ...

    def average(self, game: CompiledGame, state: Any) -> tuple[Floats, Floats]:
        """Both players' strategies to report."""
        ...

    def nodes_touched(self, game: CompiledGame, iterations: int) -> int:
        """Histories entered in that many iterations from the start."""
        ...


@dataclass(frozen=True)
class Limits:
    """When to stop; ``None`` means never for that reason."""

    nash_conv: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("nash_conv", "seconds", "iterations", "nodes"):
            value: Any = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and value >= 0):
                raise ParameterError(f"The '{name}' parameter must be a number that is not negative, got {value!r}.")

    @property
    def any(self) -> bool:
        """Is there a reason to stop at all?"""
        return any(limit is not None for limit in (self.nash_conv, self.seconds, self.iterations, self.nodes))


class Progress(NamedTuple):
    """What a progress line shows."""

    iteration: int
    seconds: float
    last: LogRow | None  # the newest checkpoint


Watcher = Callable[[Progress], None]


def run(
    game: CompiledGame,
    algorithm: Algorithm,
    name: str,
    limits: Limits,
    seed: int = 0,
    watch: Watcher | None = None,
) -> Solution:
    """Run ``algorithm`` until a limit is reached; Ctrl-C ends it with the answer so far."""
    began = time.perf_counter()
    state = algorithm.start(game)
    rows: list[LogRow] = []
    measuring, pace = 0.0, 1.0  # seconds spent evaluating; iterations that fit in a breath
    with _ctrl_c() as pressed:
        while True:
            # On to the next checkpoint, one breath at a time.
            checkpoint = max(state.iteration + 1, int(state.iteration * GROWTH))
            status = ""
            while state.iteration < checkpoint and not status:
                clock = time.perf_counter()
                count = _affordable(
                    game, algorithm, state.iteration, limits, min(checkpoint, state.iteration + int(pace))
                )
                state = algorithm.advance(game, state, count)
                now = time.perf_counter()
                pace = min(max(count * BREATH / max(now - clock, 1e-9), 1.0), 8.0 * pace)
                status = _spent(game, algorithm, state.iteration, limits, now - began, pressed.is_set())
                if watch:
                    watch(Progress(state.iteration, now - began, rows[-1] if rows else None))
            clock = time.perf_counter()
            behaviour = algorithm.average(game, state)
            value, nash_conv, bests = evaluate_behaviour(game, behaviour)
            now = time.perf_counter()
            measuring += now - clock
            touched = algorithm.nodes_touched(game, state.iteration)
            rows.append(LogRow(state.iteration, touched, now - began, measuring, value, nash_conv, nash_conv / 2.0))
            if watch:
                watch(Progress(state.iteration, now - began, rows[-1]))
            if limits.nash_conv is not None and nash_conv <= limits.nash_conv:
                status = SOLVED
            if status:
                break
    return Solution(
        game=game,
        algorithm=name,
        policy=Policy.of(game, behaviour),
        value=value,
        nash_conv=nash_conv,
        best_response_values=bests,
        status=status,
        iterations=state.iteration,
        nodes_touched=touched,
        seconds=rows[-1].seconds,
        seed=seed,
        log=to_table(rows),
    )


def _affordable(game: CompiledGame, algorithm: Algorithm, done: int, limits: Limits, upto: int) -> int:
    """How many more iterations, up to number ``upto``, the limits on iterations and nodes leave: at least one."""
    if limits.iterations is not None:
        upto = min(upto, limits.iterations)
    if limits.nodes is not None and done:
        touched = algorithm.nodes_touched(game, done)
        upto = min(upto, done + (limits.nodes - touched) * done // max(touched, 1))
    return max(upto - done, 1)


def _spent(
    game: CompiledGame, algorithm: Algorithm, done: int, limits: Limits, seconds: float, interrupted: bool
) -> str:
    """Why to stop now, or nothing."""
    if interrupted:
        return "interrupted"
    if limits.iterations is not None and done >= limits.iterations:
        return "iterations"
    if limits.seconds is not None and seconds >= limits.seconds:
        return "seconds"
    if limits.nodes is not None and algorithm.nodes_touched(game, done) >= limits.nodes:
        return "nodes"
    return ""


@contextmanager
def _ctrl_c() -> Generator[threading.Event]:
    """Turn the first Ctrl-C into an event, so that no iteration is left half done; a second one interrupts as usual."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
