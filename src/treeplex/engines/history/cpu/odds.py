"""How walks with thresholds choose strategies, and when an action is worth pruning. Maths: ``kernels.reference``.

Parts of the kernels in ``threshold_walk``. Float64; no fastmath.
"""

from __future__ import annotations

import math

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.history.arrays import BEHAVIOUR, MEAN, REGRET, SEEN, SQUARES
from treeplex.jit import Index, inlined
from treeplex.updates.exponential import exp_below_zero
from treeplex.updates.hedge import MATCHING, step_size


@inlined
def observe(tallies: Floats, i: Index, value: float, times: float) -> None:
    """Mean and squares of v(I), which was ``value`` in each of the next ``times`` iterations."""
    if times > 0.0:
        seen = tallies[i, SEEN]
        off, share = value - tallies[i, MEAN], times / (seen + times)
        tallies[i, MEAN] += off * share
        tallies[i, SQUARES] += off * off * seen * share
        tallies[i, SEEN] = seen + times


@inlined
def choose(
    first: Ints,
    cells: Floats,
    tallies: Floats,
    open_: Ints,
    opened: Ints,
    freedom: Floats,
    span: Floats,
    limit: Floats,
    kind: int,
    infoset: Index,
    t: float,
) -> None:
    """The strategy of an infoset after iteration ``t``, over the actions that are not pruned, thresholded."""
    i = np.uint64(infoset)
    begin = np.uint64(first[i])
    end = begin + np.uint64(opened[i])
    best, total = -np.inf, 0.0
    for free in range(begin, end):
        best = max(best, cells[np.uint64(open_[free]), REGRET])
    eta = 0.0
    if kind != MATCHING:
        eta = step_size(kind, freedom[i], span[i], tallies[i, SQUARES], t)
    for free in range(begin, end):
        s = np.uint64(open_[free])
        if kind != MATCHING:
            odds = exp_below_zero((cells[s, REGRET] - best) * eta)
        elif best > 0.0:
            odds = max(cells[s, REGRET], 0.0) / best
        else:
            odds = 1.0
        cells[s, BEHAVIOUR] = odds
        total += odds
    least = limit[i] / math.sqrt(t + 1.0) * total
    total = 0.0
    for free in range(begin, end):
        s = np.uint64(open_[free])
        if cells[s, BEHAVIOUR] < least and cells[s, BEHAVIOUR] < 1.0:  # the best action has odds of one, and stays
            cells[s, BEHAVIOUR] = 0.0
        total += cells[s, BEHAVIOUR]
    for free in range(begin, end):
        cells[np.uint64(open_[free]), BEHAVIOUR] /= total


@inlined
def all_odds(first: Ints, cells: Floats, open_: Ints, opened: Ints, infoset: Index, eta: float, best: float) -> float:
    """Sum over the open actions of exp(eta (R - best))."""
    i = np.uint64(infoset)
    begin = np.uint64(first[i])
    total = 0.0
    for free in range(begin, begin + np.uint64(opened[i])):
        total += exp_below_zero((cells[np.uint64(open_[free]), REGRET] - best) * eta)
    return total


@inlined
def largest_regret(first: Ints, cells: Floats, open_: Ints, opened: Ints, infoset: Index) -> float:
    """The largest regret of an infoset's open actions."""
    i = np.uint64(infoset)
    begin = np.uint64(first[i])
    best = -np.inf
    for free in range(begin, begin + np.uint64(opened[i])):
        best = max(best, cells[np.uint64(open_[free]), REGRET])
    return best


@inlined
def worth_pruning(
    regret: float, best: float, total: float, eta: float, least: float, drift: float, t: float, patience: float
) -> bool:
    """Is an open action below the threshold, and at its drift so far, for more than ``patience`` iterations to come?"""
    own = exp_below_zero((regret - best) * eta)
    if own >= least * total or own >= 1.0:
        return False
    allowed = best + math.log(least / (1.0 - least) * (total - own)) / eta  # the regret that reaches the threshold
    return (allowed - regret) * t > patience * drift
