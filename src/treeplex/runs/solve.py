"""Execute a request: start or continue its run, and write the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treeplex.algorithms.protocol import Algorithm, Execution
from treeplex.algorithms.registry import family
from treeplex.engines.open import AUTO
from treeplex.engines.sharded.shards import LostError
from treeplex.errors import ParameterError, quoted
from treeplex.limits import Limits
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.cut import RetryBudget, cut, describe
from treeplex.runs.folder import RunFolder
from treeplex.runs.loop import RunOutcome
from treeplex.runs.loop import run as run_loop
from treeplex.runs.progress import NotebookLine, notebook
from treeplex.runs.request import Record, Request, check_iterate
from treeplex.runs.schema import Options
from treeplex.runs.solution import Solution
from treeplex.system import answering, finishing

UNLIMITED = "Say when to stop: give nash_conv, exploitability, seconds, iterations or nodes."


def execute(request: Request) -> Solution:
    """Run until a limit of the request is reached. A folder that holds this run is continued.

    Seconds spent earlier count, unless the run is resumed to new limits.
    """
    solver, out = checked(request), request.options.out
    if request.record is not None:
        return _resumed(request, solver)
    record = request.recorded(solver)
    if out is None:
        return _Run(request, record, solver, None).to_the_end(None, request.limits)
    with RunFolder.claim(out, record, request.problem) as folder:
        run = _Run(request, record, solver, folder)
        point = run.saved()
        return run.to_the_end(point, request.limits if point is None else request.limits.left(point.seconds))


def _resumed(request: Request, solver: Algorithm[Any, Any]) -> Solution:
    """Continue a run to new limits, or to its own, less the seconds already spent."""
    with RunFolder.open(_path(request)).reclaimed() as folder:
        run = _Run(request, folder.record, solver, folder)
        point = run.saved()
        spent = 0.0 if point is None else point.seconds
        if request.renewed:  # recorded, so that they hold when a later process continues
            limited = folder.limited(request.limits.after(spent), request.options.threads, solver.backend)
            run = replace(run, record=limited.record, folder=limited)
        return run.to_the_end(point, run.record.limits.left(spent))


def checked(request: Request) -> Algorithm[Any, Any]:
    """Open the algorithm of a request; raise if the request cannot be run."""
    problem, choice, record = request.problem, request.choice, request.record
    check_iterate(request.options.iterate, choice.algorithm.iterates)
    if record is not None and problem.fingerprint != record.fingerprint:
        raise ParameterError(
            f"The game in {request.options.out} is not the {record.game} of this version; start a new run."
        )
    if request.limits.nash_conv is not None and problem.unmeasured:
        raise ParameterError(f"NashConv cannot be a target of {problem.noun}: {problem.unmeasured}.")
    check_limits(request.limits, choice.label, choice.algorithm.ends)
    return _opened(request)


def _opened(request: Request) -> Algorithm[Any, Any]:
    game, options, choice = request.problem.game, request.options, request.choice
    execution = Execution(
        backend=options.backend,
        storage=options.storage,
        threads=options.threads,
        folder=None if options.out is None else str(options.out),
        device=options.device,
        limits=request.limits,
        iterate=options.iterate,
    )
    solver = choice.algorithm.open(game, execution)
    if options.backend not in (AUTO, solver.backend):
        raise ParameterError(
            f"The 'backend' parameter must be auto or {solver.backend} with {quoted(choice.label)}, got"
            f" {quoted(options.backend)}; only {family()} run on a GPU."
        )
    if request.cutting is None or choice.algorithm.random:  # its streams are distributed, not its game
        return solver
    solver = choice.algorithm.open(game, execution._replace(shards=cut(solver, request, request.cutting)))
    describe(solver, request.cutting)
    return solver


def check_limits(limits: Limits, label: str, ends: bool) -> None:
    """Raise if a run has no end, or limits that an algorithm which ends by itself does not support."""
    if not limits.any and not ends:
        raise ParameterError(UNLIMITED)
    counted = [name for name in ("iterations", "nodes") if getattr(limits, name) is not None]
    if ends and counted:
        raise ParameterError(
            f"The '{counted[0]}' parameter is not supported by {quoted(label)}, which is exact and ends by itself; give"
            " 'seconds' instead."
        )


def _path(request: Request) -> Path:
    return Path(str(request.options.out))


@dataclass(frozen=True)
class _Run:
    """A run that is ready to start or to continue."""

    request: Request
    record: Record
    solver: Algorithm[Any, Any]
    folder: RunFolder | None  # None: nothing is written

    @property
    def game(self) -> Any:
        return self.request.problem.game

    def saved(self) -> Checkpoint[Any] | None:
        """Return the checkpoint in the run's folder, or None."""
        budget = self._budget()
        while self.folder is not None:
            try:
                return self.folder.checkpoint(self.solver, self.game)
            except LostError as error:
                budget.after(error)
        return None

    def to_the_end(self, point: Checkpoint[Any] | None, limits: Limits) -> Solution:
        """Run to the end. If a worker is lost, continue from the last checkpoint of all shards, or from the start."""
        budget, left = self._budget(), limits
        while True:
            try:
                return self._once(point, left, budget)
            except LostError as error:
                budget.after(error)
            point, left = self.saved(), limits.left(budget.seconds)

    def _budget(self) -> RetryBudget:
        return RetryBudget(None if self.request.cutting is None else self.request.cutting.report)

    def _once(self, point: Checkpoint[Any] | None, limits: Limits, budget: RetryBudget) -> Solution:
        """Run once, save checkpoints, and write the result."""
        solver, folder = self.solver, self.folder
        options = self.request.options.limited(limits)
        last: list[Checkpoint[Any]] = []
        failed: list[ParameterError] = []

        def keep(checkpoint: Checkpoint[Any]) -> None:
            last[:] = [checkpoint]
            failed.clear()
            if folder is not None and solver.work(self.game, checkpoint.state).resumable:
                try:
                    folder.keep(solver, checkpoint)
                    budget.renewed()
                except ParameterError as error:  # such as a full disk: continue, and raise at the end
                    failed.append(error)

        with answering():
            outcome = self._watched(options, point, keep)
            solution = Solution(self.request, self.record, outcome, solver, last[0] if outcome.work.resumable else None)
            with finishing():
                try:
                    if options.answer is not None:
                        options.answer(solution)
                finally:
                    if folder is not None:
                        folder.finish(solution, options.picture)
        if failed:
            raise failed[0]
        return solution

    def _watched(
        self, options: Options, point: Checkpoint[Any] | None, keep: Callable[[Checkpoint[Any]], None]
    ) -> RunOutcome[Any]:
        """Run the loop; in a notebook, show a progress line unless ``watch`` is set."""
        display = None if options.watch is not None else notebook()
        if display is None:
            return run_loop(self.game, self.solver, options, point, keep=keep)
        line = NotebookLine(display, self.request.title, options.limits(), self.request.problem.pot)
        try:
            return run_loop(self.game, self.solver, replace(options, watch=line.watch), point, keep=keep)
        finally:
            line.stop()
