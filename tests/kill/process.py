"""The command as a process: started, watched, signalled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LONGEST = 300.0  # seconds: nothing takes that long unless it hangs


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit code {self.code}, stderr {self.err[-300:]!r}, stdout {self.out[-100:]!r}"


class Process:
    """One command, whose output goes to files: a pipe that nobody reads would stop it."""

    def __init__(self, args: list[str], place: Path, env: dict[str, str], **options: Any) -> None:
        name = f".stream-{time.monotonic_ns()}"
        self._paths = [place / f"{name}-{kind}" for kind in ("out", "err")]
        with self._paths[0].open("wb") as out, self._paths[1].open("wb") as err:
            streams = {"stdout": out, "stderr": err} | options
            command = [sys.executable, "-m", "treeplex", *args]
            self._process = subprocess.Popen(command, cwd=place, env={**os.environ, **env}, **streams)
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> Ended:
        """Wait for it."""
        try:
            code = self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = 1000  # it hangs
        texts = [path.read_text(errors="replace") if path.exists() else "" for path in self._paths]
        for path in self._paths:
            path.unlink(missing_ok=True)
        return Ended(code, *texts)


def start(args: list[str], place: Path, env: dict[str, str] | None = None, **options: Any) -> Process:
    return Process(args, place, env or {}, **options)


def run(args: list[str], place: Path, env: dict[str, str] | None = None, **options: Any) -> Ended:
    return start(args, place, env, **options).ended()


def handles_signals(process: Process) -> None:
    """Wait until the first lines of the command have run: before that Python itself has not started."""
    status = Path(f"/proc/{process.pid}/status")
    wanted = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        try:
            caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        except (OSError, StopIteration):
            time.sleep(0.3)  # not Linux, or it has just ended
            return
        if int(caught.split()[1], 16) & wanted:
            return
        time.sleep(0.001)


def limited(which: int, size: int) -> Callable[[], None]:
    """For ``preexec_fn``: a limit on what the process may use."""
    import resource  # noqa: PLC0415 - not on Windows

    return lambda: resource.setrlimit(which, (size, size))
