"""Follow a run and print its solution, as text and small tables or as one JSON line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from treeplex.cli import SOLVED, UNFINISHED
from treeplex.cli.output import print_json, print_table, say, tell
from treeplex.cli.progress import ProgressLine
from treeplex.cluster.place import carry_out
from treeplex.limits import Limits
from treeplex.problems.protocol import Listing
from treeplex.runs.loop import Progress
from treeplex.runs.request import Request
from treeplex.runs.solution import Solution
from treeplex.runs.status import INTERRUPTED, SENTENCES


@dataclass(frozen=True)
class Screen:
    """Options for printing the result of a run."""

    folder: Path | None  # where the run is saved
    as_json: bool
    show: int = 0  # number of infosets per player, or of sizes
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])  # fields of the JSON result

    def tell(self, solution: Solution) -> None:
        """Print the solution as text or JSON."""
        if self.as_json:
            folder = {"folder": str(self.folder)} if self.folder else {}
            print_json(solution.summary() | _mbb(solution) | dict(self.more) | folder)
            return
        _describe(solution, self.show)
        note = solution.extras.note()
        if note:
            say(note)
        for mbb in _mbb(solution).values():
            tell(f"exploitability {mbb:.3g} mbb")
        if self.folder:
            say(f"run folder: {self.folder} ({solution.request.problem.advice(self.folder)})")


def _mbb(solution: Solution) -> dict[str, float]:
    """Return exploitability in thousandths of a big blind, if there are chips and the user set --big-blind."""
    big_blind = solution.request.options.big_blind
    if big_blind is None or solution.request.problem.pot is None:
        return {}
    return {"exploitability_mbb": 1000.0 * solution.exploitability / big_blind}


def follow(request: Request, screen: Screen) -> Solution:
    """Execute a request with a progress line, and print the solution before files are written."""
    problem = request.problem
    notices = [problem.notice] if problem.notice else []
    with ProgressLine(request.title, request.limits, problem.pot) as line:

        def watch(progress: Progress) -> None:
            while notices:
                say(notices.pop())
            line.watch(progress)

        def answer(solution: Solution) -> None:
            line.stop()
            say(*notices)
            screen.tell(solution)

        return carry_out(request.watched_by(watch=watch, answer=answer))


def exit_code(limits: Limits, *solutions: Solution) -> typer.Exit:
    """Return exit code 0 if the target was met or there was none; 1 if it was missed or the run interrupted."""
    statuses = {solution.status for solution in solutions}
    missed = limits.nash_conv is not None and statuses != {"solved"}
    return typer.Exit(UNFINISHED if missed or INTERRUPTED in statuses else SOLVED)


def _describe(solution: Solution, show: int) -> None:
    tell(
        f"{solution.record.title}: {SENTENCES[solution.status]} after {solution.iterations:,} iterations,"
        f" {solution.seconds:.2f} s"
    )
    for part in solution.request.problem.describe(solution, show):
        if isinstance(part, Listing):
            print_table(*part)
        else:
            tell(part)
