"""Bottom-up walks: what infosets learn from the values of their actions, in a way for each kind of learner.

Maths: ``reference.learn``. For the infosets of a run, without separators, the value of the strategy played goes to the
parent sequence in ``values``, or to the run's ``boundary`` from infosets on it; regrets and next strategies go to
``learner``. All three are modified in place.

Storage is that of the arrays, accumulation float64; no fastmath. Indices are unsigned because Numba checks signed ones
for counting from the end, which costs these short loops half their time; and a walk takes its arrays out of tuples
before it begins, because every time costs a count of references.
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
    """v(I), the value of the strategy played, added to where it belongs."""
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
    scratch: Floats,
) -> None:  # fmt: skip
    call_in_place(rule, t, start, values, strategy, start, memory, actions)


@specialised("memory", {np.float64: _call_in_place}, jit_options=INLINED_LOOP)
def _update(
    rule: RuleCall, t: float, values: Numbers, strategy: Numbers, memory: Numbers, start: Index, actions: Index,
    scratch: Floats,
) -> None:  # fmt: skip
    """Call the rule on copies, or on the arrays themselves if they are float64."""
    one = np.uint64(1)
    call_gathered(
        rule, t, start, values, start, strategy, start, one, memory, rule.rows * start, actions, scratch,
    )  # fmt: skip


def _match_16(
    learner: Learner16, rule: Matching, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, scratch: None,
) -> None:  # fmt: skip
    """The regret matching family with regrets in 16 bits, without prediction; strategies are from regrets unrounded."""
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
    expected: float, scratch: None,
) -> None:  # fmt: skip
    """``updates.hedge``: in place of strategies eta (R - max R), whose exponentials are taken all at once later."""
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
    expected: float, scratch: Floats,
) -> None:  # fmt: skip
    """A rule that is a function, called by its address."""
    _update(rule, step.iteration, values, learner.strategy, learner.memory, start, end - start, scratch)


@specialised("learner", {Learner16: _match_16}, jit_options=INLINED_LOOP)
def _match(
    learner: Learner, rule: Matching, values: Floats, step: Step, infoset: int, start: Index, end: Index,
    expected: float, scratch: None,
) -> None:  # fmt: skip
    """The regret matching family (``updates.protocol``)."""
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
    expected: float, scratch: None,
) -> None:  # fmt: skip
    """What is learned at an infoset, and its next strategy."""
    _match(learner, rule, values, step, infoset, start, end, expected, scratch)


def _room(rule: RuleCall) -> Floats | None:
    return np.empty(len(rule.arguments))


@specialised("rule", {RuleCall: _room})
def scratch_of(rule: WalkedRule) -> Floats | None:
    """What a walk has for its calls of a rule."""
    return None


@callee
def walk_up(
    run: InfosetRun, role: Bytes | None, learner: WalkedLearner, rule: WalkedRule, values: Floats, step: Step
) -> None:
    """Regrets and next strategies of a run of infosets."""
    (first, parent), begin, stop, boundary = run
    strategy, scratch = learner.strategy, scratch_of(rule)
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is None or role[infoset] != SEPARATOR:
            expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
            learn_infoset(learner, rule, values, step, infoset, start, end, expected, scratch)
        end = start
