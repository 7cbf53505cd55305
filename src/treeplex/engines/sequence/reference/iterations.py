"""The iteration of every full-width algorithm over the sequence form, equation by equation.

Each player in turn computes every sequence's counterfactual value against the opponent's realization plan. Then it adds
the plan just played to the average, updates regrets bottom-up, and makes the next strategy from them
(``reference.learn``). With alternating turns player 1 learns against player 0's new plan. With simultaneous turns both
learn against the other's old plan.
"""

from __future__ import annotations

from typing import Any

from treeplex.arrays import Floats
from treeplex.engines.sequence.arrays import MatchingAgainstBestResponse, SequenceForm, Step, Steps
from treeplex.engines.sequence.reference.learn import learn
from treeplex.engines.sequence.reference.operators import gradient
from treeplex.engines.sequence.reference.treeplex import best_response, realization_plan
from treeplex.updates.turns import SIMULTANEOUS


def iterate(
    form: SequenceForm,
    learners: tuple[Any, Any],
    rules: tuple[Any, Any],
    steps: Steps,
    turns: int,
    worker: object = None,
) -> None:
    """Run one iteration for each of ``steps``; ``learners`` and scratch are modified in place.

    Partitions and workers are not used, since results do not depend on threads.
    """
    treeplexes, operator, _, values = form

    def take_gradient(player: int, plan: Floats) -> None:
        gradient(operator[player], 1.0 - 2.0 * player, plan, values[player])

    for step in map(Step, *steps):
        faced = [learners[1].plan, learners[0].plan]
        if isinstance(rules[0], MatchingAgainstBestResponse):  # both learn against the best response to their own plan
            for player in (0, 1):
                take_gradient(player, learners[1 - player].plan)
                best_response(treeplexes[player], values[player], rules[player].response)
                realization_plan(treeplexes[player], rules[player].response.copy(), rules[player].response)
            faced = [rules[1].response, rules[0].response]
        if turns == SIMULTANEOUS:
            for player in (0, 1):
                take_gradient(player, faced[player])
        for player in (0, 1):
            if turns != SIMULTANEOUS:
                take_gradient(player, faced[player])
            learn(treeplexes[player], learners[player], rules[player], values[player], step)
