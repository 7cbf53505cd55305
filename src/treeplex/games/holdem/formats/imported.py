"""Results of reading and writing other programs' files, with notes about everything that is not represented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treeplex.errors import FormatError
from treeplex.games.holdem.spot import Spot, make_spot


@dataclass(frozen=True)
class Imported:
    """The fields of a spot, or ``ranges`` by name, and ``notes`` about settings of the file that they do not contain.

    ``partial``: the format has no board and no ranges, so the user gives them separately. ``target``: the accuracy that
    the file asks of a solver, such as ``0.3%pot``.
    """

    fields: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    target: str = ""
    ranges: Mapping[str, str] | None = None
    partial: bool = False

    @property
    def spot(self) -> Spot:
        """The spot, if the file is complete."""
        return make_spot(self.fields)

    def all_notes(self) -> tuple[str, ...]:
        """Return the notes, and a note about the file's accuracy."""
        goal = f"the file asks for an accuracy of {self.target}: give it as --exploitability {self.target}"
        return (*self.notes, goal) if self.target else self.notes


@dataclass(frozen=True)
class Exported:
    """A text in another program's format, and notes about what that format cannot represent."""

    text: str
    notes: tuple[str, ...] = ()


def number(text: str, what: str, line: int = 0) -> float:
    """Parse a finite number, whole ones as int; ``what``: its name, for errors."""
    try:
        value = float(text) if len(text) < 40 else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e15:
        raise FormatError(f"{what} must be a number, got {text[:40]!r}.", line=line, column=1)
    return int(value) if value == int(value) else value
