"""Counterfactual regret minimization with 16-bit regrets. Maths: ``engines.sequence.reference.cfr_compact``.

Regrets are 16-bit integers times a float32 scale an infoset; everything else float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import LARGEST_16, SIMULTANEOUS, CompactLearner, Steps
from treeplex.engines.sequence.cpu.operators import earn
from treeplex.jit import kernel


@kernel
def learn(
    treeplex: Treeplex,
    learner: CompactLearner,
    values: Floats,
    weight: float,
    positive: float,
    negative: float,
) -> None:
    """Average, regrets and next strategy of one player; ``learner`` and ``values`` are modified in place."""
    first, parent = treeplex
    regret, scale, average, behaviour, weights = learner
    end = np.uint64(first[len(parent)])
    for infoset in range(len(parent) - 1, -1, -1):
        start = np.uint64(first[infoset])
        expected = 0.0
        for s in range(start, end):
            expected += behaviour[s] * values[s]
        values[np.uint64(parent[infoset])] += expected
        unit, largest, total = np.float64(scale[infoset]), 0.0, 0.0
        for s in range(start, end):
            r = regret[s] * unit + (values[s] - expected)
            r = r * positive if r > 0.0 else r * negative + 0.0
            values[s] = r  # the gradient of this infoset is no longer needed
            largest = max(largest, abs(r))
            total += max(r, 0.0)
        unit = np.float64(np.float32(largest / LARGEST_16))
        scale[infoset] = unit
        for s in range(start, end):
            r = values[s]
            regret[s] = np.int16(np.rint(r / unit)) if unit > 0.0 else np.int16(0)
            behaviour[s] = max(r, 0.0) / total if total > 0.0 else 1.0 / (end - start)
        end = start
    average[0] += weight
    start = np.uint64(1)
    for infoset in range(len(parent)):
        above = weights[np.uint64(parent[infoset])]
        end = np.uint64(first[infoset + 1])
        for s in range(start, end):
            average[s] += weight * weights[s]
            weights[s] = above * behaviour[s]
        start = end


@kernel
def compact_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[CompactLearner, CompactLearner],
    values: tuple[Floats, Floats],
    steps: Steps,
    turns: int,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch ``values`` are modified in place."""
    for t in range(len(steps.weight)):
        weight, positive, negative = steps.weight[t], steps.positive[t], steps.negative[t]
        earn(operator.rows, 1.0, learners[1].weights, values[0])
        if turns == SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[0], learners[0], values[0], weight, positive, negative)
        if turns != SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[1], learners[1], values[1], weight, positive, negative)
