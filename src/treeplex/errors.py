"""Errors and warnings of treeplex. A message names the problem, what is legal, and how to fix it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, Final, TypeVar

Number = TypeVar("Number", int, float)

LONGEST: Final = 300
"""Largest number of characters of a message. The middle of a longer one is cut out."""

SHOWN: Final = 80
"""Largest number of characters that a message quotes of a value."""


class TreeplexError(Exception):
    """An error that a user can act on. The command line prints its message and exits with code 2."""

    def __init__(self, sentence: str) -> None:
        sentence, end = " ".join(sentence.splitlines()), LONGEST // 3
        super().__init__(sentence if len(sentence) <= LONGEST else f"{sentence[: 2 * end - 1]}…{sentence[-end:]}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and attributes, independently of the constructor's arguments."""
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
    """A remark for the user. The command line prints it as a line on stderr."""


class FormatNote(Note):
    """A setting in another program's file that treeplex cannot represent."""


class MissingExtraError(TreeplexError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}'; install it with: pip install 'treeplex[{extra}]'")


class SolverError(TreeplexError, RuntimeError):
    """An exact solver stopped without an answer. It is not raised for a run that has merely not converged."""


def quoted(value: object) -> str:
    """Repr of a value for messages: on one line, at most 80 characters, the last ones of a path."""
    if isinstance(value, PurePath):
        shown = repr(str(value))
        return shown if len(shown) <= SHOWN else f"'…{shown[2 - SHOWN :]}"
    try:
        shown = repr(value[:SHOWN] if isinstance(value, str | bytes) else value)
    except Exception:  # a user's ``__repr__`` failed, or a number has more digits than Python prints
        shown = ""
    return brief(shown or f"<{type(value).__name__}>")


def brief(text: str) -> str:
    """Return at most 80 characters of a text, on one line."""
    shown = " ".join(text[: 4 * SHOWN].split())
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"


def non_negative(name: str, value: object) -> int:
    """Return ``value`` as an int; raise ParameterError unless it is an integer >= 0."""
    return within(int, name, value, "an integer >= 0", 0)


def within(kind: type[Number], name: str, value: object, law: str, low: float, high: float = math.inf) -> Number:
    """Return ``value`` as a ``kind``; raise ParameterError, quoting ``law``, unless it is from ``low`` to ``high``.

    If ``kind`` is int the number must be whole. Numeric types of any library are accepted, and floats without a
    fraction as integers, such as ``1e6``.
    """
    number = real(value)
    if number is None or not low <= number <= high or (kind is int and number % 1):
        raise ParameterError(f"The '{name}' parameter must be {law}, got {quoted(value)}.")
    return kind(number)


def real(value: object) -> int | float | None:
    """Convert a number of any type to int or float; None if it is not a number, or too large for a float."""
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
