"""Progress line of a run: a bar on a terminal, else a line every two seconds."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Self

from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from treeplex.cli.output import EVERY, console, say
from treeplex.limits import Limits
from treeplex.runs.loop import Progress as RunProgress
from treeplex.runs.progress import progress_line


class LiveLine:
    """Progress on stderr: a bar on a terminal, else a line every two seconds."""

    def __init__(self, words: str, *columns: ProgressColumn) -> None:
        self._due = time.monotonic() + EVERY
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
            self._task = self._bar.add_task(words, total=None)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar from the terminal."""
        if self._bar:
            self._bar.stop()

    def is_due(self, *, now: bool = False) -> bool:
        """Return whether another line is due, or forced by ``now``; if so, the next is due in two seconds."""
        if not now and time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + EVERY
        return True


class ProgressLine(LiveLine):
    """Progress line with NashConv, iterations, rate and time left of a run."""

    def __init__(self, title: str, limits: Limits, pot: float | None = None) -> None:
        super().__init__(f"{title}: starting", SpinnerColumn(), TextColumn("{task.description}", markup=False))
        self._title, self._limits, self._pot = title, limits, pot

    def watch(self, progress: RunProgress) -> None:
        """Show progress; the run loop calls this. Display errors never end a run."""
        with suppress(Exception):
            if self._bar:
                self._bar.update(self._task, description=self._line(progress))
            elif self.is_due(now=progress.compiling == 1):
                say(self._line(progress))

    def _line(self, progress: RunProgress) -> str:
        return progress_line(self._title, progress, self._limits, self._pot)
