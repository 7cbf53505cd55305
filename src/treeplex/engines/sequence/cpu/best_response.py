"""Algorithms that play best responses. Maths: ``engines.sequence.reference.best_response``.

Storage float64, accumulation float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import SIMULTANEOUS, Learner, Steps
from treeplex.engines.sequence.cpu.cfr import learn
from treeplex.engines.sequence.cpu.operators import Side, earn
from treeplex.engines.sequence.cpu.treeplex import best_response, sequence_weights
from treeplex.jit import kernel


@kernel
def _respond(treeplex: Treeplex, side: Side, sign: float, opponent: Floats, values: Floats, choice: Floats) -> None:
    """A best response in sequence form into ``choice``; ``values`` is scratch."""
    earn(side, sign, opponent, values)
    best_response(treeplex, values, choice)
    sequence_weights(treeplex, choice, choice)  # top-down, so each weight is read before it is overwritten


@kernel
def _mix(average: Floats, choice: Floats, weight: float) -> None:
    for s in range(len(average)):
        average[s] += weight * (choice[s] - average[s])


@kernel
def fictitious_play_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    averages: tuple[Floats, Floats],
    values: tuple[Floats, Floats],
    choices: tuple[Floats, Floats],
    weight: Floats,
    turns: int,
) -> None:
    """One iteration for each of ``weight``; ``averages`` and the scratch arrays are modified in place."""
    for w in weight:
        _respond(treeplexes[0], operator.rows, 1.0, averages[1], values[0], choices[0])
        if turns != SIMULTANEOUS:
            _mix(averages[0], choices[0], w)
        _respond(treeplexes[1], operator.columns, -1.0, averages[0], values[1], choices[1])
        _mix(averages[1], choices[1], w)
        if turns == SIMULTANEOUS:
            _mix(averages[0], choices[0], w)


@kernel
def cfr_br_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    choices: tuple[Floats, Floats],
    steps: Steps,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch arrays are modified in place."""
    role = np.zeros(max(len(treeplexes[0].parent), len(treeplexes[1].parent)), dtype=np.int8)
    for t in range(len(steps.weight)):
        weight, positive, negative = steps.weight[t], steps.positive[t], steps.negative[t]
        _respond(treeplexes[0], operator.rows, 1.0, learners[1].weights, values[0], choices[0])
        _respond(treeplexes[1], operator.columns, -1.0, learners[0].weights, values[1], choices[1])
        earn(operator.rows, 1.0, choices[1], values[0])
        learn(treeplexes[0], role, learners[0], values[0], weight, positive, negative, 0.0)
        earn(operator.columns, -1.0, choices[0], values[1])
        learn(treeplexes[1], role, learners[1], values[1], weight, positive, negative, 0.0)
