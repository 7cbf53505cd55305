"""How ``auto`` decides: who leads, who waits, what the linear program gets. Pure functions of what was measured.

NashConv of one member falls about as a power of its iterations. Along the power of its last rows, each member is taken
to reach the target after so much work in all, its *forecast*. The member with the least one leads; others run along
while theirs is close, wait when it is not, and are called back when the leader turns out to be slower than they were.

The linear program tells nothing before it is done. It is granted a share of the work of the race so far, and never more
than a part of what the leader still needs: if it is slow, little is lost; if it is quick, it is done early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

FIRST: Final = 16  # iterations before anything is decided
STEP: Final = 1.2  # between decisions, as a factor of iterations
WINDOW: Final = 4.0  # a slope is taken from a row of so many times fewer iterations on
FLATTEST, STEEPEST = 1.0, 3.0  # bounds on a slope
ROWS: Final = 4  # a member waits at the earliest after so many rows
PARK: Final = 1.3  # who needs so many times the leader's work waits
LEAD: Final = 0.8  # who needs less than this share of the leader's work leads
RECALL: Final = 0.7  # who waits and would have needed less than this share is called back
AIM: Final = 0.1  # without a target: who first gets to this share of the lowest NashConv
EXACT: Final = 1e-8  # without a target: what the leader is taken to be after, of the first NashConv, beside the program
SHARE: Final = 1.0  # of the work of the race so far, that the linear program may take in all
FAR_SHARE: Final = 8.0  # the same while the target is far
FAR: Final = 16.0  # which it is if the leader needs so many times the work so far
PART: Final = 1.5  # of what the leader still needs, that the linear program may take in all
LEAST: Final = 0.3  # the linear program begins when it is granted so many iterations per row: few need less


class Row(NamedTuple):
    """What was measured of a member."""

    iteration: int
    work: float  # counted nanoseconds so far
    nash_conv: float


def forecast(rows: Sequence[Row], target: float) -> float:
    """Work to ``target``, in all, along the last slope of the logarithms; infinite where nothing was measured."""
    if not rows:
        return math.inf
    now = rows[-1]
    if now.nash_conv <= target:
        return now.work
    before = next((row for row in reversed(rows) if row.iteration * WINDOW <= now.iteration), rows[0])
    if before.iteration >= now.iteration or not target > 0.0:
        return math.inf
    fall = math.log(before.nash_conv / now.nash_conv) if before.nash_conv > 0.0 else 0.0
    slope = min(max(fall / math.log(now.iteration / before.iteration), FLATTEST), STEEPEST)
    more = now.iteration * math.expm1(min(math.log(now.nash_conv / target) / slope, 600.0))
    last = rows[-2] if len(rows) > 1 else Row(0, 0.0, math.inf)
    return now.work + more * (now.work - last.work) / (now.iteration - last.iteration)


def aim_of(target: float | None, rows: Sequence[Sequence[Row]]) -> float:
    """The NashConv that forecasts are made for."""
    return target if target else AIM * min(own[-1].nash_conv for own in rows if own)


def leading(forecasts: Sequence[float], running: Sequence[bool], leader: int) -> int:
    """Who is to lead, of those who run."""
    best = min((place for place, runs in enumerate(running) if runs), key=lambda place: forecasts[place])
    return best if forecasts[best] < LEAD * forecasts[leader] else leader


def recalled(forecasts: Sequence[float], running: Sequence[bool], leader: int) -> list[int]:
    """Who has waited long enough."""
    bar = RECALL * forecasts[leader]
    return [place for place, own in enumerate(forecasts) if not running[place] and own < bar]


def parked(
    forecasts: Sequence[float], rows: Sequence[Sequence[Row]], running: Sequence[bool], leader: int
) -> list[int]:
    """Who is to wait."""
    bar = PARK * forecasts[leader]
    return [
        place
        for place, own in enumerate(forecasts)
        if place != leader and running[place] and len(rows[place]) >= ROWS and own > bar
    ]


def allowance(work: float, left: float) -> float:
    """The work that the linear program may have taken by now, if the race has taken ``work`` and needs ``left``."""
    return min(PART * left, (FAR_SHARE if left > FAR * work else SHARE) * work)
