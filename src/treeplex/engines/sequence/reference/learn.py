"""Learning of a player from a gradient, equation by equation. Learners and ``values`` are modified in place.

    v(I) = sum over a of sigma(a) v(I, a),   r(a) = v(I, a) - v(I),   v(parent of I) += v(I)

Regret matching (``updates.protocol``):

    R(a) <- d+ x if x > 0, d- x otherwise, with x = R(a) + r(a);   sigma(a) ~ max(R(a) + p r(a), 0)

In 16 bits an infoset stores whole numbers q(a) and one scale c; its regrets are c q(a). After every update R the new
scale is c = max over a of |R(a)| / 32767 (in float32), and q(a) is R(a) / c rounded to the nearest whole number. The
next strategy is taken from R before it is rounded.

A rule that is a function is called directly: ``updates.rule``. Hedge is such a rule: ``updates.hedge``.

Fictitious play: x <- x + w (BR - x), for realization plans.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import (
    Learner,
    Learner16,
    Matching,
    MatchingAgainstBestResponse,
    Responder,
    RuleLearner,
    Step,
    WalkedLearner,
)
from treeplex.engines.sequence.reference.treeplex import best_response, realization_plan
from treeplex.engines.sequence.rules import payoff_range
from treeplex.updates.reference import normalise_sequences
from treeplex.updates.rule import Rule
from treeplex.updates.storage import largest_of


class PythonRule(NamedTuple):
    """A rule that is a function, as plain Python."""

    rule: Rule
    constants: Floats
    failed: tuple[int] = (-1,)  # as in ``RuleCall``, but always -1: plain Python raises instead


def rule_calls(game: CompiledGame, rule: Rule, threads: int = 1) -> tuple[PythonRule, PythonRule]:
    """Return the rule for each player, like ``engines.sequence.rules.rule_calls`` but as plain Python."""
    made = PythonRule(rule, rule.constants_of(payoff_range(game)))
    return made, made


ReferenceRule = Matching | MatchingAgainstBestResponse | PythonRule


def learn(
    treeplex: Treeplex, learner: WalkedLearner | Responder, rule: ReferenceRule | None, values: Floats, step: Step
) -> None:
    """Update average, regrets and strategy of one player."""
    if isinstance(learner, Responder):
        best_response(treeplex, values, learner.response)
        realization_plan(treeplex, learner.response.copy(), learner.response)
        learner.plan[:] += step.weight * (learner.response - learner.plan)
        return
    first, parent = treeplex
    learner.average[:] += step.weight * learner.plan
    predicted = np.zeros(len(values))
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = learner.strategy[own] @ values[own]
        values[parent[infoset]] += expected
        instantaneous = values[own] - expected
        match learner, rule:
            case RuleLearner(), PythonRule():
                predicted[own] = _apply(learner, rule, own, values[own].astype(np.float64), step)
            case Learner() | Learner16(), Matching() | MatchingAgainstBestResponse():
                predicted[own] = _match(learner, rule, infoset, own, instantaneous, step)
            case _:
                raise TypeError("the learner does not belong to this rule")
    if isinstance(learner, RuleLearner):
        learner.strategy[1:] = predicted[1:]
        realization_plan(treeplex, learner.strategy, learner.plan)
        return
    learner.strategy[:] = normalise_sequences(predicted, first)
    realization_plan(treeplex, learner.strategy, learner.plan)


def _match(
    learner: Learner | Learner16,
    rule: Matching | MatchingAgainstBestResponse,
    infoset: int,
    own: slice,
    instantaneous: Floats,
    step: Step,
) -> Floats:
    """Update the regrets of an infoset and return the weights that its next strategy is in proportion to."""
    whole = isinstance(learner, Learner16)
    x = learner.regret[own] * (np.float64(learner.scale[infoset]) if whole else 1.0) + instantaneous
    regret = np.where(x > 0.0, step.positive * x, step.negative * x)
    if whole:
        scale = np.float64(np.float32(np.abs(regret).max() / largest_of(learner.regret.dtype)))
        learner.scale[infoset] = scale
        learner.regret[own] = np.rint(regret / scale) if scale > 0.0 else 0
    else:
        learner.regret[own] = regret
    return np.maximum(regret + rule.predict * instantaneous, 0.0)


def _apply(learner: RuleLearner, rule: PythonRule, own: slice, values: Floats, step: Step) -> Floats:
    """Update the memory of an infoset and return its next strategy, as the rule leaves it."""
    rows, constants = rule.rule.memory, rule.constants
    position = slice(rows * own.start, rows * own.stop)
    strategy = learner.strategy[own].astype(np.float64)
    memory = learner.memory[position].astype(np.float64).reshape(rows, len(values))
    rule.rule.apply(step.iteration, values, strategy, memory, constants)
    learner.memory[position] = memory.ravel()
    return strategy
