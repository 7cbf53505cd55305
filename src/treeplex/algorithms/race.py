"""Decisions of ``auto``: which member leads, how much work the others get, and the linear program's budget.

All functions here are pure. NashConv of a member falls roughly as a power of its iterations. Extrapolating the power
of its last rows gives its *forecast*: the total work to reach the target. The leader's iterations are the run's. The
other members follow with a share of its work. None is dropped, because early rows say little: what is slow at first
is often the fastest in the end. A member that seems to need less work from now on than the leader catches up, step by
step, and leads once it has caught up if that is still so. Shares depend on whether the target is near or distant
(``portfolio``): ``dcfr`` and ``sapcfr+``, often the best to 1e-5 of the first NashConv, were the best to 1e-8 in no
game that takes 0.1 seconds.

Constants were chosen by replaying the trajectories of ``benchmarks/portfolio`` (``simulate.py``), with targets and
costs perturbed at random by some tenths. Games set aside there were not used.

The linear program gives no information before it ends. If its typical cost is small compared with the leader's
remaining work, it is granted several times that cost at once. Otherwise it is granted a share of the race's work so
far, but never more than a fraction of the leader's remaining work. A slow program then costs little, and a quick one
ends early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

FIRST: Final = 14  # iterations before the first row of the leader
STEP: Final = 1.4  # between decisions, as a factor of iterations
JOIN: Final = 20  # iterations of the first member alone: games with pure equilibria need no more
BEGIN: Final = 8  # iterations of a member before its first row
STRIDE: Final = 2.0  # between rows of a member that does not lead, as a factor of iterations
WINDOW: Final = 2.0  # a slope starts at a row with at least this factor fewer iterations
FLATTEST, STEEPEST = 1.0, 10.0  # bounds on a slope
AIM: Final = 0.1  # without a target, forecasts aim at this fraction of the lowest NashConv
EXACT: Final = 1e-8  # target of the leader beside the program if the run has none, relative to its first NashConv
DISTANT: Final = 1e-6  # a target below this fraction of the first member's first NashConv is distant
SOON: Final = 200  # iterations before the linear program may be granted its typical cost
TYPICAL: Final = 0.4  # typical iterations per row of the program: games took 0.2 to 1.4, half of them at most this
EAGER: Final = 0.05  # the typical cost must be below this fraction of the leader's remaining work
MOST: Final = 50.0  # the typical cost may be at most this multiple of the work so far
GENEROUS: Final = 4.0  # the program is then granted this multiple of its typical cost
PROGRAM: Final = 600  # iterations before the linear program is granted a share; earlier forecasts are too rough
SHARE: Final = 0.5  # the program's total budget, as a fraction of the race's work so far
FAR_SHARE: Final = 4.0  # the same budget while the target is far
FAR: Final = 32.0  # the target is far if the leader needs this multiple of the work so far
PART: Final = 0.3  # upper bound of the budget, relative to the leader's remaining work
LEAST: Final = 0.3  # the program starts once granted this many iterations per row; few need less


class MemberRow(NamedTuple):
    """A measurement of a member."""

    iteration: int
    work: float  # counted nanoseconds so far, without measurements
    nash_conv: float


def forecast(rows: Sequence[MemberRow], target: float) -> float:
    """Return the total work to reach ``target``, extrapolated on log scales; infinite where too little was measured."""
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
    """Return the NashConv that forecasts are made for."""
    return target if target else AIM * min(own[-1].nash_conv for own in rows if own)


def is_distant(target: float | None, rows: Sequence[Sequence[MemberRow]]) -> bool:
    """Whether the target is far below the first NashConv of the first member."""
    return target is not None and bool(rows[0]) and target < DISTANT * rows[0][0].nash_conv


def next_row(done: int) -> int:
    """Return the iteration at which a member that does not lead is measured next."""
    return max(math.ceil(STRIDE * done), BEGIN)


def still_needed(rows: Sequence[MemberRow], target: float) -> float:
    """Return the remaining work of the forecast. Work already done does not count in a member's favour."""
    return forecast(rows, target) - (rows[-1].work if rows else 0.0)


def challenger(needed: Sequence[float], leader: int) -> int | None:
    """Return the member that seems to need the least work from now on, or None if that is the leader."""
    best = min(range(len(needed)), key=lambda member: needed[member])
    return best if needed[best] < needed[leader] else None


def later(iteration: int) -> int:
    """Return the iteration of the next decision, and of the next row of a member that catches up."""
    return math.ceil(STEP * iteration)


def allowance(due: int, work: float, left: float, typical: float) -> float:
    """Return the total work that the linear program may have used by iteration ``due``.

    ``work``: of the race so far. ``left``: remaining work of the leader. ``typical``: typical work of such programs.
    """
    share = min(PART * left, (FAR_SHARE if left > FAR * work else SHARE) * work) if due >= PROGRAM else 0.0
    eager = due >= SOON and typical <= min(EAGER * left, MOST * work)
    return max(share, GENEROUS * typical) if eager else share
