"""The answer of a run: the policy, how good it is, and how it was obtained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from treeplex.arrow import Table, write_parquet
from treeplex.compiled.game import CompiledGame
from treeplex.evaluation.plot import plot_convergence
from treeplex.evaluation.policy import Policy

SOLVED = "solved"
"""The target was reached, or the answer is exact."""


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
    log: Table

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
        }

    def save(self, folder: str | Path) -> Path:
        """Leave a run folder: policy, log, convergence plot, result and a page that explains them."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.policy.save(folder / "policy.parquet")
        write_parquet(self.log, folder / "log.parquet")
        title = f"{self.game.name}, {self.algorithm}"
        plot_convergence(self.log, title, folder / "convergence.png")
        (folder / "result.json").write_text(json.dumps(self.summary(), indent=1) + "\n")
        (folder / "README.md").write_text(_explanation(title))
        return folder


def _explanation(title: str) -> str:
    return f"""# A run of treeplex: {title}

| file | what it holds |
| --- | --- |
| `result.json` | value, NashConv and how the run ended |
| `policy.parquet` | the strategies: player, infoset, action, probability |
| `log.parquet` | one row a checkpoint: iteration, nodes touched, seconds, value, NashConv |
| `convergence.png` | NashConv against iterations and seconds |

Read the tables with any Parquet reader (`pandas.read_parquet`, `polars.read_parquet`, `duckdb`), or in Python with
`treeplex.Policy.load("policy.parquet")`. Check the answer with `treeplex evaluate GAME policy.parquet`.
NashConv is the sum of what both players could gain by a best response; exploitability is half of it.
"""
