"""A hold'em spot, as a problem."""

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
"""The order of averaging: iterations add the strategies that opponents learn against."""

DEFAULT_TARGET: Final = 0.5
"""The default exploitability of a spot, in per cent of the pot."""


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
        """As ``Problem``: the menu of a spot without one."""
        return f"sizes: {DEFAULT_MENU}, the default menu" if self.game.spot.has_default_sizes else ""

    def default_limits(self, ends: bool) -> Limits:
        """As ``Problem``."""
        return Limits(None if ends else 2.0 * DEFAULT_TARGET * self.pot / 100.0)

    def fit(self, choice: Choice) -> Choice:
        """As ``Problem``: spots have no table of all infosets."""
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
        return f'look at it with: treeplex holdem show {folder} --line "check" --grid'


def fit_spot(choice: Choice) -> Choice:
    """The algorithm with the order of averaging that spots have; rejected if it works on compiled games alone."""
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
    """The name of an algorithm with the order that spots have; runs of 0.2 recorded the default of other games."""
    return algorithm.replace('order="played"', f'order="{FACED}"')


def locked(problem: Problem, locks: Sequence[Lock]) -> Problem:
    """The problem with locked decisions; rejected where there are no lines to lock."""
    if not locks:
        return problem
    if not isinstance(problem, SpotProblem):
        raise ParameterError("The 'locks' parameter is for hold'em spots.")
    return SpotProblem(replace(problem.game, locks=make_locks(locks)))


def reopen(record: ProblemRecord, folder: Path, replacement: Any) -> SpotProblem:
    """The spot of a run, with its locks."""
    return SpotProblem(spot_game(make_spot(record.source), make_locks(record.options.get("locks", ()))))


def _accuracy(solution: Any) -> Iterator[str]:
    """Exploitability; with rake, what may be said of it and what not."""
    words = f"{solution.percent_of_pot:.3g}% of the pot ({solution.exploitability:.4g} chips)"
    if solution.zero_sum:
        yield f"exploitability {words}"
        return
    first, second = solution.gains
    yield f"a best response gains oop {first:.4g}, ip {second:.4g} chips; on average {words}"
    yield "with rake a spot is not zero-sum: it has no value, and these strategies promise nothing against others"
