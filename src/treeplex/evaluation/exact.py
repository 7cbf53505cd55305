"""Exact evaluation of policies in a compiled game: one gradient and one bottom-up pass a player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu import treeplex as kernels
from treeplex.engines.sequence.cpu.operators import earn
from treeplex.evaluation.policy import Policy


class Evaluation(NamedTuple):
    """What a pair of strategies is worth, and how far from equilibrium it is. Payoffs are those of the rules."""

    value: float
    """Player 0's expected payoff."""

    nash_conv: float
    """Sum over both players of what a best response would gain; 0 exactly at a Nash equilibrium."""

    best_response_values: tuple[float, float]
    """Each player's own payoff when best responding to the other."""

    extra: Mapping[str, float] = {}
    """What else was measured, by name; empty for most games."""

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``: the average gain per player."""
        return self.nash_conv / 2.0


def evaluate_policy(game: CompiledGame, policy: Policy) -> Evaluation:
    """Value, best-response values and NashConv of ``policy``, exact up to rounding."""
    return evaluate_strategies(game, policy.aligned(game))


def evaluate_strategies(game: CompiledGame, behaviour: tuple[Floats, Floats], threads: int = 0) -> Evaluation:
    """As ``evaluate_policy``, for strategies given in the game's own order of sequences."""
    weights = tuple(_weights(game, player, behaviour[player]) for player in (0, 1))
    earned = gradient(game, 0, weights[1])
    value = float(weights[0] @ earned)
    first, _ = _respond(game, 0, earned)
    second, _ = _respond(game, 1, gradient(game, 1, weights[0]))
    gain = first + second
    rounding = 1e-12 * game.largest_payoff
    return Evaluation(value, 0.0 if -rounding < gain < 0.0 else gain, (first, game.constant + second))


def best_response(game: CompiledGame, policy: Policy, player: int) -> tuple[float, Policy]:
    """The most ``player`` can earn against the other's strategy, and ``policy`` with that best response in it.

    Ties go to the first action; infosets the response never reaches get a best response too.
    """
    behaviour = policy.aligned(game)
    opponent = _weights(game, 1 - player, behaviour[1 - player])
    value, choice = _respond(game, player, gradient(game, player, opponent))
    pair = (choice, behaviour[1]) if player == 0 else (behaviour[0], choice)
    return value + (game.constant if player == 1 else 0.0), Policy.of(game, pair)


def gradient(game: CompiledGame, player: int, opponent: Floats) -> Floats:
    """[S] what each sequence of ``player`` earns against the opponent's sequence weights: A y, or -A'x."""
    out = np.empty(game.treeplexes[player].sequences)
    earn(game.operator[player], 1.0 if player == 0 else -1.0, opponent, out)
    return out


def _weights(game: CompiledGame, player: int, behaviour: Floats) -> Floats:
    weights = np.empty(len(behaviour))
    kernels.sequence_weights(game.treeplexes[player], behaviour, weights)
    return weights


def _respond(game: CompiledGame, player: int, values: Floats) -> tuple[float, Floats]:
    """Best-response value and choice; ``values`` is consumed."""
    choice = np.empty_like(values)
    kernels.best_response(game.treeplexes[player], values, choice)
    return float(values[0]), choice
