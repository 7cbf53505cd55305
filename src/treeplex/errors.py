"""What treeplex says when it must refuse: one sentence, naming what is wrong, what is legal and what to do."""

from __future__ import annotations

import math
from typing import TypeVar

Number = TypeVar("Number", int, float)


def quoted(value: object) -> str:
    """``repr`` of what came, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class TreeplexError(Exception):
    """A refusal a user can act on. The command line prints its sentence and exits with code 2."""


class ParameterError(TreeplexError, ValueError):
    """A parameter, name or option is not legal."""


class GameError(TreeplexError, ValueError):
    """The rules of a game are not those of a solvable game (two players, zero-sum, perfect recall, finite)."""


class FormatError(TreeplexError, ValueError):
    """A file does not follow its format. ``line`` and ``column`` count from 1."""

    def __init__(self, sentence: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        place = path or "input"
        if line:
            place += f", line {line}, column {column}"
        super().__init__(f"{place}: {sentence}")
        self.line = line
        self.column = column


class MissingExtraError(TreeplexError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}'; install it with: pip install 'treeplex[{extra}]'")


class SolverError(TreeplexError, RuntimeError):
    """An exact solver stopped without an answer; never raised for a run that merely has not converged."""


def non_negative(name: str, value: object) -> int:
    """An integer that is not negative, or a refusal."""
    return within(int, name, value, "an integer >= 0", 0)


def within(kind: type[Number], name: str, value: object, law: str, low: float, high: float = math.inf) -> Number:
    """A number from ``low`` to ``high``, whole if ``kind`` is int; or a refusal that states the ``law``."""
    whole = int if kind is int else int | float
    if isinstance(value, bool) or not isinstance(value, whole) or not low <= value <= high:
        raise ParameterError(f"The '{name}' parameter must be {law}, got {value!r}.")
    return kind(value)
