"""The problem of solving a compiled game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from treeplex.compile.game import CompiledGame
from treeplex.compile.storage import load as load_compiled
from treeplex.compile.storage import save as save_compiled
from treeplex.errors import ParameterError
from treeplex.limits import Limits
from treeplex.policies.policy import Policy
from treeplex.problems.loading import load_game
from treeplex.problems.protocol import GAME, Listing, Problem, ProblemRecord

DEFAULT_NASH_CONV: Final = 1e-3
"""Default target; at most a thousandth of the largest payoff, at least a millionth."""

SAVED: Final = "game.safetensors"


@dataclass(frozen=True, eq=False)
class GameProblem(Problem):
    """Find an equilibrium of a compiled game."""

    game: CompiledGame

    kind: ClassVar[str] = GAME

    @property
    def name(self) -> str:
        """As ``Problem``."""
        return self.game.name

    @property
    def fingerprint(self) -> str:
        """As ``Problem``."""
        return self.game.fingerprint

    @property
    def source(self) -> Any:
        """As ``Problem``."""
        return self.game.source

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``: none for an algorithm that ends by itself."""
        if ends:
            return Limits()
        largest = self.game.largest_payoff * self.game.unit or 1.0
        return Limits(min(max(DEFAULT_NASH_CONV, 1e-6 * largest), 1e-3 * largest))

    def save(self, folder: Path) -> None:
        """As ``Problem``: saves a game that cannot be loaded by name."""
        if self.source is None:
            save_compiled(self.game, folder / SAVED)

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: value, NashConv, and the first strategies."""
        constant = self.game.constant
        yield f"{quality(solution)}   (exploitability {solution.exploitability:.3g})"
        if constant:
            yield f"constant-sum game: player 1 gets {constant:g} minus that, {constant - solution.value:.6g}"
        if show:
            yield _strategies(solution.policy, show)


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> GameProblem:
    """Load the game of a recorded run again; ``replacement``: the user's own game, if it was one."""
    source = record.source if replacement is None else replacement
    if source is not None:
        return GameProblem(load_game(source))
    if not (folder / SAVED).exists():
        raise ParameterError(
            f"The run in {folder} ended before its game was saved there; start it again as before, or pass game=."
        )
    return GameProblem(load_compiled(folder / SAVED))


def quality(solution: Any) -> str:
    """Format value and NashConv, in payoffs."""
    return f"value for player 0: {solution.value:.6g}   NashConv: {solution.nash_conv:.3g}"


def _strategies(policy: Policy, show: int) -> Listing:
    rows: list[list[str]] = []
    for player, strategy in enumerate(policy.strategies):
        count = len(strategy.infosets)
        for i in range(min(show, count)):
            label = str(strategy.infosets[i])
            plays = "   ".join(f"{action} {probability:.3f}" for action, probability in strategy.at(i).items())
            rows.append([str(player), label.replace("\n", " ")[:60], plays])
        if count > show:
            rows.append([str(player), f"... {count - show:,} more", ""])
    return Listing(["player", "infoset", "strategy"], rows)
