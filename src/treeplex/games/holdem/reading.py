"""Spots from files: our own JSON and TOML, and the files of other programs, told apart by their content."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, cast

from treeplex.errors import FormatError, FormatNote, ParameterError, quoted
from treeplex.games.holdem.files import parsed, read_text
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.formats.registry import OURS, detect, read
from treeplex.games.holdem.spot import Spot, make_spot


def read_spot(path: str | Path) -> Spot:
    """A spot from a file in any format that is known; ``FILE#NAME`` takes one of several in a file.

    What a file says and a spot cannot hold is told as a warning.
    """
    found = import_spot(path)
    if found.all_notes():
        warnings.warn(f"{Path(str(path)).name}: {'; '.join(found.all_notes())}", FormatNote, stacklevel=3)
    return make_spot(found.fields, f"The spot in {quoted(str(path))}")


def import_spot(path: str | Path, form: str | None = None, what: str = "spot") -> Imported:
    """What a file holds, and what it says beside; ``form``: its format, if it is not to be seen from the content."""
    name = str(path).partition("#")[0]
    return imported(read_text(name, what, "TOML" if name.lower().endswith(".toml") else "JSON"), path, form, what)


def imported(text: str, path: str | Path, form: str | None = None, what: str = "spot") -> Imported:
    """What the text of a file holds; ``path``: the name of the file, and which part of it."""
    name, _, part = str(path).partition("#")
    form = form or detect(text, name)
    if form == OURS:
        toml = name.lower().endswith(".toml")
        return Imported(_fields(parsed(text, "TOML" if toml else "JSON", f"The {what} {quoted(name)}"), name, part))
    try:
        found = read(text, form, part)
    except FormatError as error:
        raise FormatError(str(error), path=quoted(name)) from error
    if found.ranges is not None and what == "spot":
        raise ParameterError(f"{quoted(name)} holds a range, not a spot: give it as --oop or --ip, or as a field.")
    return found


def _fields(fields: object, name: str, part: str) -> Any:
    """The fields of a spot in a file of ours, as they stand there."""
    if not isinstance(fields, dict):
        raise FormatError("a spot must be a JSON or TOML object.", path=quoted(name))
    table = cast(dict[str, Any], fields)
    if "spots" not in table:
        if part:
            raise ParameterError(f"{quoted(name)} holds one spot: leave out {quoted('#' + part)}.")
        return table
    several = table["spots"]
    if not isinstance(several, dict):
        raise FormatError(
            f"'spots' must be an object with a spot for each name, got {quoted(several)}.", path=quoted(name)
        )
    named = cast(dict[str, Any], several)
    if part not in named:
        shown = ", ".join(key[:20] for key in list(named)[:6]) + (", ..." if len(named) > 6 else "")
        raise ParameterError(f"{quoted(name)} holds the spots {shown or '(none)'}: write FILE#NAME.")
    return named[part]
