"""Schedule of evaluations: fixed by counted work, the target and the rows measured so far, not by a clock.

So a run that was interrupted anywhere and resumed has the same log, on any machine. The first 50 iterations are
evaluated at 1, 2, 3, 5, 8, ...; after them evaluations take at most a fixed fraction of the work. A run with a target
has fewer of them while it is far from it. Near the target, the next evaluation is at the iteration where NashConv,
falling along its last slope, should meet it. It may exceed the fraction: iterating in vain costs more than evaluating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from treeplex.algorithms.protocol import Cost
from treeplex.runs.log import LogRow

FREE: Final = 50  # iterations during which the cost of evaluations is not limited
EARLY: Final = 1.5  # until then, each row is at this multiple of the previous row's iterations
LATER: Final = 1.1  # the multiple afterwards
AIMING: Final = 1.2  # the multiple afterwards, in a run that has a target
SHARE: Final = 0.06  # largest fraction of the work after FREE iterations that evaluations take
NEAR: Final = 1.5  # a target is near if it should be met before this multiple of the iterations so far
APART: Final = 3.0  # iterations between evaluations near the target, in costs of an evaluation
LOOK_BACK: Final = 4  # rows through which the slope is fitted
STEEPEST, FLATTEST = 3.0, 0.25  # bounds on the slope
NEVER: Final = 2**62  # an iteration that no run reaches


def next_evaluation(rows: Sequence[LogRow], cost: Cost, target: float | None) -> int:
    """Return the iteration of the next row of the log.

    ``rows``: rows that were measured because they were due. ``target``: the NashConv at which the run stops.
    """
    if math.isinf(cost.evaluation):
        return NEVER  # measured only at the end
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
    """Predict the iteration where NashConv falls to ``target``, by a line through the last rows in log-log scale."""
    late = rows[-LOOK_BACK:]
    if len(late) < LOOK_BACK or not target > 0.0 or not 0.0 < late[-1].nash_conv < late[0].nash_conv:
        return NEVER
    if late[-1].iteration <= late[0].iteration:
        return NEVER
    fall = math.log(late[0].nash_conv / late[-1].nash_conv)
    slope = min(max(fall / math.log(late[-1].iteration / late[0].iteration), FLATTEST), STEEPEST)
    steps = math.log(late[-1].nash_conv / target) / slope
    return max(math.ceil(late[-1].iteration * math.exp(min(steps, 40.0))), late[-1].iteration + 1)
