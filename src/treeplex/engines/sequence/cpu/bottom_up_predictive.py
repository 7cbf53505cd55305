"""Bottom-up walks of predictive rules with a state or a floor: as ``cpu.bottom_up``, of which they are a part.

Maths: ``updates.adaptive``, ``updates.stable``, ``updates.smooth``. Accumulation float64; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats
from treeplex.engines.sequence.arrays import AdaptiveLearner, AdaptiveRule, Learner, Run, SmoothRule, StableRule, Step
from treeplex.engines.sequence.cpu.bottom_up import value_of
from treeplex.engines.sequence.partition import SEPARATOR
from treeplex.updates.adaptive import trust
from treeplex.updates.rules import positive, share
from treeplex.updates.smooth import lift
from treeplex.updates.stable import restarts


def adaptive(
    run: Run, role: Bytes | None, learner: AdaptiveLearner, rule: AdaptiveRule, values: Floats, step: Step
) -> None:
    """APCFR+."""
    (first, parent), begin, stop, boundary = run
    regret, strategy, last = learner.regret, learner.strategy, learner.last
    errors, moves, most = learner.errors, learner.moves, rule.most
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        for s in range(start, end):
            instantaneous = values[s] - expected
            r = positive(regret[s] + instantaneous)
            errors[infoset] += (instantaneous - last[s]) ** 2
            moves[infoset] += (r - regret[s]) ** 2
            regret[s], last[s] = r, instantaneous
        trusted, total = trust(errors[infoset], moves[infoset], most), 0.0
        for s in range(start, end):
            strategy[s] = positive(regret[s] + trusted * last[s])
            total += strategy[s]
        for s in range(start, end):
            strategy[s] = share(strategy[s], total, end - start)
        end = start


def stable(run: Run, role: Bytes | None, learner: Learner, rule: StableRule, values: Floats, step: Step) -> None:
    """Stable predictive regret matching+."""
    (first, parent), begin, stop, boundary = run
    regret, strategy, floor = learner.regret, learner.strategy, rule.floor
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        largest, total = 0.0, 0.0
        for s in range(start, end):
            regret[s] = positive(regret[s] + (values[s] - expected))
            largest = max(largest, regret[s])
        restarted = restarts(largest, floor)
        for s in range(start, end):
            regret[s] = floor if restarted else regret[s]
            strategy[s] = 0.0 if restarted else positive(regret[s] + (values[s] - expected))
            total += strategy[s]
        for s in range(start, end):
            strategy[s] = share(strategy[s], total, end - start)
        end = start


def smooth(run: Run, role: Bytes | None, learner: Learner, rule: SmoothRule, values: Floats, step: Step) -> None:
    """Smooth predictive regret matching+."""
    (first, parent), begin, stop, boundary = run
    regret, strategy, floor = learner.regret, learner.strategy, rule.floor
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        for s in range(start, end):
            regret[s] += values[s] - expected
        lift(regret, start, end, floor)
        for s in range(start, end):
            strategy[s] = regret[s] + (values[s] - expected)
        total = lift(strategy, start, end, floor)
        for s in range(start, end):
            strategy[s] = share(strategy[s], total, end - start)
        end = start
