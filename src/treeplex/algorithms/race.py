"""How ``auto`` decides: who leads, how far the others follow, what the linear program gets. Pure functions.

NashConv of one member falls about as a power of its iterations. Along the power of its last rows, each member is taken
to reach the target after so much work in all, its *forecast*. The leader's iterations are the run's. The others follow
with a share of its work, because early rows say little: what is slow at first is often the fastest in the end. Who
seems to need less from now on than the leader catches up, step by step and as long as that stays so, and then leads.
Shares are those of a near or of a distant target (``portfolio``): ``dcfr`` and ``sapcfr+``, often the best to 1e-5 of
the first NashConv, were the best to 1e-8 in no game that takes 0.1 seconds.

Constants were chosen by replaying the trajectories of ``benchmarks/portfolio`` (``simulate.py``), targets and costs
changed at random by some tenths, without the games that are set aside there.

The linear program tells nothing before it is done. If what such programs usually take is little beside what the leader
seems to need, it is granted some times that at once. Else it is granted a share of the work of the race so far, and
never more than a part of what the leader still needs: if it is slow, little is lost; if it is quick, it is done early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

FIRST: Final = 14  # iterations before the first row of the leader
STEP: Final = 1.4  # between decisions, as a factor of iterations
JOIN: Final = 20  # the first member is alone for so many iterations: games with pure equilibria need no more
BEGIN: Final = 8  # iterations of who joins
STRIDE: Final = 2.0  # between the rows of who follows, as a factor of iterations
WINDOW: Final = 2.0  # a slope is taken from a row of so many times fewer iterations on
FLATTEST, STEEPEST = 1.0, 10.0  # bounds on a slope
AIM: Final = 0.1  # without a target: who first gets to this share of the lowest NashConv
EXACT: Final = 1e-8  # without a target: what the leader is taken to be after, of the first NashConv, beside the program
DISTANT: Final = 1e-6  # of the first member's first NashConv: a target below is distant
SOON: Final = 200  # iterations before the linear program may be granted what it usually takes
TYPICAL: Final = 0.4  # which is so many iterations per row of it: those of games took 0.2 to 1.4, half of them not more
EAGER: Final = 0.05  # if that is less than this part of what the leader still needs
MOST: Final = 50.0  # and not more than so many times the work so far
GENEROUS: Final = 4.0  # then it is granted so many times that
PROGRAM: Final = 600  # iterations before the linear program is granted a share: forecasts are too rough before
SHARE: Final = 0.5  # of the work of the race so far, that it may take in all
FAR_SHARE: Final = 4.0  # the same while the target is far
FAR: Final = 32.0  # which it is if the leader needs so many times the work so far
PART: Final = 0.3  # of what the leader still needs, that its share may be
LEAST: Final = 0.3  # it begins when it is granted so many iterations per row: few need less


class MemberRow(NamedTuple):
    """What was measured of a member."""

    iteration: int
    work: float  # counted nanoseconds so far, without measuring
    nash_conv: float


def forecast(rows: Sequence[MemberRow], target: float) -> float:
    """Work to ``target``, in all, along the last slope of the logarithms; infinite where too little was measured."""
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
    return now.work + more * (now.work - rows[-2].work) / (now.iteration - rows[-2].iteration)


def aim_of(target: float | None, rows: Sequence[Sequence[MemberRow]]) -> float:
    """The NashConv that forecasts are made for."""
    return target if target else AIM * min(own[-1].nash_conv for own in rows if own)


def is_distant(target: float | None, rows: Sequence[Sequence[MemberRow]]) -> bool:
    """Is the target far below what the first member had at first?"""
    return target is not None and bool(rows[0]) and target < DISTANT * rows[0][0].nash_conv


def next_row(done: int) -> int:
    """Of who does not lead: the iteration it is measured at next."""
    return max(math.ceil(STRIDE * done), BEGIN)


def still_needed(rows: Sequence[MemberRow], target: float) -> float:
    """What is left of the forecast: what was done before is lost, whoever leads."""
    return forecast(rows, target) - (rows[-1].work if rows else 0.0)


def challenger(needed: Sequence[float], leader: int) -> int | None:
    """Who seems to need less from now on than the leader."""
    best = min(range(len(needed)), key=lambda place: needed[place])
    return best if needed[best] < needed[leader] else None


def later(iteration: int) -> int:
    """The iteration of the decision after one, and of the next row of who catches up."""
    return math.ceil(STEP * iteration)


def allowance(due: int, work: float, left: float, typical: float) -> float:
    """The work that the linear program may have taken by iteration ``due``.

    ``work``: what the race has taken; ``left``: what the leader still needs; ``typical``: what such programs take.
    """
    share = min(PART * left, (FAR_SHARE if left > FAR * work else SHARE) * work) if due >= PROGRAM else 0.0
    eager = due >= SOON and typical <= min(EAGER * left, MOST * work)
    return max(share, GENEROUS * typical) if eager else share
