"""Carry out a request: start it, or continue what its folder holds, and leave the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from treeplex.algorithms.protocol import Algorithm, Execution, Game, Goal, State
from treeplex.algorithms.registry import family
from treeplex.engines.open import check_backend
from treeplex.engines.sharded.shards import LostError
from treeplex.errors import ParameterError, non_negative, quoted, within
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.cut import Patience, Sharding, cut, describe
from treeplex.runs.folder import RunFolder
from treeplex.runs.limits import Limits
from treeplex.runs.loop import Outcome, Plan, Progress
from treeplex.runs.loop import run as run_loop
from treeplex.runs.progress import NotebookLine, notebook
from treeplex.runs.request import UNTARGETED, Request, check_iterate
from treeplex.runs.solution import Solution
from treeplex.system import answering, finishing

UNLIMITED = "Say when to stop: give nash_conv, exploitability, seconds, iterations or nodes."


@dataclass(frozen=True)
class Options:
    """How to run, beside what and when to stop: what changes no bit of the answer."""

    threads: int = 0
    backend: str = "auto"
    checkpoint_seconds: float = 30.0
    watch: Callable[[Progress], None] | None = None
    answer: Callable[[Solution], None] | None = None  # called with the solution before anything of it is written
    device: int = 0  # which GPU
    sharding: Sharding | None = None  # over workers of a cluster
    picture: bool = True  # draw how NashConv fell, which takes longer than to solve a small spot

    def __post_init__(self) -> None:
        seconds = within(float, "checkpoint_seconds", self.checkpoint_seconds, "a number >= 0", 0)
        object.__setattr__(self, "checkpoint_seconds", seconds)
        object.__setattr__(self, "threads", non_negative("threads", self.threads))
        object.__setattr__(self, "device", non_negative("device", self.device))
        check_backend(self.backend)
        for name in ("watch", "answer"):
            called: object = getattr(self, name)
            if called is not None and not callable(called):
                raise ParameterError(f"The '{name}' parameter must be a function, got {quoted(called)}.")


def execute(
    game: Game, algorithm: Algorithm[Game, State], request: Request, options: Options, folder: str | Path | None
) -> Solution:
    """Run until a limit of the request is reached. A folder that holds this very run is continued.

    Seconds that it has spent already count.
    """
    solver = checked(game, algorithm, request, options, folder)
    request = replace(request, storage=solver.storage, threads=options.threads, backend=solver.backend)
    if folder is None:
        return _Run(game, solver, request, options, None).to_the_end(None, request.limits)
    with RunFolder.claim(folder, request, game) as kept:
        run = _Run(game, solver, request, options, kept)
        point = run.found()
        return run.to_the_end(point, request.limits if point is None else request.limits.left(point.seconds))


def checked(
    game: Game,
    algorithm: Algorithm[Game, State],
    request: Request,
    options: Options,
    folder: str | Path | None = None,
) -> Algorithm[Game, State]:
    """The algorithm that will carry a request out; refuses what cannot be carried out."""
    check_iterate(request.iterate, algorithm.iterates)
    check_limits(request.limits, request.asked, algorithm.ends)
    return _prepared(game, algorithm, request, options, None if folder is None else str(folder), request.limits)


def resume(
    kept: RunFolder, game: Game, algorithm: Algorithm[Game, State], limits: Limits, options: Options
) -> Solution:
    """Continue the run in a folder. Without limits of its own: to those of the run, less the seconds already spent."""
    request = kept.request
    check_iterate(request.iterate, algorithm.iterates)
    own: Any = algorithm if hasattr(algorithm, "fingerprint") else None
    known: Any = game
    if (own.fingerprint(game) if own else known.fingerprint) != request.fingerprint:
        raise ParameterError(f"The game in {kept.path} is not the {request.game} of this version; start a new run.")
    if limits.nash_conv is not None and request.kind in UNTARGETED:
        raise ParameterError(f"NashConv cannot be a target of {UNTARGETED[request.kind]}.")
    if limits.any or not request.limits.any:
        check_limits(limits, request.asked, algorithm.ends)
    solver = _prepared(game, algorithm, request, options, str(kept.path), limits.otherwise(request.limits))
    with kept.reclaimed() as now:
        run = _Run(game, solver, now.request, options, now)
        point = run.found()
        spent = 0.0 if point is None else point.seconds
        if limits.any:  # written down, so that they hold for whoever continues after this process
            limited = now.limited(limits.after(spent), options.threads, solver.backend)
            run = replace(run, request=limited.request, kept=limited)
        return run.to_the_end(point, run.request.limits.left(spent))


def _prepared(
    game: Game,
    algorithm: Algorithm[Game, State],
    request: Request,
    options: Options,
    folder: str | None,
    limits: Limits,
) -> Algorithm[Game, State]:
    counted = limits.iterations is not None or limits.nodes is not None
    goal = Goal(limits.nash_conv, request.iterate, counted, limits.nodes)
    execution = Execution(options.backend, request.storage, options.threads, folder, options.device, goal)
    solver = algorithm.open(game, execution)
    if options.backend not in ("auto", solver.backend):
        raise ParameterError(
            f"The 'backend' parameter must be auto or {solver.backend} with {quoted(request.asked)}, got"
            f" {quoted(options.backend)}; {family()} run on a GPU."
        )
    if options.sharding is None or algorithm.random:  # whose streams are shared, not its game
        return solver
    cutting = cut(solver, request, options.sharding)
    solver = algorithm.open(game, execution._replace(shards=cutting))
    describe(solver, options.sharding)
    return solver


def check_limits(limits: Limits, asked: str, ends: bool) -> None:
    """Refuse a run without an end, and limits that an algorithm which ends by itself cannot heed."""
    if not limits.any and not ends:
        raise ParameterError(UNLIMITED)
    given = [name for name in ("iterations", "nodes") if getattr(limits, name) is not None]
    if ends and given:
        raise ParameterError(
            f"The '{given[0]}' parameter cannot be heeded by {quoted(asked)}, which is exact and ends by itself; it"
            " heeds 'seconds'."
        )


@dataclass(frozen=True)
class _Run(Generic[Game, State]):
    """A run that is ready to begin, from wherever it stands."""

    game: Game
    solver: Algorithm[Game, State]
    request: Request
    options: Options
    kept: RunFolder | None  # None: nothing is written

    def found(self) -> Checkpoint[State] | None:
        """Where its folder says to go on."""
        patience = self._patience()
        while self.kept is not None:
            try:
                return self.kept.checkpoint(self.solver, self.game)
            except LostError as error:
                patience.after(error)
        return None

    def to_the_end(self, point: Checkpoint[State] | None, limits: Limits) -> Solution:
        """Run; where a worker is lost, go on from the last checkpoint, which all shards have, or from the start."""
        patience, left = self._patience(), limits
        while True:
            try:
                return self._once(point, left, patience)
            except LostError as error:
                patience.after(error)
            point, left = self.found(), limits.left(patience.seconds)

    def _patience(self) -> Patience:
        return Patience(None if self.options.sharding is None else self.options.sharding.told)

    def _once(self, point: Checkpoint[State] | None, limits: Limits, patience: Patience) -> Solution:
        """Run, keep checkpoints, and leave the answer."""
        solver, request, options, kept = self.solver, self.request, self.options, self.kept
        last: list[Checkpoint[State]] = []
        failed: list[ParameterError] = []

        def keep(checkpoint: Checkpoint[State]) -> None:
            last[:] = [checkpoint]
            failed.clear()
            if kept is not None and solver.work(self.game, checkpoint.state).resumable:
                try:
                    kept.keep(solver, checkpoint)
                    patience.renewed()
                except ParameterError as error:  # a full disk: the run goes on, and says so when its answer is known
                    failed.append(error)

        seconds = options.checkpoint_seconds
        plan = Plan(limits, request.iterate, options.threads, request.seed, options.watch, keep, seconds)
        with answering():
            status, state, work, rows, spent, report, evaluation = _watched(self.game, solver, request, plan, point)
            resumable = last[0] if work.resumable else None
            solution = Solution(
                self.game, request, status, *work[:2], spent, evaluation, rows, solver, state, report, resumable
            )
            with finishing():
                try:
                    if options.answer is not None:
                        options.answer(solution)
                finally:
                    if kept is not None:
                        kept.finish(solution, options.picture)
        if failed:
            raise failed[0]
        return solution


def _watched(
    game: Game,
    solver: Algorithm[Game, State],
    request: Request,
    plan: Plan[State],
    point: Checkpoint[State] | None,
) -> Outcome[State]:
    """Run; where nobody watches and this is a notebook, the notebook does."""
    display = None if plan.watch is not None else notebook()
    if display is None:
        return run_loop(game, solver, plan, point)
    pot = float(request.source["pot"]) if request.is_spot else None
    line = NotebookLine(display, f"{request.game}, {request.asked}", plan.limits, pot)
    try:
        return run_loop(game, solver, replace(plan, watch=line.watch), point)
    finally:
        line.stop()
