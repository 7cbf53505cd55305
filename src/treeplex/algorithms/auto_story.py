"""What ``auto`` did, and why, in one line for people."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from treeplex.algorithms.portfolio import LP
from treeplex.algorithms.protocol import Extras

LED, PROGRAM_FAILED, PROGRAM_ROUGH = range(3)


class Event(NamedTuple):
    """A decision."""

    what: int  # of a member, that it leads (LED); of the linear program, that it failed or was not accurate enough
    member: int
    iteration: int  # of the leader until then
    ratio: float  # its forecast over the leader's, when it was decided


class Raced(Extras):
    """Who ran, for how many iterations and how much counted work, and whose the answer is."""

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
        """The algorithm that gave the answer."""
        return self.names[self.answer]

    def note(self) -> str:
        """As ``Extras``."""
        led = next((one for one in reversed(self.events) if (one.what, one.member) == (LED, self.answer)), None)
        kept = led is not None and led.iteration <= self.iterations[self.answer]
        since = f", the leader from {led.iteration:,} on" if led is not None and kept else ""
        answer = f"the answer is {self.solved_by}'s, after {self.iterations[self.answer]:,} iterations{since}"
        others = [self._about(place) for place in range(len(self.names)) if place != self.answer]
        return "; ".join([answer, *others])

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        every = sum(self.work) or 1.0
        shares = {name: round(own / every, 4) for name, own in zip(self.names, self.work, strict=True)}
        return {"solved_by": self.solved_by, "share_of_work": shares, "note": self.note()}

    def _about(self, place: int) -> str:
        """What became of someone else."""
        if not self.iterations[place]:
            return f"{self.names[place]} did not begin"
        share = self.work[place] / (sum(self.work) or 1.0)
        said = f"{self.names[place]} took {share:.0%} of the work, {self.iterations[place]:,} iterations"
        if self.names[place] == LP:
            ended = {one.what for one in self.events}
            failed = "was not accurate enough" if PROGRAM_ROUGH in ended else "was not done"
            return f"{said}, and {'failed' if PROGRAM_FAILED in ended else failed}"
        ratio = self.forecasts[place] / (self.forecasts[self.answer] or math.nan)
        return f"{said}, and seemed to need {ratio:.2g} times as long" if math.isfinite(ratio) else said
