"""Merging of policies: each player draws one of them before the game and follows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu import treeplex as kernels
from treeplex.errors import ParameterError, quoted, real
from treeplex.policies.policy import Policy, PolicySource, policy_of


def merge(game: CompiledGame, policies: Sequence[PolicySource], shares: Sequence[float] | None = None) -> Policy:
    """Average policies by reach: x(s) = sum_k share_k x_k(s), where x_k(s) is policy k's probability of sequence s.

    By Kuhn's theorem this is equivalent to drawing policy k with probability share_k before the game. So the value of a
    best response is at most the mean value of the best responses to the policies, and often less, because their errors
    differ.
    ``shares``: equal by default. At infosets that no policy reaches, the mean of their strategies is played.
    """
    listed: list[Any] = list(shares) if shares is not None else [1.0] * len(policies)
    if not policies:
        raise ParameterError("The 'policies' parameter must hold at least one policy, got none.")
    if len(listed) != len(policies) or not all((real(share) or 0.0) > 0.0 for share in listed):
        raise ParameterError(
            f"The 'shares' parameter must hold a positive number for each of {len(policies)} policies, got"
            f" {quoted(listed)}."
        )
    share = np.array(listed, dtype=np.float64)
    share /= share.sum()
    aligned = [policy_of(policy, game).aligned(game) for policy in policies]
    merged: list[Any] = []
    for player, treeplex in enumerate(game.treeplexes):
        total, mean, weights = np.zeros(treeplex.sequences), np.zeros(treeplex.sequences), np.empty(treeplex.sequences)
        for part, pair in zip(share.tolist(), aligned, strict=True):
            kernels.realization_plan(treeplex, pair[player], weights)
            total += part * weights
            mean += part * pair[player]
        reached = np.repeat(total[treeplex.parent] > 0.0, treeplex.actions)
        total[1:] = np.where(reached, total[1:], mean[1:])
        strategy = np.empty(treeplex.sequences)
        kernels.normalise(treeplex, total, strategy)
        merged.append(strategy)
    return Policy.of(game, (merged[0], merged[1]))
