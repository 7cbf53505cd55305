"""Rules that are functions on compiled games: what they begin with, how kernels call them, what they must leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints, pair
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
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
    return pair(
        RuleLearner(initial_memory(rule, *places(treeplex), constants, dtype), *learner[1:])
        for treeplex, learner in zip(game.treeplexes, initial_learners(game, dtype), strict=True)
    )


def places(treeplex: Treeplex) -> tuple[Ints, Ints, int]:
    """Where infosets begin, how many actions they have, and how many sequences there are."""
    return treeplex.first[:-1], treeplex.actions, treeplex.sequences


def initial_memory(
    rule: Rule, first: Ints, actions: Ints, sequences: int, constants: Floats, dtype: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """[rows S] The memory of infosets that have ``actions`` and begin at ``first`` [I], in any order."""
    memory = np.zeros(rule.memory * sequences, dtype)
    for width in np.unique(actions[actions > 0]).tolist():
        numbers = rule.initial(width, constants).ravel()
        if numbers.any():  # pages that are never touched take no memory
            begin = rule.memory * first[actions == width].astype(np.int64)
            memory[begin[:, None] + np.arange(len(numbers))] = numbers
    return memory


def rule_calls(game: CompiledGame, rule: Rule) -> tuple[RuleCall, RuleCall]:
    """How kernels call a rule, for each player."""
    return pair(rule.call(payoff_range(game), int(treeplex.actions.max(initial=1))) for treeplex in game.treeplexes)


def check_calls(rule: Rule, calls: Iterable[RuleCall], done: int, upto: int) -> None:
    """ParameterError if a call has failed in the iterations after ``done``, up to ``upto``."""
    rule.check(calls, f"in iterations {done + 1:,} to {upto:,}")


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
