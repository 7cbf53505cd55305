"""Counterfactual regret minimization over the sequence form. Maths: ``kernels.reference.cfr``.

Storage is that of the arrays (float64 or float32), accumulation float64; no fastmath. Indices are unsigned because
Numba checks signed ones for counting from the end, which costs these short loops half their time.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compiled.game import Operator
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.cpu.jit import fragment, kernel
from treeplex.kernels.cpu.operators import earn
from treeplex.kernels.rules import SIMULTANEOUS, Learner, Steps


@fragment
def judge(
    start: np.uint64,
    end: np.uint64,
    learner: Learner,
    values: Floats,
    positive: float,
    negative: float,
    predict: float,
) -> float:
    """Regrets and next strategy of one infoset; returns what the strategy played was worth."""
    regret, _, behaviour, _ = learner
    expected = 0.0
    for s in range(start, end):
        expected += behaviour[s] * values[s]
    total = 0.0
    for s in range(start, end):
        gain = values[s] - expected
        r = regret[s] + gain
        r = r * positive if r > 0.0 else r * negative + 0.0  # + 0.0 turns -0.0 into 0.0
        hope = max(r + predict * gain, 0.0)
        regret[s] = r
        behaviour[s] = hope
        total += hope
    if total > 0.0:
        scale = 1.0 / total
        for s in range(start, end):
            behaviour[s] *= scale
    else:
        even = 1.0 / (end - start)
        for s in range(start, end):
            behaviour[s] = even
    return expected


@fragment
def reach(start: np.uint64, end: np.uint64, above: float, learner: Learner, weight: float) -> None:
    """Add the old sequence weights of one infoset to the average, and take the new ones from the new strategy."""
    _, average, behaviour, weights = learner
    for s in range(start, end):
        average[s] += weight * weights[s]
        weights[s] = above * behaviour[s]


@kernel
def learn(
    treeplex: Treeplex,
    learner: Learner,
    values: Floats,
    weight: float,
    positive: float,
    negative: float,
    predict: float,
) -> None:
    """Average, regrets and next strategy of one player; ``learner`` and ``values`` are modified in place."""
    first, parent = treeplex
    end = np.uint64(first[len(parent)])
    for infoset in range(len(parent) - 1, -1, -1):
        start = np.uint64(first[infoset])
        values[np.uint64(parent[infoset])] += judge(start, end, learner, values, positive, negative, predict)
        end = start
    learner.average[0] += weight
    start = np.uint64(1)
    for infoset in range(len(parent)):
        end = np.uint64(first[infoset + 1])
        reach(start, end, learner.weights[np.uint64(parent[infoset])], learner, weight)
        start = end


@kernel
def cfr_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    steps: Steps,
    predict: float,
    turns: int,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch ``values`` are modified in place."""
    for t in range(len(steps.weight)):
        weight, positive, negative = steps.weight[t], steps.positive[t], steps.negative[t]
        earn(operator.rows, 1.0, learners[1].weights, values[0])
        if turns == SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[0], learners[0], values[0], weight, positive, negative, predict)
        if turns != SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[1], learners[1], values[1], weight, positive, negative, predict)
