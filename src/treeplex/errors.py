"""What treeplex says when it must refuse: one sentence, naming what is wrong, what is legal and what to do."""

from __future__ import annotations

import math
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, Final, TypeVar

Number = TypeVar("Number", int, float)

LONGEST: Final = 300
"""Characters of a sentence: what is longer loses its middle."""

SHOWN: Final = 80
"""Characters that a sentence quotes of what it was given."""


class TreeplexError(Exception):
    """A refusal a user can act on. The command line prints its sentence and exits with code 2."""

    def __init__(self, sentence: str) -> None:
        sentence, end = " ".join(sentence.splitlines()), LONGEST // 3
        super().__init__(sentence if len(sentence) <= LONGEST else f"{sentence[: 2 * end - 1]}…{sentence[-end:]}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by what it says: whatever the arguments it was made of."""
        return _again, (type(self), self.args, dict(self.__dict__))


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


class Note(UserWarning):
    """Something worth knowing; the command line shows it as a line on stderr."""


class FormatNote(Note):
    """What a file of another program says, and what was made of it cannot hold."""


class MissingExtraError(TreeplexError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}'; install it with: pip install 'treeplex[{extra}]'")


class SolverError(TreeplexError, RuntimeError):
    """An exact solver stopped without an answer; never raised for a run that merely has not converged."""


def quoted(value: object) -> str:
    """What came, as a sentence quotes it: its repr, on one line, at most 80 characters of it; of a path the last."""
    if isinstance(value, PurePath):
        shown = repr(str(value))
        return shown if len(shown) <= SHOWN else f"'…{shown[2 - SHOWN :]}"
    try:
        shown = repr(value[:SHOWN] if isinstance(value, str | bytes) else value)
    except Exception:  # a repr of the user's own, or a number of more digits than Python prints
        shown = ""
    return brief(shown or f"<{type(value).__name__}>")


def brief(text: str) -> str:
    """At most 80 characters of a text, on one line."""
    shown = " ".join(text[: 4 * SHOWN].split())
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"


def non_negative(name: str, value: object) -> int:
    """An integer that is not negative, or a refusal."""
    return within(int, name, value, "an integer >= 0", 0)


def within(kind: type[Number], name: str, value: object, law: str, low: float, high: float = math.inf) -> Number:
    """A number from ``low`` to ``high``, whole if ``kind`` is int; or a refusal that states the ``law``.

    Numbers of any library will do, and for whole ones floats without a fraction: ``1e6``.
    """
    number = real(value)
    if number is None or not low <= number <= high or (kind is int and number % 1):
        raise ParameterError(f"The '{name}' parameter must be {law}, got {quoted(value)}.")
    return kind(number)


def real(value: object) -> int | float | None:
    """An int or float of whatever type of number; None if it is none, or too large for a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return int(value) if isinstance(value, Integral) else number


def _again(kind: type[TreeplexError], arguments: tuple[Any, ...], state: dict[str, Any]) -> TreeplexError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(state)
    return error
