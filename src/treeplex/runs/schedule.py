"""When a run evaluates its strategies: fixed by counted work, the target and the rows measured so far, not by a clock.

So a run that was cut anywhere and resumed has the same log, on any machine. The first 50 iterations are evaluated at
1, 2, 3, 5, 8, ...; after them evaluations stay below a share of the work. What is saved while the target is far off is
spent near it: the next evaluation is at the iteration where NashConv, falling along its last slope, should meet the
target, if the budget allows.
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
SHARE: Final = 0.06  # of the work after FREE iterations that evaluations may be
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
    due = max(last + 1, math.ceil(last * (EARLY if last < FREE else LATER)))
    if target is not None:
        due = min(due, crossing(rows, target))
    if due <= FREE:
        return max(due, last + 1)
    spent = (1 + sum(row.iteration > FREE for row in rows)) * cost.evaluation / cost.iteration
    affordable = FREE + math.ceil(spent * (1.0 - SHARE) / SHARE)
    return max(due, affordable, last + 1)


def crossing(rows: Sequence[LogRow], target: float) -> int:
    """Where NashConv should fall to ``target``, along a straight line of its logarithms through the last rows."""
    late = rows[-LOOK_BACK:]
    if len(late) < LOOK_BACK or not target > 0.0 or not 0.0 < late[-1].nash_conv < late[0].nash_conv:
        return NEVER
    fall = math.log(late[0].nash_conv / late[-1].nash_conv)
    slope = min(max(fall / math.log(late[-1].iteration / late[0].iteration), FLATTEST), STEEPEST)
    steps = math.log(late[-1].nash_conv / target) / slope
    return max(math.ceil(late[-1].iteration * math.exp(min(steps, 40.0))), late[-1].iteration + 1)
