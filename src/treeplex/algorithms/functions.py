"""Rules that are functions, in algorithms on compiled games: they are tried, called, and judged by what they leave."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from treeplex.algorithms.trial import TOLERANCE, try_rule
from treeplex.arrays import Floats
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.engines.functions import FunctionTable
from treeplex.engines.sequence.learners import Strategies
from treeplex.errors import ParameterError, quoted
from treeplex.updates.rule import Rule


def payoff_range(game: CompiledGame) -> float:
    """What rules take constants from: 2 max |u|."""
    return 2.0 * game.largest_payoff


def constants_in(rule: Rule, game: CompiledGame) -> Floats:
    """[C] The constants of a rule in a game."""
    return rule.constants_of(payoff_range(game))


def try_own(rule: Rule, game: CompiledGame) -> None:
    """Refuse a user's rule that fails as plain Python, and any that Numba cannot compile."""
    if rule.own:
        try_rule(rule.name, rule.update, rule.memory, game)


@contextmanager
def calling(
    rule: Rule, game: CompiledGame, memory: tuple[Floats, ...], done: int, iterations: int
) -> Generator[tuple[FunctionTable, FunctionTable]]:
    """How kernels call a rule in so many iterations after ``done``; ParameterError if a call has failed in them."""
    entry = rule.entry  # to be kept while its address is in use
    widest = max(int(treeplex.actions.max(initial=1)) for treeplex in game.treeplexes)
    first, second = (
        FunctionTable(rule.call(payoff_range(game)), own, np.empty((2 + rule.memory) * widest)) for own in memory
    )
    yield first, second
    for (call, _, scratch), treeplex in zip((first, second), game.treeplexes, strict=True):
        infoset, t = call.failed.tolist()
        if infoset >= 0:
            actions = int(treeplex.actions[infoset])
            values, strategy, *rows = scratch[: (2 + rule.memory) * actions].reshape(-1, actions)
            numbers = np.array(rows).reshape(rule.memory, actions)
            raise rule.failure(during(done, iterations), t, values, strategy, numbers, call.constants)
    del entry


def during(done: int, iterations: int) -> str:
    """When a rule was called, in words."""
    return f"in iterations {done + 1:,} to {done + iterations:,}"


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
