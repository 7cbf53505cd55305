"""CFR with Hedge in every infoset. Maths: ``engines.sequence.reference.hedge``.

Storage and accumulation float64; one thread; no fastmath. One exp an action, over whole arrays; two square roots an
infoset.
"""

from __future__ import annotations

import math

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import LEAST_SPREAD, SIMULTANEOUS, VARIANCE, HedgeLearner
from treeplex.engines.sequence.cpu.operators import earn
from treeplex.jit import kernel
from treeplex.updates.exponential import exp_all


@kernel
def hedge_rate(kind: int, freedom: float, span: float, squares: float, t: float) -> float:
    """eta after t iterations, with ``freedom`` = ln |A|, ``span`` = Delta(I), ``squares`` = t times VAR(I)."""
    if kind == VARIANCE:
        spread = span if squares == 0.0 else min(max(3.0 * math.sqrt(squares / t), LEAST_SPREAD * span), span)
        return math.sqrt(freedom / t) / spread
    return math.sqrt(8.0 * freedom / t) / span


@kernel
def learn(
    treeplex: Treeplex,
    learner: HedgeLearner,
    values: Floats,
    freedom: Floats,
    span: Floats,
    limit: Floats,
    kind: int,
    t: float,
    weight: float,
) -> None:
    """Average, regrets and next strategy of one player after iteration ``t``.

    ``learner`` and ``values`` are modified in place.
    """
    first, parent = treeplex
    regret, average, behaviour, weights, mean, squares = learner
    infosets = len(parent)
    end = np.uint64(first[infosets])
    for infoset in range(infosets - 1, -1, -1):
        start = np.uint64(first[infoset])
        expected = 0.0
        for s in range(start, end):
            expected += behaviour[s] * values[s]
        values[np.uint64(parent[infoset])] += expected
        off = expected - mean[infoset]
        mean[infoset] += off / t
        squares[infoset] += off * (expected - mean[infoset])
        eta = hedge_rate(kind, freedom[infoset], span[infoset], squares[infoset], t)
        best = -np.inf
        for s in range(start, end):
            regret[s] += values[s] - expected
            best = max(best, regret[s])
        for s in range(start, end):
            behaviour[s] = (regret[s] - best) * eta
        end = start
    behaviour[0] = 0.0
    exp_all(behaviour, len(behaviour))
    average[0] += weight
    slow = 1.0 / math.sqrt(t + 1.0)
    start = np.uint64(1)
    for infoset in range(np.uint64(infosets)):
        end = np.uint64(first[infoset + np.uint64(1)])
        above = weights[np.uint64(parent[infoset])]
        least = limit[infoset] * slow
        total, kept = 0.0, 0.0
        for s in range(start, end):
            total += behaviour[s]
        for s in range(start, end):
            if behaviour[s] < least * total and behaviour[s] < 1.0:  # the best action has exp(0) = 1, and stays
                behaviour[s] = 0.0
            kept += behaviour[s]
        for s in range(start, end):
            behaviour[s] /= kept
            average[s] += weight * weights[s]
            weights[s] = above * behaviour[s]
        start = end


@kernel
def hedge_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[HedgeLearner, HedgeLearner],
    values: tuple[Floats, Floats],
    freedoms: tuple[Floats, Floats],
    spans: tuple[Floats, Floats],
    limits: tuple[Floats, Floats],
    kind: int,
    start: int,
    weight: Floats,
    turns: int,
) -> None:
    """One iteration for each of ``weight``, numbered from ``start + 1``; ``learners``, ``values`` modified in place."""
    for i in range(len(weight)):
        t = start + i + 1.0
        earn(operator.rows, 1.0, learners[1].weights, values[0])
        if turns == SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[0], learners[0], values[0], freedoms[0], spans[0], limits[0], kind, t, weight[i])
        if turns != SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[1], learners[1], values[1], freedoms[1], spans[1], limits[1], kind, t, weight[i])
