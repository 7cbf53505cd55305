"""Value and best responses of a pair of strategies in one call: on small games the call is what costs.

Storage and accumulation float64; no fastmath. Rows of the operator are shared by the threads of partitions, if there
are any; no bit depends on them.
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
    found: Floats,
    worker: Worker | None,
) -> None:
    """x'Ay, player 0's expected payoff; max over x of x'Ay and max over y of -x'Ay, the best responses' payoffs.

    ``found`` [3] and ``scratch``, two numbers for each sequence, are modified in place.
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
        found[0], found[1] = value, best_value(treeplexes[0], values_0)
    if last(worker):
        found[2] = best_value(treeplexes[1], values_1)
    leave_team(worker)
