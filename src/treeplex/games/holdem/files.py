"""What JSON and TOML files hold, or a sentence that says why they cannot be read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.files import parse_json


def read_file(path: str | Path, what: str) -> Any:
    """The contents of a file: TOML if its name ends so, else JSON. ``what``: the thing that it should describe."""
    file = Path(path)
    form, place = ("TOML" if file.suffix.lower() == ".toml" else "JSON"), f"The {what} {quoted(str(file))}"
    return parsed(read_text(path, what, form), form, place)


def read_text(path: str | Path, what: str, form: str = "text") -> str:
    """The text of a file; ``form``: what it is hoped to be."""
    file = Path(path)
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ParameterError(f"The {what} {quoted(str(file))} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        place = f"The {what} {quoted(str(file))}"
        raise FormatError(f"not {form}: byte {error.start} is not UTF-8.", path=place) from error
    except ValueError as error:
        raise ParameterError(f"The {what} {quoted(str(file))} cannot be read: that is no name of a file.") from error


def parsed(text: str, form: str, place: str) -> Any:
    """What JSON or TOML says; ``place``: where it stands."""
    try:
        return tomllib.loads(text) if form == "TOML" else parse_json(text)
    except RecursionError as error:
        raise FormatError(f"not {form} that can be read: too deeply nested.", path=place) from error
    except ValueError as error:
        reason = " ".join(str(error).split())[:80]
        raise FormatError(f"not {form} ({reason}).", path=place) from error
