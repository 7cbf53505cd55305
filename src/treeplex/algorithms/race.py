"""How ``auto`` decides: who leads, how far the others follow, what the linear program gets. Pure functions.

NashConv of one member falls about as a power of its iterations. Along the power of its last rows, each member is taken
to reach the target after so much work in all, its *forecast*. The leader's iterations are the run's; the others follow
at half of them, because early rows say little: what is slow at first is often the fastest in the end. Who has a clearly
lower forecast than the leader catches up, step by step and as long as that stays so, and then leads.

The linear program tells nothing before it is done. It is granted a share of the work of the race so far, and never more
than a part of what the leader still needs: if it is slow, little is lost; if it is quick, it is done early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

FIRST: Final = 20  # iterations before the first row of the leader
STEP: Final = 1.4  # between decisions, as a factor of iterations
JOIN: Final = 34  # the first member is alone for so many iterations, after which it has been restarted once
FOLLOW: Final = 0.5  # of the leader's iterations, that the others do
WINDOW: Final = 4.0  # a slope is taken from a row of so many times fewer iterations on
FLATTEST, STEEPEST = 1.0, 6.0  # bounds on a slope
LEAD: Final = 0.8  # who needs less than this share of the leader's work leads
AIM: Final = 0.1  # without a target: who first gets to this share of the lowest NashConv
EXACT: Final = 1e-8  # without a target: what the leader is taken to be after, of the first NashConv, beside the program
PROGRAM: Final = 150  # iterations before the linear program is granted anything: forecasts are too rough before
SHARE: Final = 0.7  # of the work of the race so far, that the linear program may take in all
FAR_SHARE: Final = 8.0  # the same while the target is far
FAR: Final = 32.0  # which it is if the leader needs so many times the work so far
PART: Final = 0.35  # of what the leader still needs, that the linear program may take in all
LEAST: Final = 0.3  # the linear program begins when it is granted so many iterations per row: few need less


class Row(NamedTuple):
    """What was measured of a member."""

    iteration: int
    work: float  # counted nanoseconds so far, without measuring
    nash_conv: float


def forecast(rows: Sequence[Row], target: float) -> float:
    """Work to ``target``, in all, along the last slope of the logarithms; infinite where too little was measured."""
    if not rows:
        return math.inf
    now = rows[-1]
    if now.nash_conv <= target:
        return now.work
    before = next((row for row in reversed(rows) if row.iteration * WINDOW <= now.iteration), rows[0])
    if before.iteration >= now.iteration or not target > 0.0:
        return math.inf
    fall = math.log(before.nash_conv / now.nash_conv)
    slope = min(max(fall / math.log(now.iteration / before.iteration), FLATTEST), STEEPEST)
    more = now.iteration * math.expm1(min(math.log(now.nash_conv / target) / slope, 600.0))
    return now.work + more * (now.work - rows[-2].work) / (now.iteration - rows[-2].iteration)


def aim_of(target: float | None, rows: Sequence[Sequence[Row]]) -> float:
    """The NashConv that forecasts are made for."""
    return target if target else AIM * min(own[-1].nash_conv for own in rows if own)


def joining(due: int) -> bool:
    """Is this the decision at which the others join the first member?"""
    return JOIN <= due < math.ceil(STEP * JOIN)


def following(due: int, rows: Sequence[Row]) -> list[int]:
    """The iterations at which a member that does not lead is measured now, given the rows it has."""
    done = rows[-1].iteration if rows else 0
    if joining(due):
        return [goal for goal in (due // 2, due) if goal > done]  # two rows: a slope
    goal = math.ceil(FOLLOW * due)
    return [goal] if due >= JOIN and goal >= STEP * done else []


def challenger(forecasts: Sequence[float], leader: int) -> int | None:
    """Who seems to need clearly less than the leader."""
    best = min(range(len(forecasts)), key=lambda place: forecasts[place])
    return best if forecasts[best] < LEAD * forecasts[leader] else None


def later(iteration: int) -> int:
    """The iteration of the decision after one, and of the next row of who catches up."""
    return math.ceil(STEP * iteration)


def allowance(work: float, left: float) -> float:
    """The work that the linear program may have taken by now, if the race has taken ``work`` and needs ``left``."""
    return min(PART * left, (FAR_SHARE if left > FAR * work else SHARE) * work)
