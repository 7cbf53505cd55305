"""The result of a run: the policy, its quality, and how it was computed. One class for every kind of game."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from treeplex.algorithms.protocol import Algorithm, Execution, Extras, StrategyReport
from treeplex.arrow import Table, frame
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.html import html_picture, html_table
from treeplex.plots.plot import plot_convergence
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.folder import RunFolder
from treeplex.runs.log import LogRow, to_table
from treeplex.runs.loop import RunOutcome
from treeplex.runs.request import Record, Request


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a run. Quality is always measured in the game that was to be solved.

    Attributes of some kinds of games only (sizes found, EV of both players, ...) are in ``extras``. They are also
    attributes of the solution itself.
    """

    request: Request
    record: Record  # as ``run.json`` has it
    outcome: RunOutcome[Any]
    solver: Algorithm[Any, Any] = field(repr=False)  # the algorithm as it was opened
    checkpoint: Checkpoint[Any] | None = field(repr=False)  # where ``resume`` continues; None if nothing is left to do

    def __repr__(self) -> str:
        return (
            f"Solution({self.record.title}: {self.status}, value {self.value:.6g}, NashConv"
            f" {self.nash_conv:.3g}, {self.iterations:,} iterations, {self.seconds:.2f} s)"
        )

    def _repr_html_(self) -> str:
        """Return a summary in HTML, which notebooks show."""
        own = self.extras.html()
        if own:
            return own
        rows = [
            ("ended", f"{self.status} after {self.iterations:,} iterations, {self.seconds:.2f} s"),
            ("value of player 0", f"{self.value:.6g}"),
            ("NashConv", f"{self.nash_conv:.3g}"),
            ("exploitability (NashConv / 2)", f"{self.exploitability:.3g}"),
        ]
        title = self.record.title
        shown = sum(row.nash_conv > 0.0 for row in self.rows) > 1  # a single row is no curve
        picture = html_picture(self.plot().png(), f"{title}: NashConv") if shown else ""
        return html_table(title, ("", ""), rows) + picture

    def __getattr__(self, name: str) -> Any:
        if name == "extras":  # computing it has failed: repeat it, to raise the original error
            return self.report.extras(self.evaluation)
        if name.startswith("__") or not hasattr(self.extras, name):
            raise AttributeError(f"A solution of this kind has no '{name}'.")
        return getattr(self.extras, name)

    @property
    def game(self) -> Any:
        """The game in the form that algorithms use."""
        return self.request.problem.game

    @property
    def status(self) -> str:
        """How the run ended: one of ``treeplex.runs.status.SENTENCES``."""
        return self.outcome.status

    @property
    def iterations(self) -> int:
        """Number of iterations; each updates every player once."""
        return self.outcome.work.iterations

    @property
    def nodes_touched(self) -> int:
        """Number of histories that traversals entered."""
        return self.outcome.work.nodes

    @property
    def seconds(self) -> float:
        """Seconds spent in all, without compiling kernels."""
        return self.outcome.seconds

    @property
    def evaluation(self) -> Evaluation:
        """Value, best responses and NashConv of the strategies."""
        return self.outcome.evaluation

    @property
    def rows(self) -> list[LogRow]:
        """The log, one row per evaluation."""
        return self.outcome.rows

    @property
    def state(self) -> Any:
        """The final state of the algorithm."""
        return self.outcome.state

    @property
    def report(self) -> StrategyReport:
        """Both players' strategies, on the host."""
        return self.outcome.report

    @property
    def algorithm(self) -> str:
        """The algorithm as the user wrote it."""
        return self.record.asked

    @property
    def seed(self) -> int:
        """Seed of the random numbers."""
        return self.record.seed

    @property
    def iterate(self) -> str:
        """Which strategies are reported: "average", "current" or "best"."""
        return self.record.iterate

    @property
    def value(self) -> float:
        """Value of the strategies for player 0."""
        return self.evaluation.value

    @property
    def nash_conv(self) -> float:
        """Sum of both players' best-response gains; nan if unknown."""
        return self.evaluation.nash_conv

    @property
    def exploitability(self) -> float:
        """Exploitability: half of ``nash_conv``."""
        return self.evaluation.exploitability

    @property
    def best_response_values(self) -> tuple[float, float]:
        """Each player's own payoff when best-responding to the opponent."""
        return self.evaluation.best_response_values

    @cached_property
    def log(self) -> Table:
        """The log as an Arrow table."""
        return to_table(self.rows)

    @cached_property
    def policy(self) -> Any:
        """The strategies, by infoset; of a hold'em spot, by line and hand."""
        return self.report.policy()

    @property
    def strategies(self) -> Any:
        """Both players' strategies as arrays on the host."""
        return self.report.arrays

    @cached_property
    def extras(self) -> Extras:
        """Attributes that only this kind of game has."""
        return self.report.extras(self.evaluation)

    def summary(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it: common fields, ``None`` if unknown, then those of the extras."""
        record = self.record
        return {
            "game": record.game,
            "algorithm": record.asked,
            "iterations": self.iterations,
            "nodes_touched": self.nodes_touched,
            "seconds": self.seconds,
            **self.evaluation.summary(),
            "status": self.status,
            "backend": record.backend,
            "threads": record.threads,
            "storage": record.storage,
            "seed": record.seed,
            "iterate": record.iterate,
        } | self.extras.summary()

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot NashConv against iterations, nodes touched and seconds, as a Matplotlib figure; ``path``: a PNG to save.

        A search for bet sizes plots what each size alone would lose, and how often it is bet.
        """
        own = self.extras.plot(path)
        return own if own is not None else plot_convergence({self.algorithm: self.log}, self.record.title, path)

    def to_pandas(self) -> Any:
        """Return the log as a pandas DataFrame, one row per evaluation. For strategies: ``policy.to_pandas()``."""
        return frame(self.log)

    def save(self, folder: str | Path) -> Path:
        """Save a run folder: policy, log, convergence plot, result, checkpoint, and a README that explains them."""
        if not self.solver.portable:
            raise ParameterError(
                "A run on several machines can only be saved in the folder it was started with: start it with out=."
            )
        solver = self.solver.open(self.game, Execution(storage=self.record.storage, threads=self.record.threads))
        with RunFolder.claim(folder, self.record, self.request.problem) as run_folder:
            point = run_folder.checkpoint(solver, self.game)
            done = 0 if point is None else solver.work(self.game, point.state).iterations
            if done > self.iterations:
                raise ParameterError(
                    f"The folder {folder} holds this run after {done:,} iterations, which is more than these"
                    f" {self.iterations:,}; choose another folder."
                )
            if self.checkpoint is not None:
                run_folder.keep(solver, self.checkpoint)
            return run_folder.finish(self)
