"""Bottom-up walks: what infosets learn from the values of their actions, a walk for each kind of learner.

Maths: ``reference.learn``. All have one signature, and kernels choose by the learner (``walk_up``). For the infosets of
a run, without separators, the value of the strategy played goes to the parent sequence in ``values``, or to the run's
``boundary`` from infosets on it; regrets and next strategies go to ``learner``. All three are modified in place.

Storage is that of the arrays, accumulation float64; no fastmath. Indices are unsigned because Numba checks signed ones
for counting from the end, which costs these short loops half their time; and a walk takes its arrays out of tuples
before it begins, because every time costs a count of references.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sequence.arrays import (
    HedgeLearner,
    HedgeRule,
    InfosetRun,
    Learner,
    Learner16,
    Matching,
    Numbers,
    RuleLearner,
    Step,
)
from treeplex.engines.sequence.partition import BOUNDARY, SEPARATOR
from treeplex.kernels.calls import RuleCall, call_gathered, call_in_place
from treeplex.kernels.jit import INLINED_LOOP, Index, inlined_loop, specialised
from treeplex.updates.hedge import step_size
from treeplex.updates.rules import discounted, positive, share_out
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


def match_16(
    run: InfosetRun, role: Bytes | None, learner: Learner16, rule: Matching, values: Floats, step: Step
) -> None:
    """``walk_up`` with regrets in 16 bits, without prediction; strategies are taken from regrets before rounding."""
    (first, parent), begin, stop, boundary = run
    regret, scale, strategy = learner.regret, learner.scale, learner.strategy
    up, down = step.positive, step.negative
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        unit, largest, total = np.float64(scale[infoset]), 0.0, 0.0
        for s in range(start, end):
            r = discounted(regret[s] * unit, values[s] - expected, up, down)
            values[s] = r  # the gradient of this infoset is no longer needed
            largest = max(largest, abs(r))
            total += positive(r)
        unit = scale_16(largest)
        scale[infoset] = unit
        for s in range(start, end):
            regret[s] = whole_16(values[s], unit)
        share_out(values, strategy, start, end, None, total)
        end = start


def hedge(
    run: InfosetRun, role: Bytes | None, learner: HedgeLearner, rule: HedgeRule, values: Floats, step: Step
) -> None:
    """Hedge: in place of strategies eta (R - max R), whose exponentials are taken all at once later."""
    (first, parent), begin, stop, boundary = run
    regret, strategy, mean, squares = learner.regret, learner.strategy, learner.mean, learner.squares
    log_actions, payoff_range, kind, t = rule.log_actions, rule.payoff_range, rule.step_size, step.iteration
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        off = expected - mean[infoset]
        mean[infoset] += off / t
        squares[infoset] += off * (expected - mean[infoset])
        eta = step_size(kind, log_actions[infoset], payoff_range[infoset], squares[infoset], t)
        best = -np.inf
        for s in range(start, end):
            regret[s] += values[s] - expected
            best = max(best, regret[s])
        for s in range(start, end):
            strategy[s] = (regret[s] - best) * eta
        end = start


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


def call(run: InfosetRun, role: Bytes | None, learner: RuleLearner, rule: RuleCall, values: Floats, step: Step) -> None:
    """A rule that is a function, called by its address."""
    (first, parent), begin, stop, boundary = run
    strategy, memory, scratch = learner.strategy, learner.memory, np.empty(len(rule.arguments))
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is None or role[infoset] != SEPARATOR:
            value_of(parent, role, boundary, infoset, start, end, strategy, values)
            _update(rule, step.iteration, values, strategy, memory, start, end - start, scratch)
        end = start


@specialised("learner", {Learner16: match_16, HedgeLearner: hedge, RuleLearner: call})
def walk_up(run: InfosetRun, role: Bytes | None, learner: Learner, rule: Matching, values: Floats, step: Step) -> None:
    """Regrets and next strategies by a rule of the regret matching family (``updates.protocol``), or by another one."""
    (first, parent), begin, stop, boundary = run
    regret, strategy = learner.regret, learner.strategy
    up, down, predict = step.positive, step.negative, rule.predict
    end = np.uint64(first[stop])
    for infoset in range(stop - 1, begin - 1, -1):
        start = np.uint64(first[infoset])
        if role is not None and role[infoset] == SEPARATOR:
            end = start
            continue
        expected = value_of(parent, role, boundary, infoset, start, end, strategy, values)
        total = 0.0
        for s in range(start, end):
            instantaneous = values[s] - expected
            r = discounted(regret[s], instantaneous, up, down)
            predicted = positive(r + predict * instantaneous)
            regret[s] = r
            strategy[s] = predicted
            total += predicted
        share_out(strategy, strategy, start, end, None, total)
        end = start
