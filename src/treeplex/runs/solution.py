"""The answer of a run: the policy, how good it is, and how it was obtained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from treeplex.arrow import Table
from treeplex.compile.game import CompiledGame
from treeplex.evaluation.policy import Policy
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.limits import Limits


@dataclass(frozen=True)
class Solution:
    """What a solver found. Quality is always measured in the game that was asked about."""

    game: CompiledGame
    algorithm: str
    policy: Policy
    value: float
    nash_conv: float
    best_response_values: tuple[float, float]
    status: str  # "solved", or what stopped the run: "iterations", "seconds", "nodes", "interrupted"
    iterations: int
    nodes_touched: int
    seconds: float
    seed: int
    iterate: str
    log: Table
    limits: Limits
    checkpoint: Checkpoint | None  # where ``resume`` goes on; None if there is nothing to go on with

    def __repr__(self) -> str:
        return (
            f"Solution({self.game.name}, {self.algorithm}: {self.status}, value {self.value:.6g}, NashConv"
            f" {self.nash_conv:.3g}, {self.iterations:,} iterations, {self.seconds:.2f} s)"
        )

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``."""
        return self.nash_conv / 2.0

    def summary(self) -> dict[str, object]:
        """The result as ``treeplex solve --json`` prints it."""
        return {
            "game": self.game.name,
            "algorithm": self.algorithm,
            "iterations": self.iterations,
            "nodes_touched": self.nodes_touched,
            "seconds": self.seconds,
            "value": self.value,
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "best_response_values": list(self.best_response_values),
            "status": self.status,
            "seed": self.seed,
            "iterate": self.iterate,
        }

    def save(self, folder: str | Path) -> Path:
        """Leave a run folder: policy, log, convergence plot, result, checkpoint, and a page that explains them."""
        from treeplex.runs.folder import RunFolder  # noqa: PLC0415 - the folder holds solutions

        kept = RunFolder.create(folder, self.game, self.algorithm, self.limits, self.seed, self.iterate)
        if self.checkpoint is not None:
            kept.keep(self.checkpoint)
        return kept.finish(self)
