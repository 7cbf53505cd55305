"""Learning of a player from a gradient: bottom-up regrets and strategies, then top-down averages and plans.

These are parts of ``cpu.iterations``, chosen by the types of learner, rule and partition. Indices are unsigned: Numba
checks whether signed ones count from the end, which costs these short loops half their time. With a partition each
thread walks over a run of infosets, and no number is written by two threads (``engines.sequence.partition``). Without
a partition, roles are None.
"""

from __future__ import annotations

import math

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import (
    HedgeRule,
    InfosetRun,
    Responder,
    RuleLearner,
    Step,
    WalkedLearner,
    WalkedRule,
)
from treeplex.engines.sequence.cpu.bottom_up import walk_up
from treeplex.engines.sequence.cpu.treeplex import best_response, realization_plan
from treeplex.engines.sequence.partition import SEPARATOR, Partition
from treeplex.kernels.jit import INLINED_LOOP, callee, specialised
from treeplex.kernels.threads.team import Worker, team_barrier
from treeplex.updates.exponential import exp_all
from treeplex.updates.hedge import cut_below

# --- walks -----------------------------------------------------------------------------------------------------------


def _exponentials(learner: RuleLearner, rule: HedgeRule) -> None:
    strategy = learner.strategy
    strategy[0] = 0.0
    exp_all(strategy, len(strategy))


@specialised("rule", {HedgeRule: _exponentials}, inline="always")
def _finish(learner: WalkedLearner, rule: WalkedRule) -> None:
    """Do the work between the walks that concerns all infosets at once: nothing, or Hedge's exponentials."""


def _top_down_hedge(run: InfosetRun, role: Bytes | None, learner: RuleLearner, rule: HedgeRule, step: Step) -> None:
    """Walk down where strategies are softmax weights, with a largest weight of exp(0) = 1.

    Weights below the threshold are cut, and the others are divided by their sum.
    """
    (first, parent), begin, stop, _, _ = run
    average, strategy, plan, limit, weight = learner.average, learner.strategy, learner.plan, rule.limit, step.weight
    slow = 1.0 / math.sqrt(step.iteration + 1.0)
    start = np.uint64(first[begin])
    for infoset in range(np.uint64(begin), np.uint64(stop)):
        end = np.uint64(first[infoset + np.uint64(1)])
        if role is None or role[infoset] != SEPARATOR:
            above = plan[np.uint64(parent[infoset])]
            least = limit[infoset] * slow
            total, remaining = 0.0, 0.0
            for s in range(start, end):
                total += strategy[s]
            for s in range(start, end):
                strategy[s] = cut_below(strategy[s], least * total)
                remaining += strategy[s]
            for s in range(start, end):
                strategy[s] /= remaining
                average[s] += weight * plan[s]
                plan[s] = above * strategy[s]
        start = end


@specialised("rule", {HedgeRule: _top_down_hedge})
def walk_down(run: InfosetRun, role: Bytes | None, learner: WalkedLearner, rule: WalkedRule, step: Step) -> None:
    """Add old plans to the average and make new plans from the new strategies, except for separators."""
    (first, parent), begin, stop, _, _ = run
    average, strategy, plan, weight = learner.average, learner.strategy, learner.plan, step.weight
    start = np.uint64(first[begin])
    for infoset in range(np.uint64(begin), np.uint64(stop)):
        end = np.uint64(first[infoset + np.uint64(1)])
        if role is None or role[infoset] != SEPARATOR:
            above = plan[np.uint64(parent[infoset])]
            for s in range(start, end):
                average[s] += weight * plan[s]
                plan[s] = above * strategy[s]
        start = end


# --- learning --------------------------------------------------------------------------------------------------------


@callee
def learn_shared(
    treeplex: Treeplex, role: Bytes, shared: Ints, boundary: Floats, learner: WalkedLearner, rule: WalkedRule,
    values: Floats, step: Step,
) -> None:  # fmt: skip
    """Update regrets, averages and plans of the separators among ``shared``.

    Values of the others, which are on the boundary, are in ``boundary``.
    """
    for index in range(len(shared) - 1, -1, -1):
        infoset = shared[index]
        if role[infoset] == SEPARATOR:
            walk_up(InfosetRun(treeplex, infoset, infoset + 1, None, 0), None, learner, rule, values, step)
        else:
            values[treeplex.parent[infoset]] += boundary[infoset]
    _finish(learner, rule)
    learner.average[0] += step.weight
    for infoset in shared:
        if role[infoset] == SEPARATOR:
            walk_down(InfosetRun(treeplex, infoset, infoset + 1, None, 0), None, learner, rule, step)


def _learn_together(
    treeplex: Treeplex, partition: Partition, learner: WalkedLearner, rule: WalkedRule, values: Floats, step: Step,
    worker: Worker,
) -> None:  # fmt: skip
    role, shared, runs, _, boundary = partition
    begin, stop = runs[worker.thread], runs[worker.thread + 1]
    walk_up(InfosetRun(treeplex, begin, stop, boundary, worker.thread), role, learner, rule, values, step)
    team_barrier(worker)
    if worker.thread == 0:
        learn_shared(treeplex, role, shared, boundary, learner, rule, values, step)
    team_barrier(worker)
    walk_down(InfosetRun(treeplex, begin, stop, None, 0), role, learner, rule, step)
    team_barrier(worker)


@specialised("partition", {Partition: _learn_together}, jit_options=INLINED_LOOP)
def _learn(
    treeplex: Treeplex, partition: None, learner: WalkedLearner, rule: WalkedRule, values: Floats, step: Step,
    worker: None,
) -> None:  # fmt: skip
    run = InfosetRun(treeplex, 0, len(treeplex.parent), None, 0)
    walk_up(run, None, learner, rule, values, step)
    _finish(learner, rule)
    learner.average[0] += step.weight
    walk_down(run, None, learner, rule, step)


def _respond(
    treeplex: Treeplex, partition: None, learner: Responder, rule: None, values: Floats, step: Step, worker: None
) -> None:
    """Learn by fictitious play: mix a best response into the average."""
    plan, response = learner
    best_response(treeplex, values, response)
    realization_plan(treeplex, response, response)
    for s in range(len(plan)):
        plan[s] += step.weight * (response[s] - plan[s])


@specialised("learner", {Responder: _respond}, jit_options=INLINED_LOOP)
def learn(
    treeplex: Treeplex, partition: Partition | None, learner: WalkedLearner, rule: WalkedRule, values: Floats,
    step: Step, worker: Worker | None,
) -> None:  # fmt: skip
    """Update average, regrets and strategy of one player from the gradient ``values``; callable inside kernels.

    ``learner`` and ``values`` are modified in place. There is a barrier for threads at the end.
    """
    _learn(treeplex, partition, learner, rule, values, step, worker)
