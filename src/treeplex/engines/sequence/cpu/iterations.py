"""The iteration of every full-width algorithm: gradient, learn, gradient, learn. Maths: ``reference.iterations``.

Written once. The type of the operator chooses how gradients are taken (``cpu.operators``), the types of learners and
rules how players learn (``cpu.learn``), and partitions choose one thread or many, when the frame is compiled for them.
Storage is that of the arrays, accumulation float64; no fastmath.
"""

from __future__ import annotations

from typing import Any

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import Step, Steps
from treeplex.engines.sequence.cpu.learn import faced, learn, prepare
from treeplex.engines.sequence.cpu.operators import gradient_by
from treeplex.engines.sequence.partition import Partitions
from treeplex.jit import kernel
from treeplex.updates.turns import SIMULTANEOUS


@kernel
def iterate(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    partitions: Partitions,
    learners: tuple[Any, Any],
    rules: tuple[Any, Any],
    values: tuple[Floats, Floats],
    steps: Steps,
    turns: int,
) -> None:
    """One iteration for each of ``steps``; ``learners`` and the scratch ``values`` [S] are modified in place."""
    (treeplex_0, treeplex_1), (rows, columns), (pieces_0, pieces_1) = treeplexes, operator, partitions
    (learner_0, learner_1), (rule_0, rule_1), (values_0, values_1) = learners, rules, values
    plan_0, plan_1 = learner_0.plan, learner_1.plan  # taken out of tuples once: each time costs a count of references
    faced_0, faced_1 = faced(plan_0, rule_0), faced(plan_1, rule_1)
    for i in range(len(steps.weight)):
        step = Step(steps.iteration[i], steps.weight[i], steps.positive[i], steps.negative[i])
        prepare(treeplex_0, rows, 1.0, rule_0, plan_1, values_0)
        prepare(treeplex_1, columns, -1.0, rule_1, plan_0, values_1)
        gradient_by(rows, pieces_0, 1.0, faced_1, values_0)
        if turns == SIMULTANEOUS:
            gradient_by(columns, pieces_1, -1.0, faced_0, values_1)
        learn(treeplex_0, pieces_0, learner_0, rule_0, values_0, step)
        if turns != SIMULTANEOUS:
            gradient_by(columns, pieces_1, -1.0, faced_0, values_1)
        learn(treeplex_1, pieces_1, learner_1, rule_1, values_1, step)
