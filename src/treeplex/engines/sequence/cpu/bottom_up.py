"""Bottom-up walks: what infosets learn from the values of their actions, a walk for each rule.

Maths: ``reference.learn``. All have one signature, and ``cpu.learn`` chooses by type. For the infosets of
a run, without separators, the value of the strategy played goes to the parent sequence in ``values``, or to the run's
``boundary`` from infosets on it; regrets and next strategies go to ``learner``. All three are modified in place.

Storage is that of the arrays, accumulation float64; no fastmath. Indices are unsigned because Numba checks signed ones
for counting from the end, which costs these short loops half their time; and a walk takes its arrays out of tuples
before it begins, because every time costs a count of references.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sequence.arrays import HedgeLearner, HedgeRule, Learner, Learner16, Matching, OwnRule, Run, Step
from treeplex.engines.sequence.partition import BOUNDARY, SEPARATOR
from treeplex.kernels.jit import Index, inlined
from treeplex.updates.hedge import step_size
from treeplex.updates.rules import discounted, positive, share
from treeplex.updates.storage import scale_16, whole_16


@inlined
def value_of(
    parent: Ints,
    role: Bytes | None,
    boundary: Any,
    infoset: int,
    start: Index,
    end: Index,
    strategy: Floats,
    values: Floats,
) -> float:
    """v(I), the value of the strategy played, added to where it belongs. Walks with more arrays are faster without."""
    expected = 0.0
    for s in range(start, end):
        expected += strategy[s] * values[s]
    if role is not None and role[infoset] == BOUNDARY:
        boundary[infoset] = expected
    else:
        values[np.uint64(parent[infoset])] += expected
    return expected


def match(run: Run, role: Bytes | None, learner: Learner, rule: Matching, values: Floats, step: Step) -> None:
    """The regret matching family: ``updates.protocol``."""
    (first, parent), begin, stop, boundary = run
    regret, strategy = learner.regret, learner.strategy
    up, down, predict = step.positive, step.negative, rule.predict
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        total = 0.0
        for s in range(start, end):
            instantaneous = values[s] - expected
            r = discounted(regret[s], instantaneous, up, down)
            predicted = positive(r + predict * instantaneous)
            regret[s] = r
            strategy[s] = predicted
            total += predicted
        for s in range(start, end):
            strategy[s] = share(strategy[s], total, end - start)
        end = start


def match_16(run: Run, role: Bytes | None, learner: Learner16, rule: Matching, values: Floats, step: Step) -> None:
    """The same with regrets in 16 bits, without prediction; strategies are taken from regrets before rounding."""
    (first, parent), begin, stop, boundary = run
    regret, scale, strategy = learner.regret, learner.scale, learner.strategy
    up, down = step.positive, step.negative
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = 0.0
        for s in range(start, end):
            expected += strategy[s] * values[s]
        if role is not None and role[infoset] == BOUNDARY:
            boundary[infoset] = expected
        else:
            values[np.uint64(parent[infoset])] += expected
        unit, largest, total = np.float64(scale[infoset]), 0.0, 0.0
        for s in range(start, end):
            r = discounted(regret[s] * unit, values[s] - expected, up, down)
            values[s] = r  # the gradient of this infoset is no longer needed
            largest = max(largest, abs(r))
            total += positive(r)
        unit = scale_16(largest)
        scale[infoset] = unit
        for s in range(start, end):
            r = values[s]
            regret[s] = whole_16(r, unit)
            strategy[s] = share(positive(r), total, end - start)
        end = start


def hedge(run: Run, role: Bytes | None, learner: HedgeLearner, rule: HedgeRule, values: Floats, step: Step) -> None:
    """Hedge: in place of strategies eta (R - max R), whose exponentials are taken all at once later."""
    (first, parent), begin, stop, boundary = run
    regret, strategy, mean, squares = learner.regret, learner.strategy, learner.mean, learner.squares
    log_actions, payoff_range, kind, t = rule.log_actions, rule.payoff_range, rule.step_size, step.iteration
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = 0.0
        for s in range(start, end):
            expected += strategy[s] * values[s]
        if role is not None and role[infoset] == BOUNDARY:
            boundary[infoset] = expected
        else:
            values[np.uint64(parent[infoset])] += expected
        off = expected - mean[infoset]
        mean[infoset] += off / t
        squares[infoset] += off * (expected - mean[infoset])
        eta = step_size(kind, log_actions[infoset], payoff_range[infoset], squares[infoset], t)
        best = -np.inf
        for s in range(start, end):
            regret[s] += values[s] - expected
            best = max(best, regret[s])
        for s in range(start, end):
            strategy[s] = (regret[s] - best) * eta
        end = start


def own(run: Run, role: Bytes | None, learner: Learner, rule: OwnRule, values: Floats, step: Step) -> None:
    """A user's rule, by one thread."""
    (first, parent), begin, stop, boundary = run
    strategy, memory = learner.strategy, rule.memory
    for infoset in range(stop - 1, begin - 1, -1):
        start, end = first[infoset], first[infoset + 1]
        value_of(parent, role, boundary, infoset, start, end, strategy, values)
        rule.update(step.iteration, values[start:end], strategy[start:end], memory[:, start:end])
