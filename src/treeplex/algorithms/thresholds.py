"""CFR with dynamic thresholding around rules of the regret matching family, and partial pruning.

Hedge and regret matching with thresholds are in ``walk``: they have bounds by which to prune by regret.
"""

from __future__ import annotations

from typing import Final

from treeplex.algorithms.options import number, turn_order
from treeplex.algorithms.traversals import partial
from treeplex.algorithms.walk import WalkCFR
from treeplex.updates import Minimizer, PredictivePlus, RegretMatchingPlus
from treeplex.updates.family import as_function
from treeplex.updates.schedules import Schedule, linear, power
from treeplex.updates.thresholds import thresholded

MOST_D: Final = 1e3


def rm_plus_dt(d: float = 1.0, turns: str = "alternating") -> WalkCFR:
    """CFR+ with dynamic thresholding and partial pruning (Brown, Kroer & Sandholm 2017, section 3).

    The average is linear. Thresholds are those of Theorem 2, around the rule as in ``updates.thresholds``.
    """
    return _walk(RegretMatchingPlus(), "rm+", linear(), d, turns)


def pcfr_plus_dt(d: float = 1.0, turns: str = "alternating") -> WalkCFR:
    """Predictive CFR+ with dynamic thresholding and partial pruning, quadratic average; as ``rm_plus_dt``.

    Differs from ``pcfr_plus`` in: an infoset that is not reached does not learn, so it keeps its prediction.
    """
    return _walk(PredictivePlus(), "pcfr+", power(2.0), d, turns)


def _walk(minimizer: Minimizer, name: str, weight: Schedule, d: object, turns: str) -> WalkCFR:
    rule = thresholded(as_function(minimizer, name), number("d", d, 0.0, MOST_D))
    return WalkCFR(rule, weight, partial(), turn_order(turns))
