"""The protocol of problems: everything that a run, its folder and its users need to know of a game."""

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
"""Kinds of problems, as ``run.json`` records them."""

PAYOFF, POT = "payoff", "pot"
"""Units of NashConv: payoffs of the rules, or chips, which are also reported in per cent of a pot."""


class ProblemRecord(Protocol):
    """Fields of ``run.json`` from which a problem is loaded again."""

    @property
    def kind(self) -> str:
        """Kind of the problem, such as ``GAME``."""
        ...

    @property
    def game(self) -> str:
        """Name of the game or spot."""
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
        """Further options that identify the problem."""
        ...


class Listing(NamedTuple):
    """A table that is printed with a solution."""

    columns: list[str]
    rows: list[list[str]]
    right: tuple[int, ...] = ()  # columns that are aligned to the right


class Problem(ABC):
    """A game to solve, and how. Algorithms use ``game``; a run never looks into it."""

    kind: ClassVar[str]
    game: Any
    noun: ClassVar[str] = ""  # added to the name of a run folder in place of the algorithm
    unmeasured: ClassVar[str] = ""  # why NashConv cannot be a target; empty: it can

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the problem, as users write it."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A short hash of everything that decides the answer."""

    @property
    def source(self) -> Any:
        """Source that loads the problem again: a name, a spot's fields; None: the object that the user passed."""
        return None

    @property
    def options(self) -> dict[str, Any]:
        """Further options that identify a run, as JSON."""
        return {}

    @property
    def pot(self) -> float | None:
        """Chips that exploitability is measured against; None if payoffs have no pot."""
        return None

    @property
    def unit(self) -> str:
        """Unit in which users state targets."""
        return PAYOFF if self.pot is None else POT

    @property
    def notice(self) -> str:
        """One line about choices made for the user; empty: none."""
        return ""

    @property
    def iterate(self) -> str | None:
        """Strategies to report, if the problem decides that; None: the user does."""
        return None

    @abstractmethod
    def default_limits(self, ends: bool) -> Limits:
        """Return the limits of a run without any; ``ends``: whether its algorithm ends by itself."""

    def fit(self, choice: Choice) -> Choice:
        """Return the algorithm, named as this problem runs it; raise if it cannot solve the problem."""
        return choice

    def save(self, folder: Path) -> None:  # noqa: B027 - most problems have nothing to save
        """Save the data that ``source`` cannot load again."""

    @abstractmethod
    def describe(self, solution: Any, show: int) -> Iterator[str | Listing]:
        """Yield the solution as lines and tables. ``show``: the number of infosets per player, or of sizes."""

    def advice(self, folder: Path) -> str:
        """Return a hint how to inspect the run in a folder."""
        return "see its README.md"


@contextmanager
def reading_options() -> Generator[None]:
    """Convert errors from wrong options of a run's record into one ``ParameterError``."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ParameterError(f"The options of the run are not what treeplex writes ({error}).") from error


def shortened(rows: Sequence[list[str]], show: int) -> list[list[str]]:
    """Return the first rows of a table, and a row that counts the others."""
    left = len(rows) - show
    more = [[f"... {left:,} more", *[""] * (len(rows[0]) - 1)]] if left > 0 else []
    return [*rows[:show], *more]
