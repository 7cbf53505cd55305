"""The progress line of a run: a bar on a terminal, a line every two seconds elsewhere."""

from __future__ import annotations

import math
import time

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from treeplex.cli.output import COMPILING, EVERY, console, say
from treeplex.runs.limits import Limits
from treeplex.runs.log import LogRow
from treeplex.runs.loop import Progress as Moment

LOOK_BACK = 12  # rows of the log from which the time left is estimated


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
        """What the run loop calls."""
        if self._bar:
            self._bar.update(self._task, description=self._line(moment))
        elif time.monotonic() >= self._due or moment.compiling == 1:
            self._due = time.monotonic() + EVERY
            say(self._line(moment))

    def _line(self, moment: Moment) -> str:
        if moment.compiling:
            return f"{self._title}: {COMPILING} ({moment.compiling} so far)"
        rate = moment.iteration / max(moment.seconds, 1e-9)
        parts = [f"iteration {moment.iteration:,}", f"{rate:,.0f} it/s" if rate >= 10 else f"{rate:.2g} it/s"]
        if moment.rows and not math.isnan(moment.rows[-1].nash_conv):
            parts.insert(0, self._quality(moment.rows[-1]))
        left = seconds_left(moment, self._limits)
        if left is not None:
            parts.append(f"about {duration(left)} left")
        return f"{self._title}: {', '.join(parts)}"

    def _quality(self, row: LogRow) -> str:
        """In the unit that people ask in: of a hold'em spot, per cent of the pot."""
        if self._pot is None:
            return f"NashConv {row.nash_conv:.3g}"
        return f"exploitability {100.0 * row.exploitability / self._pot:.3g}% of the pot"


def seconds_left(moment: Moment, limits: Limits) -> float | None:
    """The least of what the limits leave; NashConv is taken to go on falling along its last log-log slope."""
    done = max(moment.iteration, 1)
    guesses: list[float] = []
    if limits.seconds is not None:
        guesses.append(limits.seconds - moment.seconds)
    if limits.iterations is not None:
        guesses.append((limits.iterations - done) * moment.seconds / done)
    if limits.nash_conv is not None:
        slope = _slope(moment.rows[-LOOK_BACK:])
        if slope is not None:
            more = (moment.rows[-1].nash_conv / max(limits.nash_conv, 1e-300)) ** (1.0 / slope)
            guesses.append(moment.rows[-1].seconds * more - moment.seconds)
    return max(min(guesses), 0.0) if guesses and min(guesses) < 1e9 else None


def _slope(rows: list[LogRow]) -> float | None:
    """How fast NashConv falls with iterations, as a power; None where it does not."""
    if len(rows) < LOOK_BACK or rows[0].nash_conv <= rows[-1].nash_conv or rows[-1].nash_conv <= 0.0:
        return None
    fall = math.log(rows[0].nash_conv / rows[-1].nash_conv)
    return max(fall / math.log(rows[-1].iteration / rows[0].iteration), 0.1)


def duration(seconds: float) -> str:
    """For people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
