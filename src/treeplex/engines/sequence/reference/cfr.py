"""Counterfactual regret minimization over the sequence form, equation by equation."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import SIMULTANEOUS, Learner, Steps
from treeplex.engines.sequence.reference.operators import earn
from treeplex.engines.sequence.reference.treeplex import normalise, sequence_weights


def cfr_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    steps: Steps,
    predict: float,
    turns: int,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch ``values`` are modified in place.

    Each player in turn: find every sequence's counterfactual value against the opponent, add the strategy about to be
    judged to the average, update regrets bottom-up, and take the next strategy from them.
    """
    for weight, positive, negative in zip(*steps, strict=True):
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
        for player in (0, 1):
            if turns != SIMULTANEOUS:
                earn(operator[player], 1.0 - 2.0 * player, learners[1 - player].weights, values[player])
            role = np.zeros(treeplexes[player].infosets, dtype=np.int8)
            learn(treeplexes[player], role, learners[player], values[player], weight, positive, negative, predict)


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
    """Average, regrets and next strategy of one player; ``learner`` and ``values`` are modified in place.

    ``role`` says which infosets other threads take care of: none here, it is all zeros.
    """
    first, parent = treeplex
    learner.average[:] += weight * learner.weights
    hope = np.zeros_like(learner.regret)
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = learner.behaviour[own] @ values[own]  # v(I) = sum_a sigma(a) v(I, a)
        gain = values[own] - expected  # r(a) = v(I, a) - v(I)
        regret = learner.regret[own] + gain
        learner.regret[own] = np.where(regret > 0.0, positive * regret, negative * regret)
        hope[own] = np.maximum(learner.regret[own] + predict * gain, 0.0)
        values[parent[infoset]] += expected
    normalise(treeplex, hope, learner.behaviour)
    sequence_weights(treeplex, learner.behaviour, learner.weights)
