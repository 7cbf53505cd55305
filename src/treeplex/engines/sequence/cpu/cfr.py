"""Counterfactual regret minimization over the sequence form. Maths: ``engines.sequence.reference.cfr``.

Storage is that of the arrays (float64 or float32), accumulation float64; no fastmath. Indices are unsigned because
Numba checks signed ones for counting from the end, which costs these short loops half their time. One thread or many:
each walks a run of infosets, and ``role`` says what an infoset has to do with the runs of others
(``kernels.partition``).
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import HANDED, SIMULTANEOUS, TOP, Learner, Steps
from treeplex.engines.sequence.cpu.operators import earn
from treeplex.jit import kernel


@kernel
def judge(
    treeplex: Treeplex,
    role: Bytes,
    begin: int,
    stop: int,
    learner: Learner,
    values: Floats,
    worth: Floats,
    positive: float,
    negative: float,
    predict: float,
) -> None:
    """Regrets and next strategies of infosets ``begin`` to ``stop``, bottom-up, without those of the seam.

    What the strategy played was worth goes to the parent sequence in ``values``, or to ``worth`` if that is in the
    seam. ``learner``, ``values`` and ``worth`` are modified in place.
    """
    first, parent = treeplex
    regret, _, behaviour, _ = learner
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role[infoset] == TOP:
            end = start
            continue
        expected = 0.0
        for s in range(start, end):
            expected += behaviour[s] * values[s]
        if role[infoset] == HANDED:
            worth[infoset] = expected
        else:
            values[np.uint64(parent[infoset])] += expected
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
            for s in range(start, end):
                behaviour[s] /= total  # not times 1 / total: a pure strategy must come out as exactly one
        else:
            even = 1.0 / (end - start)
            for s in range(start, end):
                behaviour[s] = even
        end = start


@kernel
def reach(treeplex: Treeplex, role: Bytes, begin: int, stop: int, learner: Learner, weight: float) -> None:
    """Add old sequence weights to the average and take new ones from the new strategies, top-down, without the seam."""
    first, parent = treeplex
    _, average, behaviour, weights = learner
    start = np.uint64(first[begin])
    for infoset in range(begin, stop):
        end = np.uint64(first[infoset + 1])
        if role[infoset] != TOP:
            above = weights[np.uint64(parent[infoset])]
            for s in range(start, end):
                average[s] += weight * weights[s]
                weights[s] = above * behaviour[s]
        start = end


@kernel
def learn(
    treeplex: Treeplex,
    role: Bytes,
    learner: Learner,
    values: Floats,
    weight: float,
    positive: float,
    negative: float,
    predict: float,
) -> None:
    """Average, regrets and next strategy of one player; ``learner`` and ``values`` are modified in place."""
    infosets = len(treeplex.parent)
    judge(treeplex, role, 0, infosets, learner, values, values, positive, negative, predict)
    learner.average[0] += weight
    reach(treeplex, role, 0, infosets, learner, weight)


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
    role = np.zeros(max(len(treeplexes[0].parent), len(treeplexes[1].parent)), dtype=np.int8)  # one thread: no seam
    for t in range(len(steps.weight)):
        weight, positive, negative = steps.weight[t], steps.positive[t], steps.negative[t]
        earn(operator.rows, 1.0, learners[1].weights, values[0])
        if turns == SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[0], role, learners[0], values[0], weight, positive, negative, predict)
        if turns != SIMULTANEOUS:
            earn(operator.columns, -1.0, learners[0].weights, values[1])
        learn(treeplexes[1], role, learners[1], values[1], weight, positive, negative, predict)
