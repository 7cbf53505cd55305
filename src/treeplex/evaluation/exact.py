"""Exact evaluation of policies in a compiled game."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.compile.game import CompiledGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.sequence.cpu import treeplex as kernels
from treeplex.engines.sequence.evaluate import evaluate_strategies, gradient
from treeplex.policies.policy import Policy, policy_of


def evaluate_policy(game: CompiledGame, policy: Policy | Any) -> Evaluation:
    """Return value, best-response values and NashConv of ``policy``, exact up to rounding."""
    return evaluate_strategies(game, policy_of(policy, game).aligned(game))


def best_response(game: CompiledGame, policy: Policy | Any, player: int) -> tuple[float, Policy]:
    """Return the most ``player`` can earn against the other's strategy, and ``policy`` with that best response.

    Ties go to the first action. Infosets that the response never reaches also get a best response.
    """
    strategies = policy_of(policy, game).aligned(game)
    plan, choice = (np.empty(game.treeplexes[who].sequences) for who in (1 - player, player))
    kernels.realization_plan(game.treeplexes[1 - player], strategies[1 - player], plan)
    values = gradient(game, player, plan)
    kernels.best_response(game.treeplexes[player], values, choice)
    pair = (choice, strategies[1]) if player == 0 else (strategies[0], choice)
    return float(values[0]) * game.unit + (game.constant if player == 1 else 0.0), Policy.of(game, pair)
