"""Progress of a run as one line: quality, iterations, rate and time left, for terminals and notebooks."""

from __future__ import annotations

import math
import sys
import time
from contextlib import suppress
from html import escape
from typing import Any, Final

from treeplex.limits import Limits
from treeplex.runs.log import LogRow
from treeplex.runs.loop import Progress

COMPILING: Final = "compiling kernels, once on this machine; this does not count as solving"
LOOK_BACK: Final = 12  # rows of the log used to estimate the time left
MOST: Final = 700.0  # largest exponent that does not overflow
SHOWN_AFTER: Final = 2.0  # seconds before a notebook shows anything
RENEWED: Final = 0.5  # seconds between two updates of the notebook's line


def progress_line(title: str, progress: Progress, limits: Limits, pot: float | None = None) -> str:
    """Format NashConv, iterations, rate and time left as one line; hold'em spots in per cent of the pot."""
    if progress.compiling:
        return f"{title}: {COMPILING} ({progress.compiling} so far)"
    rate = progress.iteration / max(progress.seconds, 1e-9)
    parts = [f"iteration {progress.iteration:,}", f"{rate:,.0f} it/s" if rate >= 10 else f"{rate:.2g} it/s"]
    if progress.rows and not math.isnan(progress.rows[-1].nash_conv):
        parts.insert(0, _quality(progress.rows[-1], pot))
    if progress.stage:
        parts.insert(0, progress.stage)
    left = seconds_left(progress, limits)
    if left is not None:
        parts.append(f"about {duration(left)} left")
    return f"{title}: {', '.join(parts)}"


def _quality(row: LogRow, pot: float | None) -> str:
    """Format NashConv, or exploitability in per cent of the pot."""
    if pot is None:
        return f"NashConv {row.nash_conv:.3g}"
    return f"exploitability {100.0 * row.exploitability / pot:.3g}% of the pot"


def seconds_left(progress: Progress, limits: Limits) -> float | None:
    """Estimate the seconds to the nearest limit; NashConv is assumed to fall along its last log-log slope."""
    done = max(progress.iteration, 1)
    guesses: list[float] = []
    if limits.seconds is not None:
        guesses.append(limits.seconds - progress.seconds)
    if limits.iterations is not None:
        guesses.append((limits.iterations - done) * progress.seconds / done)
    if limits.nash_conv:  # a slope never reaches zero
        slope = _slope(progress.rows[-LOOK_BACK:])
        if slope is not None:
            more = (math.log(progress.rows[-1].nash_conv) - math.log(limits.nash_conv)) / slope
            guesses.append(progress.rows[-1].seconds * math.exp(min(more, MOST)) - progress.seconds)
    return max(min(guesses), 0.0) if guesses and min(guesses) < 1e9 else None


def _slope(rows: list[LogRow]) -> float | None:
    """Return the power at which NashConv falls with iterations; None if it does not fall."""
    if len(rows) < LOOK_BACK or rows[0].nash_conv <= rows[-1].nash_conv or rows[-1].nash_conv <= 0.0:
        return None
    fall = math.log(rows[0].nash_conv / rows[-1].nash_conv)
    return max(fall / math.log(rows[-1].iteration / rows[0].iteration), 0.1)


def duration(seconds: float) -> str:
    """Format seconds as s, min or h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def notebook() -> Any:
    """Return IPython's ``display`` in the kernel of a notebook, else None; import nothing."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return None
    return ipython.display


class NotebookLine:
    """A bar and a line below a notebook's cell, updated in place and removed at the end; not shown for short runs."""

    def __init__(self, display: Any, title: str, limits: Limits, pot: float | None = None) -> None:
        self._display, self._title, self._limits, self._pot = display, title, limits, pot
        self._due, self._shown = time.monotonic() + SHOWN_AFTER, None

    def watch(self, progress: Progress) -> None:
        """Show progress; the run loop calls this. Display errors never end a run."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + RENEWED
        with suppress(Exception):
            self._renew(progress)

    def _renew(self, progress: Progress) -> None:
        left = None if progress.compiling else seconds_left(progress, self._limits)
        bar = "<progress></progress>"
        if left is not None and progress.seconds > 0.0:
            bar = f'<progress max="1" value="{progress.seconds / (progress.seconds + left):.3f}"></progress>'
        self._show(f"{bar} {escape(progress_line(self._title, progress, self._limits, self._pot))}")

    def stop(self) -> None:
        """Remove the line from the notebook."""
        if self._shown is not None:
            self._show("")

    def _show(self, page: str) -> None:
        markup = self._display.HTML(page)
        if self._shown is None:
            self._shown = self._display.display(markup, display_id=True)
        else:
            self._shown.update(markup)
