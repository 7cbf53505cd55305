"""When a run evaluates its strategies: fixed by counted work, the target and the rows measured so far, not by a clock.

So a run that was cut anywhere and resumed has the same log, on any machine. The first 50 iterations are evaluated at
1, 2, 3, 5, 8, ...; after them evaluations stay below a share of the work. A run that has a target has fewer of them
while it is far off. Near it, the next evaluation is at the iteration where NashConv, falling along its last slope,
should meet the target, whatever the budget: to go on for nothing costs more than to look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from treeplex.algorithms.protocol import Cost
from treeplex.runs.log import LogRow

FREE: Final = 50  # iterations during which evaluations are not limited by their cost
EARLY: Final = 1.5  # up to there, each row is at this many times the iterations of the one before
LATER: Final = 1.1  # and after
AIMING: Final = 1.2  # and after, in a run that has a target
SHARE: Final = 0.06  # of the work after FREE iterations that evaluations may be
NEAR: Final = 1.5  # times the iterations so far: a target that should be met before is near
APART: Final = 3.0  # evaluations near the target: iterations between them, in what an evaluation costs
LOOK_BACK: Final = 4  # rows from which the slope is taken
STEEPEST, FLATTEST = 3.0, 0.25  # bounds on the slope
NEVER: Final = 2**62  # an iteration that no run comes to


def next_evaluation(rows: Sequence[LogRow], cost: Cost, target: float | None) -> int:
    """The iteration of the next row of the log.

    ``rows``: those measured because they were due. ``target``: the NashConv at which the run stops.
    """
    if math.isinf(cost.evaluation):
        return NEVER  # measured at the end alone
    last = rows[-1].iteration if rows else 0
    step = EARLY if last < FREE else LATER if target is None else AIMING
    met = NEVER if target is None else crossing(rows, target)
    due = max(min(math.ceil(last * step), met), last + 1)
    if due <= FREE:
        return due
    each = cost.evaluation / cost.iteration
    spent = (1 + sum(row.iteration > FREE for row in rows)) * each
    due = max(due, FREE + math.ceil(spent * (1.0 - SHARE) / SHARE))
    return min(due, max(met, last + math.ceil(APART * each))) if met <= NEAR * last else due


def crossing(rows: Sequence[LogRow], target: float) -> int:
    """Where NashConv should fall to ``target``, along a straight line of its logarithms through the last rows."""
    late = rows[-LOOK_BACK:]
    if len(late) < LOOK_BACK or not target > 0.0 or not 0.0 < late[-1].nash_conv < late[0].nash_conv:
        return NEVER
    if late[-1].iteration <= late[0].iteration:
        return NEVER
    fall = math.log(late[0].nash_conv / late[-1].nash_conv)
    slope = min(max(fall / math.log(late[-1].iteration / late[0].iteration), FLATTEST), STEEPEST)
    steps = math.log(late[-1].nash_conv / target) / slope
    return max(math.ceil(late[-1].iteration * math.exp(min(steps, 40.0))), late[-1].iteration + 1)
