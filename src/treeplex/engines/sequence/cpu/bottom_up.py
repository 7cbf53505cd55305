"""Bottom-up walks, in which infosets learn from the values of their actions, for each kind of learner.

Maths: ``reference.learn``. A walk visits the infosets of a run except separators. The value of the strategy played is
added to the parent sequence in ``values``; infosets on the boundary write it to the run's ``boundary`` instead. Regrets
and next strategies go to ``learner``. All three are modified in place.

Storage is that of the arrays, accumulation float64; no fastmath. Indices are unsigned: Numba checks whether signed ones
count from the end, which costs these short loops half their time. A walk takes its arrays out of tuples before it
begins, because each access to a tuple costs a reference count.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sequence.arrays import (
    HedgeRule,
    InfosetRun,
    Learner,
    Learner16,
    Matching,
    Numbers,
    RuleLearner,
    Step,
    WalkedLearner,
    WalkedRule,
)
from treeplex.engines.sequence.partition import BOUNDARY, SEPARATOR
from treeplex.kernels.calls import RuleCall, call_gathered, call_in_place
from treeplex.kernels.jit import INLINED_LOOP, Index, callee, inlined_loop, specialised
from treeplex.kernels.vectors import largest_stored
from treeplex.updates.hedge import VARIANCE, step_size
from treeplex.updates.rules import discounted, normalise_span, positive
from treeplex.updates.storage import scale_16, whole_16


@inlined_loop
def value_of(
    parent: Ints,
    role: Bytes | None,
    boundary: Floats | None,
    infoset: int,
    start: Index,
    end: Index,
    strategy: Floats,
    values: Floats,
) -> float:
    """Return v(I), the value of the strategy played, and pass it on to ``values`` or ``boundary``."""
    expected = 0.0
    for s in range(start, end):
        expected += strategy[s] * values[s]
    if role is not None and boundary is not None and role[infoset] == BOUNDARY:
        boundary[infoset] = expected
    else:
        values[np.uint64(parent[infoset])] += expected
    return expected


def _call_in_place(
    rule: RuleCall, t: float, values: Floats, strategy: Floats, memory: Floats, start: Index, actions: Index,
    thread: int,
) -> None:  # fmt: skip
    call_in_place(rule, t, start, values, strategy, start, memory, actions)


@specialised("memory", {np.float64: _call_in_place}, jit_options=INLINED_LOOP)
def _update(
    rule: RuleCall, t: float, values: Numbers, strategy: Numbers, memory: Numbers, start: Index, actions: Index,
    thread: int,
) -> None:  # fmt: skip
    """Call the rule on float64 copies of the arrays; float64 arrays are passed themselves."""
    one = np.uint64(1)
    call_gathered(
        rule, t, start, values, start, strategy, start, one, memory, rule.rows * start, actions, rule.room[thread],
    )  # fmt: skip


def _match_16(
    learner: Learner16, rule: Matching, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, thread: int,
) -> None:  # fmt: skip
    """Regret matching family with regrets in 16 bits, without prediction; strategies come from unrounded regrets."""
    unit, largest, total = np.float64(learner.scale[infoset]), 0.0, 0.0
    for s in range(start, end):
        r = discounted(learner.regret[s] * unit, values[s] - expected, step.positive, step.negative)
        values[s] = r  # the gradient of this infoset is no longer needed
        largest = max(largest, abs(r))
        total += positive(r)
    unit = scale_16(largest, largest_stored(learner.regret))
    learner.scale[infoset] = unit
    for s in range(start, end):
        learner.regret[s] = whole_16(values[s], unit)
    normalise_span(values, learner.strategy, start, end, None, total)


def _hedge(
    learner: RuleLearner, rule: HedgeRule, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, thread: int,
) -> None:  # fmt: skip
    """Hedge (``updates.hedge``): write eta (R - max R) to strategies; exponentials are computed all at once later."""
    memory, strategy, t, actions = learner.memory, learner.strategy, step.iteration, end - start
    squares, best = 0.0, -np.inf
    if rule.rate == VARIANCE:
        regret = np.uint64(3) * start
        mean, spread = regret + actions, regret + np.uint64(2) * actions
        off = expected - memory[mean]
        memory[mean] += off / t
        squares = memory[spread] + off * (expected - memory[mean])
        memory[spread] = squares
        widest = rule.payoff_range
    else:
        regret = np.uint64(2) * start
        widest = memory[regret + actions]
    eta = step_size(rule.rate, rule.log_actions[infoset], widest, squares, t)
    for a in range(actions):
        r = memory[regret + a] + (values[start + a] - expected)
        memory[regret + a] = r
        best = max(best, r)
    for a in range(actions):
        strategy[start + a] = (memory[regret + a] - best) * eta


def _call(
    learner: RuleLearner, rule: RuleCall, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, thread: int,
) -> None:  # fmt: skip
    """Apply a rule that is a function, by its address."""
    _update(rule, step.iteration, values, learner.strategy, learner.memory, start, end - start, thread)


@specialised("learner", {Learner16: _match_16}, jit_options=INLINED_LOOP)
def _match(
    learner: Learner, rule: Matching, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, thread: int,
) -> None:  # fmt: skip
    """Apply a rule of the regret matching family (``updates.protocol``)."""
    regret, strategy, up, down, total = learner.regret, learner.strategy, step.positive, step.negative, 0.0
    for s in range(start, end):
        instantaneous = values[s] - expected
        r = discounted(regret[s], instantaneous, up, down)
        predicted = positive(r + rule.predict * instantaneous)
        regret[s] = r
        strategy[s] = predicted
        total += predicted
    normalise_span(strategy, strategy, start, end, None, total)


@specialised("rule", {HedgeRule: _hedge, RuleCall: _call}, jit_options=INLINED_LOOP)
def learn_infoset(
    learner: Learner, rule: Matching, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, thread: int,
) -> None:  # fmt: skip
    """Update the regrets of an infoset and its next strategy."""
    _match(learner, rule, values, step, infoset, start, end, expected, thread)


@callee
def walk_up(
    run: InfosetRun, role: Bytes | None, learner: WalkedLearner, rule: WalkedRule, values: Floats, step: Step
) -> None:
    """Update regrets and next strategies of a run of infosets, from the last to the first."""
    (first, parent), begin, stop, boundary, thread = run
    strategy = learner.strategy
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is None or role[infoset] != SEPARATOR:
            expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
            learn_infoset(learner, rule, values, step, infoset, start, end, expected, thread)
        end = start
