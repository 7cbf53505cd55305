"""The progress line of a run: a bar on a terminal, a line every two seconds elsewhere."""

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
    """How far something has come, on stderr: a bar on a terminal, a line every two seconds elsewhere."""

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
        """Clear the bar."""
        if self._bar:
            self._bar.stop()

    def is_due(self, *, now: bool = False) -> bool:
        """Is it time for another line, or wanted ``now``? Then the next one is due in two seconds."""
        if not now and time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + EVERY
        return True


class ProgressLine(LiveLine):
    """NashConv, iterations, rate and time left of a run."""

    def __init__(self, title: str, limits: Limits, pot: float | None = None) -> None:
        super().__init__(f"{title}: starting", SpinnerColumn(), TextColumn("{task.description}", markup=False))
        self._title, self._limits, self._pot = title, limits, pot

    def watch(self, progress: RunProgress) -> None:
        """What the run loop calls; whatever cannot be shown does not end a run."""
        with suppress(Exception):
            if self._bar:
                self._bar.update(self._task, description=self._line(progress))
            elif self.is_due(now=progress.compiling == 1):
                say(self._line(progress))

    def _line(self, progress: RunProgress) -> str:
        return progress_line(self._title, progress, self._limits, self._pot)
