"""Problem: what a run is about, and everything that the run, its folder and its doors need to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from treeplex.algorithms.registry import Choice
from treeplex.errors import ParameterError
from treeplex.limits import Limits

GAME, SPOT, GROWTH, EXPLORATION, SIZES = "game", "spot", "growth", "exploration", "sizes"
"""Kinds, as ``run.json`` records them."""

PAYOFF, POT = "payoff", "pot"
"""Units of NashConv: payoffs of the rules, or chips, which are also given in per cent of a pot."""


class ProblemRecord(Protocol):
    """The fields of ``run.json`` from which a problem is loaded again."""

    @property
    def kind(self) -> str:
        """See above."""
        ...

    @property
    def game(self) -> str:
        """The problem's name."""
        ...

    @property
    def source(self) -> Any:
        """A name, a spot's fields or a list of them, or None."""
        ...

    @property
    def algorithm(self) -> str:
        """The algorithm with every parameter."""
        ...

    @property
    def asked(self) -> str:
        """The algorithm as the user wrote it."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What else belongs to the problem's identity."""
        ...


class Listing(NamedTuple):
    """A table that is printed with a solution."""

    columns: list[str]
    rows: list[list[str]]
    right: tuple[int, ...] = ()  # columns that end flush


class Problem(ABC):
    """A game to solve, and how. ``game`` is what algorithms take; they look into it, a run does not."""

    kind: ClassVar[str]
    game: Any
    noun: ClassVar[str] = ""  # what it adds to the name of a run folder, in place of the algorithm
    unmeasured: ClassVar[str] = ""  # why NashConv cannot be a target; empty: it can

    @property
    @abstractmethod
    def name(self) -> str:
        """As people write it."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of everything that decides the answer."""

    @property
    def source(self) -> Any:
        """What loads the problem again: a name, a spot's fields. None: the object that the user gave."""
        return None

    @property
    def options(self) -> dict[str, Any]:
        """What else belongs to the identity of a run, as JSON."""
        return {}

    @property
    def pot(self) -> float | None:
        """Chips that exploitability is measured against; None where payoffs have no pot."""
        return None

    @property
    def unit(self) -> str:
        """The unit that people ask in."""
        return PAYOFF if self.pot is None else POT

    @property
    def notice(self) -> str:
        """What was chosen for the user, in one line; empty: nothing."""
        return ""

    @property
    def iterate(self) -> str | None:
        """Which strategies are reported, where the problem decides it; None: the user does."""
        return None

    @abstractmethod
    def default_limits(self, ends: bool) -> Limits:
        """Limits of a run that was given none; ``ends``: whether its algorithm ends by itself."""

    def fit(self, choice: Choice) -> Choice:
        """The algorithm, named as this problem runs it; rejected if it cannot solve the problem."""
        return choice

    def save(self, folder: Path) -> None:  # noqa: B027 - most problems have nothing to save
        """Save what ``source`` does not load again."""

    @abstractmethod
    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """The solution in words and tables. ``show``: the number of infosets per player, or of sizes."""

    def advice(self, folder: Path) -> str:
        """How to look at a run in a folder."""
        return "see its README.md"


@contextmanager
def reading_options() -> Generator[None]:
    """Convert whatever wrong options of a run's record lead to into one sentence."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ParameterError(f"The options of the run are not what treeplex writes ({error}).") from error


def shortened(rows: Sequence[list[str]], show: int) -> list[list[str]]:
    """The first rows of a table, and a row that counts the others."""
    left = len(rows) - show
    more = [[f"... {left:,} more", *[""] * (len(rows[0]) - 1)]] if left > 0 else []
    return [*rows[:show], *more]
