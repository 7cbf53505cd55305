"""Rules that are functions, on compiled games: their initial memory, their calls by kernels, and checks of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints, pair
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.paths import counterfactual_ranges
from treeplex.engines.sequence.arrays import HedgeRule, RuleLearner
from treeplex.engines.sequence.learners import Strategies, initial_learners
from treeplex.errors import ParameterError, quoted
from treeplex.kernels.calls import RuleCall
from treeplex.tensors import LARGEST, checked
from treeplex.updates.hedge import HedgeForm
from treeplex.updates.rule import TOLERANCE, Rule
from treeplex.updates.thresholds import hedge_threshold


def payoff_range(game: CompiledGame) -> float:
    """Range of payoffs 2 max |u|, from which rules derive their constants."""
    return 2.0 * game.largest_payoff


def rule_learners(game: CompiledGame, rule: Rule, dtype: npt.DTypeLike) -> tuple[RuleLearner, RuleLearner]:
    """Learners before the first iteration, with the rule's initial memory and uniform strategies."""
    memories = rule_memories(game, rule, dtype)
    learners = zip(memories, initial_learners(game, dtype), strict=True)
    return pair(RuleLearner(memory, *learner[1:]) for memory, learner in learners)


def rule_memories(
    game: CompiledGame, rule: Rule, dtype: npt.DTypeLike = np.float64
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Memory of both players before the first iteration, in the game's order."""
    constants, ranges = rule.constants_of(payoff_range(game)), payoff_ranges(game) if rule.ranged else (None, None)
    return pair(
        initial_memory(rule, *infoset_layout(treeplex), constants, dtype, below)
        for treeplex, below in zip(game.treeplexes, ranges, strict=True)
    )


_RANGES: WeakKeyDictionary[CompiledGame, tuple[Floats, Floats]] = WeakKeyDictionary()


def payoff_ranges(game: CompiledGame) -> tuple[Floats, Floats]:
    """[I] Delta(I) of both players' infosets, from the history tree, which may be too large for memory.

    Where Delta(I) is zero, it is replaced by the range of the whole game.
    """
    if game not in _RANGES:
        widest = payoff_range(game) or 1.0
        _RANGES[game] = pair(np.where(own > 0.0, own, widest) for own in counterfactual_ranges(game))
    return _RANGES[game]


def infoset_layout(treeplex: Treeplex) -> tuple[Ints, Ints, int]:
    """First sequence and number of actions of each infoset, and the number of sequences."""
    return treeplex.first[:-1], treeplex.actions, treeplex.sequences


def hedge_rules(game: CompiledGame, rule: Rule) -> tuple[HedgeRule, HedgeRule]:
    """Hedge for both players, for walks that compute all exponentials at once."""
    form: HedgeForm = rule.form
    widest = payoff_range(game) or 1.0
    return pair(
        HedgeRule(np.log(treeplex.actions), widest, hedge_threshold(treeplex.actions, form.d), form.rate)
        for treeplex in game.treeplexes
    )


def hedge_numbers(treeplex: Treeplex, memory: Floats) -> tuple[Floats, Floats, Floats]:
    """Regrets [S], and means and squares [I] of values, of ``updates.hedge``.

    Means and squares are zero where the step size is that of the theory.
    """
    first, actions, sequences = infoset_layout(treeplex)
    rows, regret = len(memory) // sequences, np.zeros(sequences)
    begin = rows * first.astype(np.int64)
    indices = np.repeat(begin - first, actions) + np.arange(1, sequences)
    regret[1:] = memory[indices]
    if rows == 2:
        return regret, np.zeros(len(actions)), np.zeros(len(actions))
    return regret, memory[begin + actions], memory[begin + 2 * actions]


def initial_memory(
    rule: Rule,
    first: Ints,
    actions: Ints,
    sequences: int,
    constants: Floats,
    dtype: npt.DTypeLike = np.float64,
    ranges: Floats | None = None,
) -> npt.NDArray[Any]:
    """[rows S] Initial memory of infosets with ``actions`` [I] that begin at ``first`` [I], in any order.

    ``ranges`` [I]: ranges of the payoffs below each infoset, for a rule that needs them.
    """
    if ranges is None:
        rule.without_ranges("samplers and parts of a game that is cut")
    memory = np.zeros(rule.memory * sequences, dtype)
    for width in np.unique(actions[actions > 0]).tolist():
        numbers = rule.initial(width, constants).ravel()
        if numbers.any():  # pages that are never touched take no memory
            begin = rule.memory * first[actions == width].astype(np.int64)
            memory[begin[:, None] + np.arange(len(numbers))] = numbers
    if ranges is not None:
        memory[_last_row(rule, first, actions)] = ranges
    return memory


def _last_row(rule: Rule, first: Ints, actions: Ints) -> Ints:
    """[I] First index of the last row of each infoset's memory."""
    return rule.memory * first.astype(np.int64) + (rule.memory - 1) * actions


def check_memories(game: CompiledGame, rule: Rule, memories: Sequence[npt.NDArray[Any]]) -> None:
    """Check restored memories of a built-in rule: ValueError unless their numbers are finite.

    Ranges of payoffs below infosets come from the game and not from the file.
    """
    for player, memory in enumerate(memories if not rule.own else ()):
        checked("memory", memory, memory.dtype, None, -LARGEST, LARGEST)
        if rule.ranged:
            first, actions, _ = infoset_layout(game.treeplexes[player])
            memory[_last_row(rule, first, actions)] = payoff_ranges(game)[player]


def rule_calls(game: CompiledGame, rule: Rule, threads: int = 1) -> tuple[RuleCall, RuleCall]:
    """Return the calls by which kernels apply a rule, for each player."""
    widest = [int(treeplex.actions.max(initial=1)) for treeplex in game.treeplexes]
    return pair(rule.call(payoff_range(game), width, threads) for width in widest)


def check_calls(rule: Rule, calls: Iterable[RuleCall], done: int, upto: int) -> None:
    """Raise ParameterError if a call has failed in the iterations after ``done``, up to ``upto``."""
    rule.check(calls, f"in iterations {done + 1:,} to {upto:,}")


def check_strategies(rule: Rule, game: CompiledGame, strategies: Strategies, iteration: int) -> None:
    """Raise ParameterError if the rule's strategies are not probabilities."""
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
