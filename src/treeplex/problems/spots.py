"""The problem of solving a hold'em spot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from treeplex.algorithms.registry import Choice, choose, family
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.locks import Lock, make_locks
from treeplex.games.holdem.spot import DEFAULT_MENU, make_spot
from treeplex.limits import Limits
from treeplex.problems.loading import spot_game
from treeplex.problems.protocol import SPOT, Listing, Problem, ProblemRecord

if TYPE_CHECKING:
    from treeplex.engines.boards.game import HoldemGame

FACED: Final = "faced"
"""Order of averaging: iterations add the strategies that opponents learn against."""

DEFAULT_TARGET: Final = 0.5
"""Default target exploitability of a spot, in per cent of the pot."""


@dataclass(frozen=True, eq=False)
class SpotProblem(Problem):
    """Find an equilibrium of the subgame that begins with a spot."""

    game: HoldemGame

    kind: ClassVar[str] = SPOT

    @property
    def name(self) -> str:
        """As ``Problem``: the board."""
        return self.game.name

    @property
    def fingerprint(self) -> str:
        """As ``Problem``."""
        return self.game.fingerprint

    @property
    def source(self) -> Any:
        """As ``Problem``: the spot's fields."""
        return self.game.spot.summary()

    @property
    def options(self) -> dict[str, Any]:
        """As ``Problem``: the locked decisions."""
        return {"locks": [lock._asdict() for lock in self.game.locks]} if self.game.locks else {}

    @property
    def pot(self) -> float:
        """As ``Problem``."""
        return float(self.game.spot.pot)

    @property
    def notice(self) -> str:
        """As ``Problem``: the default menu, if the spot has none."""
        return f"sizes: {DEFAULT_MENU}, the default menu" if self.game.spot.has_default_sizes else ""

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``."""
        return Limits(None if ends else 2.0 * DEFAULT_TARGET * self.pot / 100.0)

    def fit(self, choice: Choice) -> Choice:
        """As ``Problem``: only some algorithms solve spots."""
        return fit_spot(choice)

    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """As ``Problem``: EVs, equity, exploitability, and the strategy at the root."""
        fields, pot = solution.summary(), self.game.spot.pot
        first, second = solution.ev
        root = ", ".join(f"{name} {100 * x:.1f}%" for name, x in fields["root_strategy"].items())
        yield (
            f"EV oop {first:.3f}, ip {second:.3f} of a pot of {pot};"
            f" equity {100 * fields['equity'][0]:.2f}%, {100 * fields['equity'][1]:.2f}%"
        )
        yield from _accuracy(solution)
        yield f"OOP at root: {root}"

    def advice(self, folder: Path) -> str:
        """As ``Problem``."""
        return f'see it with: treeplex holdem show {folder} --line "check" --grid'


def fit_spot(choice: Choice) -> Choice:
    """Return the algorithm with the averaging order of spots; raise if it only works on compiled games."""
    if not choice.algorithm.solves_spots:
        raise ParameterError(f"Hold'em spots are solved by auto, {family()}, got {quoted(choice.label)}.")
    order = choice.parameters.get("order", FACED)
    if order != FACED:
        raise ParameterError(
            f"On hold'em spots averages take the strategies that are faced; leave out order={order}, or give"
            f" order={FACED}."
        )
    name = named_on_spots(choice.name)
    return choice if name == choice.name else choose(name)._replace(label=choice.label)


def named_on_spots(algorithm: str) -> str:
    """Return an algorithm's name with the order of spots; runs of 0.2 recorded the default of other games."""
    return algorithm.replace('order="played"', f'order="{FACED}"')


def locked(problem: Problem, locks: Sequence[Lock]) -> Problem:
    """Return the problem with locked decisions; raise if it is not a hold'em spot."""
    if not locks:
        return problem
    if not isinstance(problem, SpotProblem):
        raise ParameterError("The 'locks' parameter is for hold'em spots.")
    return SpotProblem(replace(problem.game, locks=make_locks(locks)))


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> SpotProblem:
    """Load the spot of a recorded run again, with its locks."""
    return SpotProblem(spot_game(make_spot(record.source), make_locks(record.options.get("locks", ()))))


def _accuracy(solution: Any) -> Iterator[str]:
    """Yield exploitability; with rake, both gains and a note that there is no guarantee."""
    words = f"{solution.percent_of_pot:.3g}% of the pot ({solution.exploitability:.4g} chips)"
    if solution.zero_sum:
        yield f"exploitability {words}"
        return
    first, second = solution.gains
    yield f"a best response gains oop {first:.4g}, ip {second:.4g} chips; on average {words}"
    yield "with rake the game is not zero-sum: it has no value, and the strategies guarantee nothing against others"
