"""CFR with Hedge in every infoset, equation by equation (Brown, Kroer & Sandholm 2017, sections 2, 3 and 5).

With R the regrets and VAR(I) the variance of the values v(I) after t iterations, Delta(I) the range of payoffs below I:

    eta = sqrt(8 ln |A|) / (Delta(I) sqrt(t))                         THEORY
    eta = sqrt(ln |A|) / (3 sqrt(VAR(I)) sqrt(t))                     VARIANCE
    sigma(a) = exp(eta R(a)) / sum over b of exp(eta R(b))            (8)
    sigma(a) = 0 if it is below limit(I) / sqrt(t + 1); then all are divided by their new sum

In VARIANCE, 3 sqrt(VAR(I)) is kept between ``LEAST_SPREAD`` times Delta(I) and Delta(I), which keeps the guarantee of
convergence (the paper's footnote 1); while nothing has varied it is Delta(I). An infoset whose limit is zero is not
thresholded.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import LEAST_SPREAD, SIMULTANEOUS, VARIANCE, HedgeLearner
from treeplex.engines.sequence.reference.operators import earn
from treeplex.engines.sequence.reference.treeplex import sequence_weights


def hedge_rate(kind: int, freedom: float, span: float, squares: float, t: float) -> float:
    """eta after t iterations, with ``freedom`` = ln |A|, ``span`` = Delta(I), ``squares`` = t times VAR(I)."""
    if kind == VARIANCE:
        spread = span if squares == 0.0 else min(max(3.0 * np.sqrt(squares / t), LEAST_SPREAD * span), span)
        return float(np.sqrt(freedom / t) / spread)
    return float(np.sqrt(8.0 * freedom / t) / span)


def cut(strategy: Floats, least: float) -> Floats:
    """Dynamic thresholding: what is below ``least`` becomes zero, the rest is divided by its sum; the largest stays."""
    kept = np.where((strategy < least) & (strategy < strategy.max()), 0.0, strategy)
    return kept / kept.sum()


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
    for i, share in enumerate(weight):
        t = start + i + 1.0
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
        for player in (0, 1):
            if turns != SIMULTANEOUS:
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
            learner, (first, parent) = learners[player], treeplexes[player]
            learner.average[:] += share * learner.weights
            for infoset in range(len(parent) - 1, -1, -1):
                own = slice(first[infoset], first[infoset + 1])
                expected = float(learner.behaviour[own] @ values[player][own])
                learner.regret[own] += values[player][own] - expected
                values[player][parent[infoset]] += expected
                off = expected - learner.mean[infoset]
                learner.mean[infoset] += off / t
                learner.squares[infoset] += off * (expected - learner.mean[infoset])
                freedom, span = freedoms[player][infoset], spans[player][infoset]
                eta = hedge_rate(kind, freedom, span, learner.squares[infoset], t)
                likely = np.exp(eta * (learner.regret[own] - learner.regret[own].max()))
                learner.behaviour[own] = cut(likely / likely.sum(), limits[player][infoset] / np.sqrt(t + 1.0))
            sequence_weights(treeplexes[player], learner.behaviour, learner.weights)
