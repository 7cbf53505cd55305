"""Reading of spots from JSON and TOML files, and from files of other programs, recognised by their content."""

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
    """Read a spot from a file in any known format; ``FILE#NAME`` selects one of several in a file.

    Settings in the file that a spot cannot represent cause a warning.
    """
    source = import_spot(path)
    if source.all_notes():
        warnings.warn(f"{Path(str(path)).name}: {'; '.join(source.all_notes())}", FormatNote, stacklevel=3)
    return make_spot(source.fields, f"The spot in {quoted(str(path))}")


def import_spot(path: str | Path, form: str | None = None, what: str = "spot") -> Imported:
    """Read a file, with notes about other settings; ``form``: its format, if the content does not determine it."""
    name = str(path).partition("#")[0]
    return imported(read_text(name, what, "TOML" if name.lower().endswith(".toml") else "JSON"), path, form, what)


def imported(text: str, path: str | Path, form: str | None = None, what: str = "spot") -> Imported:
    """Parse the text of a file; ``path``: the name of the file and of the part to select."""
    name, _, part = str(path).partition("#")
    form = form or detect(text, name)
    if form == OURS:
        toml = name.lower().endswith(".toml")
        return Imported(_fields(parsed(text, "TOML" if toml else "JSON", f"The {what} {quoted(name)}"), name, part))
    try:
        content = read(text, form, part)
    except FormatError as error:
        raise FormatError(str(error), path=quoted(name)) from error
    if content.ranges is not None and what == "spot":
        raise ParameterError(f"{quoted(name)} holds a range, not a spot: give it as --oop or --ip, or as a field.")
    return content


def _fields(fields: object, name: str, part: str) -> Any:
    """Return the fields of a spot in treeplex's own format, unchecked."""
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
