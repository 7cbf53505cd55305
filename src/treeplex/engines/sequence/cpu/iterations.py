"""The iteration of every full-width algorithm: gradient, learn, gradient, learn. Maths: ``reference.iterations``.

There is one function for all algorithms, and types choose its code when it is compiled. The type of the operator
chooses how gradients are computed (``cpu.operators``). The types of learners and rules choose how players learn
(``cpu.learn``). Partitions choose one thread or many. Storage is that of the arrays, accumulation float64; no fastmath.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import (
    MatchingAgainstBestResponse,
    Numbers,
    Responder,
    SequenceForm,
    Step,
    Steps,
    WalkedLearner,
    WalkedRule,
)
from treeplex.engines.sequence.cpu.learn import learn
from treeplex.engines.sequence.cpu.operators import Side, gradient, gradient_by
from treeplex.engines.sequence.cpu.treeplex import best_response, realization_plan
from treeplex.kernels.jit import ALLOCATING, kernel, specialised
from treeplex.kernels.threads.team import Worker, aborted, leave_team, team_barrier
from treeplex.updates.turns import SIMULTANEOUS


def _response(
    treeplex: Treeplex, side: Side, sign: float, rule: MatchingAgainstBestResponse, plan: Floats, opponent: Floats,
    values: Floats,
) -> Floats:  # fmt: skip
    """Return a best response to the realization plan ``opponent``, as a realization plan."""
    gradient(side, sign, opponent, values)
    best_response(treeplex, values, rule.response)
    realization_plan(treeplex, rule.response, rule.response)
    return rule.response


@specialised("rule", {MatchingAgainstBestResponse: _response}, inline="always", jit_options=ALLOCATING)
def faced(
    treeplex: Treeplex, side: Side, sign: float, rule: WalkedRule | None, plan: Numbers, opponent: Numbers,
    values: Numbers,
) -> Numbers:  # fmt: skip
    """Return the plan that the opponent of a player with this rule and plan learns against; callable inside kernels."""
    return plan


@kernel
def iterate(
    form: SequenceForm,
    learners: tuple[WalkedLearner | Responder, WalkedLearner | Responder],
    rules: tuple[WalkedRule | None, WalkedRule | None],
    steps: Steps,
    turns: int,
    worker: Worker | None,
) -> None:
    """Run one iteration for each of ``steps`` as one of the threads; ``learners`` and scratch are modified in place."""
    (treeplex_0, treeplex_1), (rows, columns), (pieces_0, pieces_1), (values_0, values_1) = form
    (learner_0, learner_1), (rule_0, rule_1) = learners, rules
    plan_0, plan_1 = learner_0.plan, learner_1.plan  # read from tuples only once: each access costs a reference count
    for i in range(len(steps.weight)):
        step = Step(steps.iteration[i], steps.weight[i], steps.positive[i], steps.negative[i])
        faced_0 = faced(treeplex_0, rows, 1.0, rule_0, plan_0, plan_1, values_0)
        faced_1 = faced(treeplex_1, columns, -1.0, rule_1, plan_1, plan_0, values_1)
        gradient_by(rows, pieces_0, 1.0, faced_1, values_0, worker)
        if turns == SIMULTANEOUS:
            gradient_by(columns, pieces_1, -1.0, faced_0, values_1, worker)
        team_barrier(worker)
        learn(treeplex_0, pieces_0, learner_0, rule_0, values_0, step, worker)
        if turns != SIMULTANEOUS:
            gradient_by(columns, pieces_1, -1.0, faced_0, values_1, worker)
            team_barrier(worker)
        learn(treeplex_1, pieces_1, learner_1, rule_1, values_1, step, worker)
        if aborted(worker):
            break
    leave_team(worker)
