"""Value and best responses of a pair of strategies in one call, because calls dominate the time of small games.

Storage and accumulation float64; no fastmath. If there are partitions, their threads divide the rows of the operator;
no bit depends on them.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import gradient_by
from treeplex.engines.sequence.cpu.treeplex import best_value, realization_plan
from treeplex.engines.sequence.partition import Partitions
from treeplex.kernels.jit import kernel
from treeplex.kernels.threads.team import Worker, first, last, leave_team, team_barrier


@kernel
def evaluate(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    partitions: Partitions,
    strategies: tuple[Floats, Floats],
    scratch: tuple[Floats, Floats, Floats, Floats],
    result: Floats,
    worker: Worker | None,
) -> None:
    """Compute player 0's expected payoff x'Ay, and the best responses' payoffs max_x x'Ay and max_y -x'Ay.

    ``result`` [3] and ``scratch``, two numbers per sequence, are modified in place.
    """
    plan_0, plan_1, values_0, values_1 = scratch
    if first(worker):
        realization_plan(treeplexes[0], strategies[0], plan_0)
    if last(worker):
        realization_plan(treeplexes[1], strategies[1], plan_1)
    team_barrier(worker)
    gradient_by(operator.rows, partitions[0], 1.0, plan_1, values_0, worker)
    gradient_by(operator.columns, partitions[1], -1.0, plan_0, values_1, worker)
    team_barrier(worker)
    if first(worker):
        value = 0.0
        for s in range(len(plan_0)):
            value += plan_0[s] * values_0[s]
        result[0], result[1] = value, best_value(treeplexes[0], values_0)
    if last(worker):
        result[2] = best_value(treeplexes[1], values_1)
    leave_team(worker)
