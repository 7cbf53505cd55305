"""Rules that are functions on compiled games: what they begin with, how kernels call them, what they must leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import RuleLearner
from treeplex.engines.sequence.learners import Strategies, initial_learners
from treeplex.errors import ParameterError, quoted
from treeplex.kernels.calls import RuleCall
from treeplex.updates.rule import TOLERANCE, Rule


def payoff_range(game: CompiledGame) -> float:
    """What rules take their constants from: 2 max |u|."""
    return 2.0 * game.largest_payoff


def rule_learners(game: CompiledGame, rule: Rule, dtype: npt.DTypeLike) -> tuple[RuleLearner, RuleLearner]:
    """The rule's own memory before the first iteration, uniform strategies."""
    constants = rule.constants_of(payoff_range(game))
    first, second = (
        RuleLearner(initial_memory(rule, treeplex.first, constants, dtype), *learner[1:])
        for treeplex, learner in zip(game.treeplexes, initial_learners(game, dtype), strict=True)
    )
    return first, second


def initial_memory(rule: Rule, first: Ints, constants: Floats, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """[rows S] The memory of all infosets, whose sequences begin at ``first`` [I + 1]."""
    memory, actions = np.zeros(rule.memory * int(first[-1]), dtype), np.diff(first)
    for width in np.unique(actions).tolist():
        begin = rule.memory * first[:-1][actions == width].astype(np.int64)
        memory[begin[:, None] + np.arange(rule.memory * width)] = rule.initial(width, constants).ravel()
    return memory


def rule_calls(game: CompiledGame, rule: Rule) -> tuple[RuleCall, RuleCall]:
    """How kernels call a rule, for each player."""
    first, second = (
        rule.call(payoff_range(game), int(treeplex.actions.max(initial=1))) for treeplex in game.treeplexes
    )
    return first, second


def check_strategies(rule: Rule, game: CompiledGame, strategies: Strategies, iteration: int) -> None:
    """Reject a rule that has left anything but probabilities."""
    for player, (treeplex, strategy) in enumerate(zip(game.treeplexes, strategies, strict=True)):
        if not treeplex.infosets:
            continue
        totals = np.add.reduceat(strategy, treeplex.first[:-1])
        lowest = np.minimum.reduceat(strategy, treeplex.first[:-1])
        wrong = np.flatnonzero((np.abs(totals - 1.0) > TOLERANCE) | (lowest < -TOLERANCE))
        if len(wrong):
            infoset = int(wrong[0])
            label = unpacked(game.labels[player].infosets[infoset : infoset + 1])[0]
            raise ParameterError(
                f"The rule '{rule.name}' must leave probabilities that add up to 1 in 'strategy': at infoset"
                f" {quoted(label)} of player {player} they add up to {totals[infoset]:g}, the lowest is"
                f" {lowest[infoset]:g}, after iteration {iteration:,}."
            )
