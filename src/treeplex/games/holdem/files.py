"""Reading of JSON and TOML files, with errors that say why a file cannot be read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.files import parse_json


def read_file(path: str | Path, what: str) -> Any:
    """Read a file: TOML if its name ends so, otherwise JSON. ``what``: the kind of content, for errors."""
    file = Path(path)
    form, place = ("TOML" if file.suffix.lower() == ".toml" else "JSON"), f"The {what} {quoted(str(file))}"
    return parsed(read_text(path, what, form), form, place)


def read_text(path: str | Path, what: str, form: str = "text") -> str:
    """Read the text of a file; ``form``: the expected format, for errors."""
    file = Path(path)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ParameterError(f"The {what} {quoted(str(file))} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        place = f"The {what} {quoted(str(file))}"
        raise FormatError(f"not {form}: byte {error.start} is not UTF-8.", path=place) from error
    except ValueError as error:
        raise ParameterError(f"The {what} {quoted(str(file))} cannot be read: it is not a valid file name.") from error


def parsed(text: str, form: str, place: str) -> Any:
    """Parse JSON or TOML; ``place``: its source, for errors."""
    try:
        return tomllib.loads(text) if form == "TOML" else parse_json(text)
    except RecursionError as error:
        raise FormatError(f"not {form} that can be read: too deeply nested.", path=place) from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:80]
        raise FormatError(f"not {form} ({reason}).", path=place) from error
