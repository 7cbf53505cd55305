"""Value and best responses of a pair of strategies in one call: on small games the call is what costs.

Storage and accumulation float64; no fastmath. Rows of the operator are shared by the threads of partitions, if there
are any; no bit depends on them.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import gradient_by
from treeplex.engines.sequence.cpu.treeplex import best_value, realization_plan
from treeplex.engines.sequence.partition import Partitions
from treeplex.jit import kernel


@kernel
def evaluate(
    treeplexes: tuple[Treeplex, Treeplex], operator: Operator, partitions: Partitions, strategies: tuple[Floats, Floats]
) -> tuple[float, float, float]:
    """x'Ay, player 0's expected payoff; max over x of x'Ay and max over y of -x'Ay, the best responses' payoffs."""
    plan, opponent = np.empty(len(strategies[0])), np.empty(len(strategies[1]))
    values = np.empty(len(plan))
    realization_plan(treeplexes[0], strategies[0], plan)
    realization_plan(treeplexes[1], strategies[1], opponent)
    gradient_by(operator.rows, partitions[0], 1.0, opponent, values)
    gradient_by(operator.columns, partitions[1], -1.0, plan, opponent)  # the opponent's plan is no longer needed
    value = 0.0
    for s in range(len(plan)):
        value += plan[s] * values[s]
    return value, best_value(treeplexes[0], values), best_value(treeplexes[1], opponent)
