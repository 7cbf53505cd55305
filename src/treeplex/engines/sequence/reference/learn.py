"""What a player does with a gradient, equation by equation. Learners and ``values`` are modified in place.

    v(I) = sum over a of sigma(a) v(I, a),   r(a) = v(I, a) - v(I),   v(parent of I) += v(I)

Regret matching (``updates.protocol``):

    R(a) <- d+ x if x > 0, d- x otherwise, with x = R(a) + r(a);   sigma(a) ~ max(R(a) + p r(a), 0)

In 16 bits an infoset keeps whole numbers q(a) and one scale c; its regrets are c q(a). After every update R the new
scale is c = max over a of |R(a)| / 32767 (in float32), and q(a) is R(a) / c rounded to the nearest whole number. The
next strategy is taken from R before it is rounded.

Hedge (Brown, Kroer & Sandholm 2017, sections 2, 3 and 5), with VAR(I) the variance of the values v(I) after t
iterations and Delta(I) the range of payoffs below I:

    eta = sqrt(8 ln |A|) / (Delta(I) sqrt(t))                         THEORY
    eta = sqrt(ln |A|) / (3 sqrt(VAR(I)) sqrt(t))                     VARIANCE
    sigma(a) = exp(eta R(a)) / sum over b of exp(eta R(b))            (8)
    sigma(a) = 0 if it is below limit(I) / sqrt(t + 1); then all are divided by their new sum

In VARIANCE, 3 sqrt(VAR(I)) is kept between ``LEAST_RANGE`` times D and D, which keeps the guarantee of convergence (the
paper's footnote 1, which names no bounds); while nothing has varied it is D. D stands in ``HedgeRule.payoff_range``:
not Delta(I) but the range of the whole game, 2 max |u|, which needs no history tree (``algorithms.hedge``). An infoset
whose limit is zero is not thresholded.

APCFR+, stable and smooth predictive regret matching+: ``updates.adaptive``, ``updates.stable``, ``updates.smooth``.

Fictitious play: x <- x + w (BR - x), for realization plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import (
    AdaptiveLearner,
    AdaptiveRule,
    HedgeLearner,
    HedgeRule,
    Learner,
    Learner16,
    Matching,
    Responder,
    SmoothRule,
    StableRule,
    Step,
)
from treeplex.engines.sequence.reference.treeplex import best_response, realization_plan
from treeplex.updates.reference import lifted, shares, step_size
from treeplex.updates.storage import LARGEST
from treeplex.updates.thresholds import cut


def learn(treeplex: Treeplex, learner: Any, rule: Any, values: Floats, step: Step) -> None:
    """Average, regrets and next strategy of one player."""
    if isinstance(learner, Responder):
        best_response(treeplex, values, learner.response)
        realization_plan(treeplex, learner.response.copy(), learner.response)
        learner.plan[:] += step.weight * (learner.response - learner.plan)
        return
    first, parent = treeplex
    learner.average[:] += step.weight * learner.plan
    predicted = np.zeros(len(values))
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = learner.strategy[own] @ values[own]
        values[parent[infoset]] += expected
        instantaneous = values[own] - expected
        if isinstance(learner, HedgeLearner):
            predicted[own] = _hedge(learner, rule, infoset, own, instantaneous, float(expected), step)
        elif isinstance(learner, AdaptiveLearner):
            predicted[own] = _adaptive(learner, rule, infoset, own, instantaneous)
        else:
            update = _BY_RULE.get(rule.__class__, _match)
            predicted[own] = update(learner, rule, infoset, own, instantaneous, step)
    learner.strategy[:] = shares(predicted, first)
    realization_plan(treeplex, learner.strategy, learner.plan)


def _match(
    learner: Learner | Learner16, rule: Matching, infoset: int, own: slice, instantaneous: Floats, step: Step
) -> Floats:
    """New regrets of an infoset; returns what its next strategy is in proportion to."""
    whole = isinstance(learner, Learner16)
    x = learner.regret[own] * (np.float64(learner.scale[infoset]) if whole else 1.0) + instantaneous
    regret = np.where(x > 0.0, step.positive * x, step.negative * x)
    if whole:
        scale = np.float64(np.float32(np.abs(regret).max() / LARGEST))
        learner.scale[infoset] = scale
        learner.regret[own] = np.rint(regret / scale) if scale > 0.0 else 0
    else:
        learner.regret[own] = regret
    return np.maximum(regret + rule.predict * instantaneous, 0.0)


def _hedge(
    learner: HedgeLearner, rule: HedgeRule, infoset: int, own: slice, instantaneous: Floats, value: float, step: Step
) -> Floats:
    """New regrets of an infoset; returns its next strategy."""
    learner.regret[own] += instantaneous
    off = value - learner.mean[infoset]
    learner.mean[infoset] += off / step.iteration
    learner.squares[infoset] += off * (value - learner.mean[infoset])
    log_actions, payoff_range = rule.log_actions[infoset], rule.payoff_range[infoset]
    eta = step_size(rule.step_size, log_actions, payoff_range, learner.squares[infoset], step.iteration)
    likely = np.exp(eta * (learner.regret[own] - learner.regret[own].max()))
    return cut(likely / likely.sum(), rule.limit[infoset] / np.sqrt(step.iteration + 1.0))


def _adaptive(learner: AdaptiveLearner, rule: AdaptiveRule, infoset: int, own: slice, instantaneous: Floats) -> Floats:
    """New regrets and sums of an infoset; returns what its next strategy is in proportion to."""
    regret = np.maximum(learner.regret[own] + instantaneous, 0.0)
    learner.errors[infoset] += np.square(instantaneous - learner.last[own]).sum()
    learner.moves[infoset] += np.square(regret - learner.regret[own]).sum()
    learner.regret[own], learner.last[own] = regret, instantaneous
    moved = learner.moves[infoset] > 0.0
    alpha = min(np.sqrt(learner.errors[infoset] / learner.moves[infoset]), rule.most) if moved else rule.most
    return np.maximum(regret + instantaneous / (1.0 + alpha), 0.0)


def _floored(
    learner: Learner, rule: StableRule | SmoothRule, infoset: int, own: slice, instantaneous: Floats, step: Step
) -> Floats:
    """New regrets of an infoset; returns what its next strategy is in proportion to."""
    if isinstance(rule, SmoothRule):
        learner.regret[own] = lifted(learner.regret[own] + instantaneous, rule.floor)
        return lifted(learner.regret[own] + instantaneous, rule.floor)
    regret = np.maximum(learner.regret[own] + instantaneous, 0.0)
    if regret.max() <= rule.floor:
        learner.regret[own] = rule.floor
        return np.zeros_like(regret)
    learner.regret[own] = regret
    return np.maximum(regret + instantaneous, 0.0)


_BY_RULE: Final[dict[Any, Callable[..., Floats]]] = {StableRule: _floored, SmoothRule: _floored}
