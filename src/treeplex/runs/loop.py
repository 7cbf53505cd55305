"""The run loop: advance, evaluate when due, save checkpoints, and stop at a target, a limit or Ctrl-C."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, Final, Generic, NamedTuple

from treeplex.algorithms.protocol import Algorithm, Cost, Game, State, Stop, StrategyReport, Work, never
from treeplex.algorithms.random_start import initial_state
from treeplex.errors import SolverError
from treeplex.evaluation.exact import Evaluation
from treeplex.kernels.jit import CompileTimer, timed_compilation
from treeplex.runs.checkpoint import Best, Checkpoint
from treeplex.runs.log import LogRow
from treeplex.runs.schedule import next_evaluation
from treeplex.runs.schema import Options
from treeplex.runs.status import INTERRUPTED, MISSED, SOLVED
from treeplex.system import Interruption, ctrl_c
from treeplex.tensors import copied

SAVING: Final = 10.0  # the pause between two checkpoints is at least this multiple of the last one's writing time
CHUNK: Final = 0.1  # seconds an algorithm may run before the loop checks the clock, Ctrl-C and progress

Schedule = Callable[[Sequence[LogRow], Cost, float | None], int]
"""Function from the rows so far, the costs and the target to the iteration of the next evaluation."""


class Progress(NamedTuple):
    """Progress of a run, as a progress line shows it."""

    iteration: int
    seconds: float
    rows: list[LogRow]  # the log so far
    compiling: int = 0  # kernels compiled or being compiled, which does not count as solving
    additions: Sequence[Any] = ()  # with growth: every size added so far
    stage: str = ""  # current stage in words, if numbers do not show it
    evaluation: Evaluation | None = None  # the evaluation of the last row, if it has just been made


class RunOutcome(NamedTuple, Generic[State]):
    """Status, state, log and strategies at the end of a run."""

    status: str  # one of ``status.SENTENCES``
    state: State
    work: Work
    rows: list[LogRow]
    seconds: float
    report: StrategyReport
    evaluation: Evaluation


def run(
    game: Game,
    algorithm: Algorithm[Game, State],
    options: Options,
    resumed: Checkpoint[State] | None = None,
    *,
    keep: Callable[[Checkpoint[State]], None] | None = None,
    schedule: Schedule = next_evaluation,
    stop: Stop = never,
) -> RunOutcome[State]:
    """Run ``algorithm`` on ``game`` until a limit is reached; the loop itself never looks into ``game``.

    The first Ctrl-C, or ``stop``, ends the run with the answer so far. Limits on seconds count from now, without
    compilation of kernels. The other limits count from the start of the run. ``options`` set which strategies are
    reported, how often checkpoints go to ``keep``, the callbacks and the limits, which are in payoffs.
    """
    watch = options.watch

    def compiling(kernels: int) -> None:
        if watch is not None:
            watch(Progress(0, 0.0, [], kernels))

    with ctrl_c() as pressed, timed_compilation(compiling) as compilation:
        point = resumed or Checkpoint(initial_state(algorithm, game, options.seed, options.start), [], 0.0, 0.0)
        clock = _Clock(point.seconds, compilation)
        return _LoopRun(game, algorithm, options, keep, schedule, stop, point, clock, pressed).go()


@dataclass(eq=False)
class _LoopRun(Generic[Game, State]):
    """One call of ``run``, with its mutable state."""

    game: Game
    algorithm: Algorithm[Game, State]
    options: Options
    keep: Callable[[Checkpoint[State]], None] | None
    schedule: Schedule
    stop: Stop
    point: InitVar[Checkpoint[State]]
    clock: _Clock
    interruption: Interruption

    def __post_init__(self, point: Checkpoint[State]) -> None:
        self.state, self.rows, self.best, self.evaluating = point.state, point.rows, point.best, point.evaluating
        self.limits = self.options.limits()
        iteration, evaluation = self.algorithm.cost(self.game)
        both = self.options.iterate == "best"
        self.cost = Cost(iteration, 2.0 * evaluation if both else evaluation)
        self.pace, self.saved_at, self.pause = 1.0, self.clock.total(), self.options.checkpoint_seconds
        self._answerable()

    def pressed(self) -> bool:
        """Whether Ctrl-C or ``stop`` ends the run."""
        return self.interruption.is_set() or self.stop()

    def go(self) -> RunOutcome[State]:
        """Run until a limit is reached, and return the outcome."""
        limits, status = self.limits, self._already()
        while True:
            due = max(self.schedule(self.rows, self.cost, limits.nash_conv), self.work.iterations)
            while not status and self.work.iterations < due:
                status = self._chunk(due)
            if status == INTERRUPTED:
                self._keep(self.clock.total(), at_once=True)  # a second signal may cut the evaluation short
            began = self.clock.now()
            report, evaluation, best = self._report()
            self.evaluating += self.clock.now() - began
            log = self._logged(evaluation)
            if self.work.iterations == due:  # a row measured only because the run stops must not appear after resume
                self.rows, self.best = log, best
            self._tell(log, evaluation)
            if limits.nash_conv is not None and evaluation.nash_conv <= limits.nash_conv:
                status = SOLVED
            elif limits.nash_conv is not None and status == SOLVED:  # the algorithm ended by itself, above the target
                status = MISSED
            seconds = self.clock.total()  # one number for answer and checkpoint, so that seconds of resumed runs add up
            self._keep(seconds, at_once=bool(status))
            if status:
                return RunOutcome(status, self.state, self.work, log, seconds, report.host(), evaluation)

    @property
    def work(self) -> Work:
        """Return the work done so far."""
        return self.algorithm.work(self.game, self.state)

    def _chunk(self, due: int) -> str:
        """Iterate for about ``CHUNK`` seconds; return the reason to stop, or an empty string."""
        limits, work = self.limits, self.work
        upto = limits.next_stop(work.iterations, work.nodes, min(due, work.iterations + int(self.pace)))
        began = self.clock.now()
        self.state = self.algorithm.advance(self.game, self.state, upto - work.iterations, self._enough)
        self._answerable()
        done, work = upto - work.iterations, self.work
        took = max(self.clock.now() - began - work.overhead, 1e-9)
        self.pace = min(max(done * CHUNK / took, 1.0), 8.0 * self.pace)
        status = limits.reason(self.clock.now(), work.iterations, work.nodes)
        if work.finished:
            status = SOLVED
        elif self.pressed():
            status = INTERRUPTED
        self._tell(self.rows)
        if not status and work.iterations < due:
            self._keep(self.clock.total())
        return status

    def _answerable(self) -> None:
        """Let signals end the run with an answer, which exists from the first iteration on."""
        self.interruption.answerable |= self.work.iterations > 0

    def _enough(self) -> bool:
        seconds = self.limits.seconds
        return self.pressed() or (seconds is not None and self.clock.now() >= seconds)

    def _already(self) -> str:
        """Return the reason why a resumed run has nothing left to do, or an empty string."""
        work, limits = self.work, self.limits
        if work.iterations == 0:
            return ""
        measured = self.rows and self.rows[-1].iteration == work.iterations
        if measured and limits.nash_conv is not None and self.rows[-1].nash_conv <= limits.nash_conv:
            return SOLVED
        return limits.reason(0.0, work.iterations, work.nodes)

    def _report(self) -> tuple[StrategyReport, Evaluation, Best | None]:
        """Return the strategies to report, their evaluation, and the best so far."""
        iterate = self.options.iterate
        if iterate != "best":
            return *self._evaluated(iterate), None
        measured = [self._evaluated(kind) for kind in ("average", "current")]
        report, evaluation = min(measured, key=lambda pair: pair[1].nash_conv)
        if self.best is not None and self.best.nash_conv <= evaluation.nash_conv:
            best = self.best.report
            return best, best.evaluate(self.options.threads), self.best
        best = report.replace(copied(report.arrays))
        return report, evaluation, Best(evaluation.nash_conv, best)

    def _evaluated(self, iterate: str) -> tuple[StrategyReport, Evaluation]:
        report = self.algorithm.report(self.game, self.state, iterate)
        return report, report.evaluate(self.options.threads)

    def _logged(self, evaluation: Evaluation) -> list[LogRow]:
        work = self.work
        value, nash_conv = evaluation.value, evaluation.nash_conv
        if not math.isfinite(value) or math.isinf(nash_conv):
            raise SolverError(f"The strategies contain NaN or infinity at iteration {work.iterations:,}.")
        if self.rows and self.rows[-1][:2] == work[:2]:
            return self.rows
        return [*self.rows, LogRow.measured(work, self.clock.total(), self.evaluating, evaluation)]

    def _tell(self, rows: list[LogRow], evaluation: Evaluation | None = None) -> None:
        watch, work = self.options.watch, self.work
        if watch:
            progress = Progress(work.iterations, self.clock.total(), rows, additions=work.additions, stage=work.stage)
            watch(progress._replace(evaluation=evaluation))

    def _keep(self, seconds: float, *, at_once: bool = False) -> None:
        if self.keep and (at_once or seconds - self.saved_at >= self.pause):
            point = Checkpoint(self.state, self.rows, seconds, self.evaluating, self.best)
            began = self.clock.total()
            self.keep(point)
            self.saved_at = self.clock.total()
            every = self.options.checkpoint_seconds
            self.pause = max(every, SAVING * (self.saved_at - began)) if every else 0.0


class _Clock:
    """Seconds in this process and since the start of the run, without compilation of kernels."""

    def __init__(self, before: float, compilation: CompileTimer) -> None:
        self._before, self._compilation = before, compilation
        self._began = time.perf_counter() - compilation.seconds

    def now(self) -> float:
        return time.perf_counter() - self._began - self._compilation.seconds

    def total(self) -> float:
        return self._before + self.now()
