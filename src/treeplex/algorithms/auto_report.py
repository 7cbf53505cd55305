"""One line on what ``auto`` did, and why."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treeplex.algorithms.portfolio import LP
from treeplex.algorithms.protocol import Extras

LED, PROGRAM_FAILED, PROGRAM_ROUGH = range(3)


class Event(NamedTuple):
    """A decision of the race."""

    kind: int  # LED: a member leads; else the linear program failed or was not accurate enough
    member: int
    iteration: int  # iteration of the previous leader
    ratio: float  # its forecast divided by the leader's, at the decision


class AutoExtras(Extras):
    """Members of the race: their iterations, counted work, forecasts, and which one gave the answer."""

    def __init__(
        self,
        names: tuple[str, ...],
        iterations: tuple[int, ...],
        work: tuple[float, ...],
        forecasts: tuple[float, ...],
        answer: int,
        events: tuple[Event, ...],
    ) -> None:
        self.names, self.iterations, self.work, self.forecasts = names, iterations, work, forecasts
        self.answer, self.events = answer, events

    @property
    def solved_by(self) -> str:
        """Name of the algorithm that gave the answer."""
        return self.names[self.answer]

    def note(self) -> str:
        """As ``Extras``."""
        led = next((event for event in reversed(self.events) if (event.kind, event.member) == (LED, self.answer)), None)
        still_ahead = led is not None and led.iteration <= self.iterations[self.answer]
        since = f", the leader from {led.iteration:,} on" if led is not None and still_ahead else ""
        answer = f"the answer is {self.solved_by}'s, after {self.iterations[self.answer]:,} iterations{since}"
        others = [self._about(index) for index in range(len(self.names)) if index != self.answer]
        return "; ".join([answer, *others])

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        every = sum(self.work) or 1.0
        shares = {name: round(own / every, 4) for name, own in zip(self.names, self.work, strict=True)}
        return {"solved_by": self.solved_by, "share_of_work": shares, "note": self.note()}

    def _about(self, index: int) -> str:
        """Return what another member did."""
        if not self.iterations[index]:
            return f"{self.names[index]} did not begin"
        share = self.work[index] / (sum(self.work) or 1.0)
        text = f"{self.names[index]} took {share:.0%} of the work, {self.iterations[index]:,} iterations"
        if self.names[index] == LP:
            ended = {event.kind for event in self.events}
            failed = "was not accurate enough" if PROGRAM_ROUGH in ended else "was not done"
            return f"{text}, and {'failed' if PROGRAM_FAILED in ended else failed}"
        ratio = self.forecasts[index] / (self.forecasts[self.answer] or math.nan)
        return f"{text}, and seemed to need {ratio:.2g} times as long" if math.isfinite(ratio) else text
