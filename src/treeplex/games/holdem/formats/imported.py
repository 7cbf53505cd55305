"""What a reader of another program's files hands back, and what a writer does: never less than was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treeplex.errors import FormatError
from treeplex.games.holdem.spot import Spot, make_spot


@dataclass(frozen=True)
class Imported:
    """The fields of a spot, or ``ranges`` by name, and in ``notes`` what the file says that they do not hold.

    ``partial``: the format has no board and no ranges, so they are given beside the file. ``target``: how close to
    equilibrium the file asks a solver to come, such as ``0.3%pot``.
    """

    fields: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    target: str = ""
    ranges: Mapping[str, str] | None = None
    partial: bool = False

    @property
    def spot(self) -> Spot:
        """The spot, if the file has all of it."""
        return make_spot(self.fields)

    def all_notes(self) -> tuple[str, ...]:
        """The notes, and the accuracy that was asked for."""
        goal = f"the file asks for an accuracy of {self.target}: give it as --exploitability {self.target}"
        return (*self.notes, goal) if self.target else self.notes


@dataclass(frozen=True)
class Exported:
    """A text in another program's format, and what that format cannot hold."""

    text: str
    notes: tuple[str, ...] = ()


def number(text: str, what: str, line: int = 0) -> float:
    """A finite number, whole ones as int; ``what``: the thing it is."""
    try:
        value = float(text) if len(text) < 40 else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e15:
        raise FormatError(f"{what} must be a number, got {text[:40]!r}.", line=line, column=1)
    return int(value) if value == int(value) else value
