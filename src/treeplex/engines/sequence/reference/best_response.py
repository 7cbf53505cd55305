"""Algorithms that play best responses: fictitious play and CFR-BR."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import SIMULTANEOUS, Learner, Steps
from treeplex.engines.sequence.reference.cfr import learn
from treeplex.engines.sequence.reference.operators import earn
from treeplex.engines.sequence.reference.treeplex import best_response, sequence_weights


def fictitious_play_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    averages: tuple[Floats, Floats],
    values: tuple[Floats, Floats],
    choices: tuple[Floats, Floats],
    weight: Floats,
    turns: int,
) -> None:
    """x <- x + w_t (BR(y) - x), for both players' average strategies in sequence form, modified in place."""
    for w in weight:
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                _respond(treeplexes, operator, averages, values, choices, player)
            for player in (0, 1):
                averages[player][:] += w * (choices[player] - averages[player])
        else:
            for player in (0, 1):
                _respond(treeplexes, operator, averages, values, choices, player)
                averages[player][:] += w * (choices[player] - averages[player])


def _respond(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    strategies: tuple[Floats, Floats],
    values: tuple[Floats, Floats],
    choices: tuple[Floats, Floats],
    player: int,
) -> None:
    """Player's best response to the other's strategy, in sequence form, into ``choices[player]``."""
    earn(operator[player], 1.0 - 2.0 * player, strategies[1 - player], values[player])
    best_response(treeplexes[player], values[player], choices[player])
    pure = choices[player].copy()
    sequence_weights(treeplexes[player], pure, choices[player])


def cfr_br_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    choices: tuple[Floats, Floats],
    steps: Steps,
) -> None:
    """Each player learns against the opponent's best response to the strategy played; all but ``steps`` in place."""
    for weight, positive, negative in zip(*steps, strict=True):
        strategies = (learners[0].weights, learners[1].weights)
        for player in (0, 1):
            _respond(treeplexes, operator, strategies, values, choices, player)
        for player in (0, 1):
            earn(operator[player], 1.0 - 2.0 * player, choices[1 - player], values[player])
            role = np.zeros(treeplexes[player].infosets, dtype=np.int8)
            learn(treeplexes[player], role, learners[player], values[player], weight, positive, negative, 0.0)
