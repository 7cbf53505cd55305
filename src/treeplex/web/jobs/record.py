"""A job on disk: one folder, whose files are always written whole.

The server writes ``job.json``. The worker writes ``progress.json``, ``outcome.json`` and ``stderr.txt``, and locks the
folder while it runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from treeplex.errors import ParameterError
from treeplex.files import LOCK, locked, replace_text
from treeplex.web.logs import percent_of
from treeplex.web.runs import json_file, number_of

HOME: Final = ".treeplex-jobs"
QUEUED, RUNNING, DONE, STOPPED, FAILED = "queued", "running", "done", "stopped", "failed"
UNCONFIRMED: Final = "unconfirmed"  # it came with the folder and waits for a person to start it
ENDED: Final = (DONE, STOPPED, FAILED)
STATES: Final = (QUEUED, RUNNING, *ENDED)
KINDS: Final = ("solve", "resume", "grow", "sizes")
NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
MOST: Final = 1000  # jobs that are read
LARGEST: Final = 2**25  # bytes of all jobs together
ROW: Final = 4  # iteration, seconds, NashConv, nodes
PAYLOAD_FIELDS: Final = ("job", "what", "title", "state", "stopping", "game", "run", "error", "created")
PROGRESS: Final = ("state", "stopping", "error", "signature")  # fields of a job that a signature does not cover


@dataclass
class JobRecord:
    """A job: its request and its state."""

    job: str
    what: str
    title: str
    created: float
    request: dict[str, Any]
    game: str | None = None
    run: str | None = None
    pot: float | None = None
    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    state: str = QUEUED
    stopping: bool = False  # the user has stopped it
    error: str | None = None
    signature: str = ""

    @property
    def request_fields(self) -> dict[str, Any]:
        """The fields of the request, which a signature covers."""
        return {name: value for name, value in asdict(self).items() if name not in PROGRESS}

    def write(self, home: Path) -> None:
        """Write the job to its folder, whole."""
        folder = home / self.job
        folder.mkdir(exist_ok=True)
        replace_text(folder / "job.json", json.dumps(asdict(self), indent=1) + "\n")

    def payload(self, home: Path) -> dict[str, Any]:
        """Return the job as the API's JSON."""
        outcome = outcome_of(home / self.job) if self.state in ENDED else {}
        foreign = self.state == UNCONFIRMED
        result: Any = outcome.get("result")
        return {name: getattr(self, name) for name in PAYLOAD_FIELDS} | {
            "stopping": self.stopping and self.state == RUNNING,
            "progress": self._progress({} if foreign else json_file(home / self.job / "progress.json") or {}),
            "result": result if isinstance(result, dict) else None,
        }

    def _progress(self, progress: dict[str, Any]) -> dict[str, Any]:
        rows = [row[:3] for row in _rows(progress)]
        last, target = rows[-1][2] if rows else None, number_of(self.limits.get("nash_conv"))
        text, additions = progress.get("text"), progress.get("additions")
        return {
            "iteration": number_of(progress.get("iteration")) or 0,
            "seconds": number_of(progress.get("seconds")) or 0.0,
            "nash_conv": last,
            "percent_of_pot": self._percent(last),
            "target": target,
            "target_percent_of_pot": self._percent(target),
            "limits": self.limits,
            "compiling": bool(progress.get("compiling")),
            "text": text if isinstance(text, str) else "",
            "rows": rows[-1:] if self.state in ENDED else rows,
            "additions": additions if isinstance(additions, list) else None,
        }

    def rows(self, home: Path) -> list[list[Any]]:
        """Return iteration, seconds, NashConv and nodes of every evaluation so far."""
        return _rows(json_file(home / self.job / "progress.json") or {})

    def _percent(self, nash_conv: float | None) -> float | None:
        return None if nash_conv is None or not self.pot else number_of(percent_of(nash_conv, self.pot))


JOBS: Final = TypeAdapter(JobRecord)


def read_jobs(home: Path) -> list[JobRecord]:
    """Return the newest jobs, oldest first; skip folders that are not jobs or contain links."""
    named = [path for path in home.iterdir() if NUMBER.fullmatch(path.name) and _is_plain(path)]
    jobs, left = list[JobRecord](), LARGEST
    for path in sorted(named, key=lambda path: -int(path.name))[:MOST]:
        with suppress(ValidationError, OSError):
            job = JOBS.validate_python(json_file(path / "job.json", left))
            left -= (path / "job.json").stat().st_size
            if job.job == path.name and job.what in KINDS and job.state in STATES:
                jobs.append(job)
    return jobs[::-1]


def _is_plain(folder: Path) -> bool:
    """Return whether a folder has only regular files. A link may lead anywhere, and a pipe blocks its reader."""
    try:
        with os.scandir(folder) as entries:
            return not folder.is_symlink() and all(entry.is_file(follow_symlinks=False) for entry in entries)
    except OSError:
        return False


def _rows(progress: dict[str, Any]) -> list[list[Any]]:
    """Return the valid rows of a log: numbers, of which NashConv may be missing."""
    rows: Any = progress.get("rows")
    valid: list[list[Any]] = []
    for row in cast(list[Any], rows) if isinstance(rows, list) else []:
        each = [number_of(value) for value in cast(list[Any], row)] if isinstance(row, list) else []
        if len(each) == ROW and all(value is not None for value in (*each[:2], *each[3:])):
            valid.append(each)
    return valid


def outcome_of(folder: Path) -> dict[str, Any]:
    """Return the worker's outcome; empty if it did not write one."""
    return json_file(folder / "outcome.json") or {}


def is_alive(folder: Path) -> bool:
    """Return whether a worker runs. Valid only after the worker had time to start."""
    try:
        with locked(folder):
            return False
    except ParameterError:
        return True


def process_of(folder: Path) -> int | None:
    """Return the process id of the worker, or None."""
    try:
        return int((folder / LOCK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def last_words(folder: Path) -> str:
    """Return the last line that the worker wrote to stderr."""
    try:
        with (folder / "stderr.txt").open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(file.tell() - 4096, 0))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def delete(home: Path, job: str) -> None:
    """Delete the folder of a job."""
    shutil.rmtree(home / job, ignore_errors=True)
