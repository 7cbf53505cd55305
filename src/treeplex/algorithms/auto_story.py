"""What ``auto`` did, and why, in one line for people."""

from __future__ import annotations

from typing import Any, NamedTuple

from treeplex.algorithms.portfolio import LP
from treeplex.algorithms.protocol import Extras

LED, PARKED, RECALLED, PROGRAM_FAILED, PROGRAM_ROUGH = range(5)


class Event(NamedTuple):
    """A decision."""

    what: int  # of a member, LED, PARKED or RECALLED; of the linear program, FAILED or not accurate enough (ROUGH)
    member: int
    iteration: int  # of the leader
    ratio: float  # its forecast over the leader's, when it was decided


class Raced(Extras):
    """Who ran, for how many iterations and how much counted work, and whose the answer is."""

    def __init__(
        self,
        names: tuple[str, ...],
        iterations: tuple[int, ...],
        work: tuple[float, ...],
        answer: int,
        events: tuple[Event, ...],
    ) -> None:
        self.names, self.iterations, self.work, self.answer, self.events = names, iterations, work, answer, events

    @property
    def solved_by(self) -> str:
        """The algorithm that gave the answer."""
        return self.names[self.answer]

    def note(self) -> str:
        """As ``Extras``."""
        others = [self._about(place) for place in range(len(self.names)) if place != self.answer]
        answer = f"the answer is {self.solved_by}'s, after {self.iterations[self.answer]:,} iterations"
        return "; ".join([answer, *others])

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        every = sum(self.work) or 1.0
        shares = {name: round(own / every, 4) for name, own in zip(self.names, self.work, strict=True)}
        return {"solved_by": self.solved_by, "share_of_work": shares, "note": self.note()}

    def _about(self, place: int) -> str:
        """What became of someone else."""
        share = self.work[place] / (sum(self.work) or 1.0)
        said = f"{self.names[place]} took {share:.0%} of the work, {self.iterations[place]:,} iterations"
        last = next((one for one in reversed(self.events) if one.member == place and one.what != RECALLED), None)
        if last is None:
            return f"{said}, and was not done" if self.names[place] == LP else said
        reasons = {
            PARKED: f"until it seemed to need {last.ratio:.2g} times as long",
            LED: f"and led from {last.iteration:,} on for a while",
            PROGRAM_FAILED: "and failed",
            PROGRAM_ROUGH: "and was not accurate enough",
        }
        return f"{said}, {reasons[last.what]}"
