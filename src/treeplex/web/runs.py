"""Run folders as rows of a list: request and progress. Files are replaced whole, so they can be read during a run."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.files import LOCK
from treeplex.runs.folder import RunFolder
from treeplex.runs.request import Record
from treeplex.system import is_alive
from treeplex.web.directory import Directory
from treeplex.web.logs import about_checkpoint, percent_of, rows_of_checkpoint

RECORDS: Final = ("run.json", "result.json", "checkpoint.safetensors", LOCK)
LARGEST: Final = 2**24  # limit on the bytes of a JSON file
NAMELESS: Final = "The folder's name is not UTF-8; rename it."

Answer = TypeVar("Answer")
JobOf = Callable[[str], str | None]
"""A function that returns the job that works on a run, if any."""


class FolderSnapshot(NamedTuple):
    """The row of a run folder at its last reading."""

    stamps: tuple[Any, ...]
    row: dict[str, Any]


class Runs:
    """All runs below a folder. Unchanged runs are not read again."""

    def __init__(self, directory: Directory, job_of: JobOf) -> None:
        self.directory, self.job_of = directory, job_of
        self._seen: dict[str, FolderSnapshot] = {}
        self._lock = threading.Lock()

    def listed(self) -> dict[str, list[dict[str, Any]]]:
        """Return one row per run, newest first, and the folders that cannot be read."""
        rows, unreadable, names = list[dict[str, Any]](), list[dict[str, Any]](), set[str]()
        for run, folder in self.directory.runs():
            names.add(run)
            shown = os.fsencode(run).decode(errors="replace")
            try:
                if shown != run:
                    raise ParameterError(NAMELESS)
                rows.append(self._row(run, folder))
            except OSError:  # being deleted
                continue
            except TreeplexError as error:
                unreadable.append({"run": shown, "error": str(error)})
        with self._lock:
            for gone in self._seen.keys() - names:
                del self._seen[gone]
        return {"runs": sorted(rows, key=lambda row: -row["changed"]), "unreadable": unreadable}

    def whole(self, run: str) -> dict[str, Any]:
        """Return one run with its request, its result and the names of its files."""
        folder = self.directory.folder(run)
        record = record_of(folder)
        files = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
        return self._row(run, folder) | {
            "request": json_file(folder / "run.json"),
            "result": json_file(folder / "result.json"),
            "spot": spot_of(folder, record),
            "files": files,
        }

    def state(self) -> int:
        """Return a hash that changes whenever the list of runs changes."""
        return hash(tuple((run, _stamps(folder)) for run, folder in self.directory.runs()))

    def _row(self, run: str, folder: Path) -> dict[str, Any]:
        stamps = _stamps(folder)
        with self._lock:
            look = self._seen.get(run)
        if look is None or look.stamps != stamps:
            look = FolderSnapshot(stamps, _readable(run, lambda: _read(run, folder)))
            with self._lock:
                self._seen[run] = look
        running = is_running(folder)
        status = "running" if running else "stopped" if look.row["status"] == "running" else look.row["status"]
        return look.row | {"status": status, "job": self.job_of(run)}


def record_of(folder: Path) -> Record:
    """Return the record of a run."""
    path = folder / "run.json"
    if path.stat().st_size > LARGEST:
        raise ParameterError(f"The file {path.name} of {quoted(folder.name)} has more than {LARGEST:,} bytes.")
    return _readable(folder.name, lambda: RunFolder.open(folder).record)


def spot_of(folder: Path, record: Record) -> dict[str, Any] | None:
    """Return the fields of the spot, with the sizes that growth added; None for other games."""
    return record.spot and (json_file(folder / "spot.json") or dict(record.spot))


def json_file(path: Path, largest: int = LARGEST) -> dict[str, Any] | None:
    """Return the JSON object in a file; None if there is none or the file has more than ``largest`` bytes."""
    try:
        if path.stat().st_size > largest:
            return None
        content: Any = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: None)
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None  # pyright: ignore[reportUnknownVariableType]


def is_running(folder: Path) -> bool:
    """Return whether a living process has locked this folder."""
    try:
        with (folder / LOCK).open("rb") as file:
            return is_alive(int(file.read(20)))
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def _readable(run: str, read: Callable[[], Answer]) -> Answer:
    """Return the result of ``read``; turn any error into a refusal of one sentence."""
    try:
        return read()
    except (TreeplexError, OSError):
        raise
    except Exception as error:
        raise ParameterError(
            f"The run {quoted(run)} has files that treeplex did not write ({type(error).__name__}: {error!s:.80})."
        ) from error


def _read(run: str, folder: Path) -> dict[str, Any]:
    record = record_of(folder)
    pot, locks = record.pot, record.options.get("locks")
    row: dict[str, Any] = {
        "run": run,
        "kind": record.kind,
        "game": record.game,
        "algorithm": record.asked,
        **_result(folder),
        "changed": max((stamp[0] for stamp in _stamps(folder)[:-1] if stamp is not None), default=0) / 1e9,
        "locks": len(cast(list[Any], locks)) if isinstance(locks, list) else 0,
        "job": None,
    }
    known = isinstance(row["nash_conv"], int | float) and pot
    row["percent_of_pot"] = number_of(percent_of(row["nash_conv"], pot)) if known and pot else None
    return row


def _result(folder: Path) -> dict[str, Any]:
    """Return how the run ended, or the checkpoint's progress during a run and after a kill."""
    result = json_file(folder / "result.json") or {}
    answered, saved = _stamp(folder / "result.json"), _stamp(folder / "checkpoint.safetensors")
    fields = {
        "status": _text(result.get("status"), "stopped"),
        "nash_conv": number_of(result.get("nash_conv")),
        "iterations": number_of(result.get("iterations")),
        "seconds": number_of(result.get("seconds")),
        "nodes": number_of(result.get("nodes_touched")),
    }
    if saved is None or (answered is not None and answered >= saved):
        return fields
    rows = rows_of_checkpoint(folder / "checkpoint.safetensors")  # a list does not read logs
    if rows:
        last = rows[-1]
        seconds = number_of(about_checkpoint(folder / "checkpoint.safetensors").get("seconds"))
        fields |= {"nash_conv": number_of(last.nash_conv), "iterations": last.iteration, "nodes": last.nodes_touched}
        fields |= {"seconds": last.seconds if seconds is None else seconds}
    return fields | {"status": "stopped"}


def _stamps(folder: Path) -> tuple[Any, ...]:
    return tuple(_stamp(folder / name) for name in RECORDS)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def number_of(value: object) -> float | int | None:
    """Return a finite number in the range of a float, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= sys.float_info.max else None


def _text(value: object, otherwise: str) -> str:
    return value if isinstance(value, str) else otherwise
