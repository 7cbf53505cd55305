"""A job on disk: one folder, whose files are whole or not there.

``job.json`` is the server's; ``progress.json``, ``outcome.json`` and ``stderr.txt`` are the worker's, which holds the
folder's lock while it lives.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from treeplex.errors import ParameterError
from treeplex.files import LOCK, locked, replace_text
from treeplex.web.logs import percent_of
from treeplex.web.runs import json_file

HOME: Final = ".treeplex-jobs"
QUEUED, RUNNING, DONE, STOPPED, FAILED = "queued", "running", "done", "stopped", "failed"
ENDED: Final = (DONE, STOPPED, FAILED)


@dataclass
class Job:
    """What was asked for, and what has become of it."""

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
    stopping: bool = False  # the user asked for its end
    error: str | None = None

    def write(self, home: Path) -> None:
        """Keep it, whole."""
        folder = home / self.job
        folder.mkdir(exist_ok=True)
        replace_text(folder / "job.json", json.dumps(asdict(self), indent=1) + "\n")

    def told(self, home: Path) -> dict[str, Any]:
        """As the API tells it."""
        outcome = outcome_of(home / self.job) if self.state in ENDED else {}
        return {
            "job": self.job,
            "what": self.what,
            "title": self.title,
            "state": self.state,
            "stopping": self.stopping and self.state == RUNNING,
            "game": self.game,
            "run": self.run,
            "error": self.error,
            "created": self.created,
            "progress": self._progress(json_file(home / self.job / "progress.json") or {}),
            "result": outcome.get("result"),
        }

    def _progress(self, said: dict[str, Any]) -> dict[str, Any]:
        rows = [row[:3] for row in said.get("rows", [])]
        last, target = rows[-1][2] if rows else None, self.limits.get("nash_conv")
        return {
            "iteration": said.get("iteration", 0),
            "seconds": said.get("seconds", 0.0),
            "nash_conv": last,
            "percent_of_pot": self._percent(last),
            "target": target,
            "target_percent_of_pot": self._percent(target),
            "limits": self.limits,
            "compiling": bool(said.get("compiling")),
            "text": said.get("text", ""),
            "rows": rows[-1:] if self.state in ENDED else rows,
            "additions": said.get("additions"),
        }

    def rows(self, home: Path) -> list[list[Any]]:
        """iteration, seconds, NashConv and nodes of every evaluation so far."""
        return (json_file(home / self.job / "progress.json") or {}).get("rows", [])

    def _percent(self, nash_conv: float | None) -> float | None:
        return None if nash_conv is None or not self.pot else percent_of(nash_conv, self.pot)


def read_jobs(home: Path) -> list[Job]:
    """All jobs that are kept, oldest first; what is none is left alone."""
    found: list[Job] = []
    for path in home.iterdir():
        fields = json_file(path / "job.json") if path.name.isdigit() else None
        with suppress(TypeError):
            if fields is not None and fields.get("job") == path.name:
                found.append(Job(**fields))
    return sorted(found, key=lambda job: int(job.job))


def outcome_of(folder: Path) -> dict[str, Any]:
    """How the worker ended; empty if it did not say."""
    return json_file(folder / "outcome.json") or {}


def is_alive(folder: Path) -> bool:
    """Is there a worker? Asked only of folders whose worker has had its time to start."""
    try:
        with locked(folder):
            return False
    except ParameterError:
        return True


def process_of(folder: Path) -> int | None:
    """The worker's process."""
    try:
        return int((folder / LOCK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def last_words(folder: Path) -> str:
    """The last line that the worker left on stderr."""
    try:
        with (folder / "stderr.txt").open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(file.tell() - 4096, 0))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def delete(home: Path, job: str) -> None:
    """Forget it."""
    shutil.rmtree(home / job, ignore_errors=True)
