"""Lock folders: one that is new, empty, or recorded as ours is used; any other is rejected and never touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.files import is_ours, locked, parse_json, reason, remove_leftovers, replace_text


def folder_of(folder: object, name: str = "folder") -> Path:
    """Return the path of a folder that a user named, or raise ``ParameterError``."""
    text = str(folder) if isinstance(folder, str | Path) else ""
    try:
        legal = bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeError:
        legal = False
    if not legal:
        raise ParameterError(f"The '{name}' parameter must be the path of a folder, got {quoted(folder)}.")
    return Path(text)


@contextmanager
def claimed(folder: str | Path, records: tuple[str, ...], check: Callable[[Path], None]) -> Generator[Path]:
    """Create a folder if needed, lock it against other processes, and yield its path.

    ``records``: names of files that describe a folder in use. If one of them exists, ``check`` is called, and raises if
    the folder is used for something else. A folder with other files and no record is rejected.
    """
    path = folder_of(folder)
    with _write_errors(path):
        _inspect(path, records, check)
        path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        with _write_errors(path):
            _inspect(path, records, check)
            remove_leftovers(path)
        yield path


@contextmanager
def _write_errors(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ParameterError(f"The run folder {path} cannot be written: {reason(error)}; choose another.") from error


def _inspect(path: Path, records: tuple[str, ...], check: Callable[[Path], None]) -> None:
    """Raise ``ParameterError`` if the folder is not ours; write nothing."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"The run folder must be a folder, but {path} is a file; choose another.")
    if not path.is_dir() or all(is_ours(entry.name) for entry in path.iterdir()):
        return
    if not any((path / name).is_file() for name in records):
        raise ParameterError(f"The folder {path} is not empty and holds no run; choose another.")
    check(path)


@contextmanager
def claimed_for(folder: str | Path, kind: str, purpose: Mapping[str, Any]) -> Generator[Path]:
    """Lock a folder for something other than one run, recorded in ``KIND.json``; an equal purpose may reuse it."""
    name, fields = f"{kind}.json", {"format": f"treeplex-{kind}-1"} | dict(purpose)

    def check(path: Path) -> None:
        try:
            recorded: Any = parse_json((path / name).read_text(encoding="utf-8"))
            other = next((key for key in fields if recorded.get(key) != fields[key]), None)
        except (OSError, ValueError, AttributeError) as error:
            raise FormatError(f"not what treeplex writes ({error!s:.80}).", path=str(path / name)) from error
        if other is not None:
            raise ParameterError(
                f"The folder {path} holds a {kind} with another {other} ({recorded.get(other)!r:.80}); choose another"
                " folder."
            )

    with claimed(folder, (name,), check) as path:
        replace_text(path / name, json.dumps(fields, indent=1) + "\n")
        yield path
