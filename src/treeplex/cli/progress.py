"""The progress line of a run: a bar on a terminal, a line every two seconds elsewhere."""

from __future__ import annotations

import time
from contextlib import suppress

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from treeplex.cli.output import EVERY, console, say
from treeplex.runs.limits import Limits
from treeplex.runs.loop import Progress as Moment
from treeplex.runs.progress import told


class ProgressLine:
    """NashConv, iterations, rate and time left, on stderr."""

    def __init__(self, title: str, limits: Limits, pot: float | None = None) -> None:
        self._title, self._limits, self._pot = title, limits, pot
        self._due = time.monotonic() + EVERY
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(f"{title}: starting", total=None)

    def __enter__(self) -> ProgressLine:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Clear the bar."""
        if self._bar:
            self._bar.stop()

    def watch(self, moment: Moment) -> None:
        """What the run loop calls; whatever cannot be shown does not end a run."""
        with suppress(Exception):
            if self._bar:
                self._bar.update(self._task, description=self._line(moment))
            elif time.monotonic() >= self._due or moment.compiling == 1:
                self._due = time.monotonic() + EVERY
                say(self._line(moment))

    def _line(self, moment: Moment) -> str:
        return told(self._title, moment, self._limits, self._pot)
