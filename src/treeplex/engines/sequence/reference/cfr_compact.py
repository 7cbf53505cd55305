"""Counterfactual regret minimization with 16-bit regrets.

An infoset keeps whole numbers q(a) and one scale c; its regrets are c q(a). After every update R the new scale is
c = max_a |R(a)| / 32767 (in float32), and q(a) is R(a) / c rounded to the nearest whole number. The next strategy is
taken from R before it is rounded.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import LARGEST_16, SIMULTANEOUS, CompactLearner, Steps
from treeplex.engines.sequence.reference.operators import earn
from treeplex.engines.sequence.reference.treeplex import normalise, sequence_weights


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
    learner.average[:] += weight * learner.weights
    hope = np.zeros_like(learner.behaviour)
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = learner.behaviour[own] @ values[own]
        regret = learner.regret[own] * np.float64(learner.scale[infoset]) + (values[own] - expected)
        regret = np.where(regret > 0.0, positive * regret, negative * regret)
        hope[own] = np.maximum(regret, 0.0)
        unit = np.float64(np.float32(np.abs(regret).max() / LARGEST_16))
        learner.scale[infoset] = unit
        learner.regret[own] = np.rint(regret / unit) if unit > 0.0 else 0
        values[parent[infoset]] += expected
    normalise(treeplex, hope, learner.behaviour)
    sequence_weights(treeplex, learner.behaviour, learner.weights)


def compact_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[CompactLearner, CompactLearner],
    values: tuple[Floats, Floats],
    steps: Steps,
    turns: int,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch ``values`` are modified in place."""
    for weight, positive, negative in zip(*steps, strict=True):
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
        for player in (0, 1):
            if turns != SIMULTANEOUS:
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
            learn(treeplexes[player], learners[player], values[player], weight, positive, negative)
