"""Counterfactual regret minimization over the sequence form, equation by equation."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compiled.payoffs import Payoffs
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.reference.treeplex import gradient, normalise, sequence_weights
from treeplex.kernels.rules import REGRET_MATCHING_PLUS, SIMULTANEOUS, Learner


def cfr_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    payoffs: Payoffs,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    averaging: Floats,
    rule: int,
    turns: int,
) -> None:
    """One iteration for each weight in ``averaging``; ``learners`` and the scratch ``values`` are modified in place.

    Each player in turn: add the strategy about to be judged to the average, find every sequence's counterfactual
    value against the opponent, update regrets bottom-up, and take the next strategy from them.
    """
    for weight in averaging:
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                _earn(payoffs, learners, values, player)
        for player in (0, 1):
            if turns != SIMULTANEOUS:
                _earn(payoffs, learners, values, player)
            learners[player].average[:] += weight * learners[player].weights
            _learn(treeplexes[player], learners[player], values[player], rule)


def _earn(payoffs: Payoffs, learners: tuple[Learner, Learner], values: tuple[Floats, Floats], player: int) -> None:
    """Player 0: g = A y. Player 1: g = -A'x."""
    gradient(payoffs[player], learners[1 - player].weights, values[player])
    if player == 1:
        np.negative(values[player], out=values[player])


def _learn(treeplex: Treeplex, learner: Learner, values: Floats, rule: int) -> None:
    first, parent = treeplex
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = learner.behaviour[own] @ values[own]  # v(I) = sum_a sigma(a) v(I, a)
        learner.regret[own] += values[own] - expected  # R(a) += v(I, a) - v(I)
        if rule == REGRET_MATCHING_PLUS:
            np.maximum(learner.regret[own], 0.0, out=learner.regret[own])
        values[parent[infoset]] += expected
    normalise(treeplex, np.maximum(learner.regret, 0.0), learner.behaviour)
    sequence_weights(treeplex, learner.behaviour, learner.weights)
