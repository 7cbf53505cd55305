"""The problem of learning a game from its rules by sampling, without compiling it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from treeplex.algorithms.explore import RESPONSES, exploring
from treeplex.algorithms.registry import Choice
from treeplex.compile.source import rules_of
from treeplex.errors import ParameterError
from treeplex.games.protocol import Game, name_of
from treeplex.limits import Limits
from treeplex.problems.protocol import EXPLORATION, Listing, Problem, ProblemRecord, reading_options

DEFAULT_SECONDS: Final = 60.0
"""Default time limit of an exploration."""

DEFAULT_WALK: Final = "pure-mccfr"


@dataclass(frozen=True, eq=False)
class ExploringProblem(Problem):
    """Learn a game from its rules; its quality is estimated."""

    game: Game
    algorithm: Any
    named: str | None = None  # name that loads the rules again, if they have one

    kind: ClassVar[str] = EXPLORATION
    noun: ClassVar[str] = "explore"
    unmeasured: ClassVar[str] = "it is only estimated"

    @property
    def name(self) -> str:
        """As ``Problem``."""
        return name_of(self.game)

    @property
    def fingerprint(self) -> str:
        """As ``Problem``."""
        return self.algorithm.fingerprint(self.game)

    @property
    def source(self) -> str | None:
        """As ``Problem``."""
        return self.named

    @property
    def options(self) -> dict[str, Any]:
        """As ``Problem``: how well responses are trained."""
        return {"responses": self.algorithm.responses}

    @property
    def choice(self) -> Choice:
        """The sampling algorithm of this problem."""
        return Choice(self.algorithm, f"explore({self.algorithm.name})", self.algorithm.name)

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``."""
        return Limits(seconds=DEFAULT_SECONDS)

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: estimates with their intervals."""
        fields = solution.summary()
        visited = " + ".join(f"{count:,}" for count in fields["infosets"])
        yield f"{solution.nodes_touched:,} histories, {visited} infosets visited"
        sampled = {
            "value for player 0, sampled": ("value_sampled", "value_margin"),
            "sampled lower bound on NashConv": ("nash_conv_sampled_at_least", "nash_conv_margin"),
        }
        rows = [[name, f"{fields[mean]:.4g} ± {fields[margin]:.2g}"] for name, (mean, margin) in sampled.items()]
        yield Listing(["", "95 % interval"], rows)


def exploration(game: Any, walk: str | None = None, responses: int | None = None) -> ExploringProblem:
    """Build the problem of exploring a game with an algorithm."""
    rules = rules_of(game)
    solver = exploring(DEFAULT_WALK if walk is None else walk, RESPONSES if responses is None else responses)
    return ExploringProblem(rules, solver, str(game) if isinstance(game, str | Path) else None)


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> ExploringProblem:
    """Load the problem of a recorded run again."""
    source = record.source if replacement is None else replacement
    if source is None:
        raise ParameterError(f"The run in {folder} is of a game of your own, '{record.game}'; pass it as game=.")
    with reading_options():
        solver = exploring(record.asked, **record.options)
    return ExploringProblem(rules_of(source), solver, record.source)
