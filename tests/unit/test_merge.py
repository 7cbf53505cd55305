"""Merging: the average by reach is a mixture of whole strategies."""

from __future__ import annotations

import numpy as np
import pytest

import treeplex as tp
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.errors import ParameterError
from treeplex.evaluation import Policy
from treeplex.games.random_tree import RandomTree


def random_policy(game: tp.CompiledGame, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    first, second = (
        np.concatenate([np.ones(1), *(rng.dirichlet(np.full(n, 0.3)) for n in treeplex.actions.tolist())])
        for treeplex in game.treeplexes
    )
    return Policy.of(game, (first, second))


@pytest.mark.parametrize("seed", range(5))
def test_sequence_weights_are_mixed(seed) -> None:
    game = tp.load(RandomTree(seed=seed))
    policies = [random_policy(game, 10 * seed + k) for k in range(3)]
    shares = [0.5, 0.2, 0.3]
    merged = tp.merge(game, policies, shares)
    for player, treeplex in enumerate(game.treeplexes):
        mixed = np.zeros(treeplex.sequences)
        for share, policy in zip(shares, policies, strict=True):
            weights = np.empty(treeplex.sequences)
            realization_plan(treeplex, policy.aligned(game)[player], weights)
            mixed += share * weights
        weights = np.empty(treeplex.sequences)
        realization_plan(treeplex, merged.aligned(game)[player], weights)
        np.testing.assert_allclose(weights, mixed, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_a_best_response_earns_no_more_than_the_mean(seed) -> None:
    """The maximum of a mean is at most the mean of maxima."""
    game = tp.load(RandomTree(seed=seed))
    policies = [random_policy(game, 10 * seed + k) for k in range(4)]
    merged = tp.evaluate(game, tp.merge(game, policies))
    parts = [tp.evaluate(game, policy) for policy in policies]
    for player in (0, 1):
        mean = sum(part.best_response_values[player] for part in parts) / 4
        assert merged.best_response_values[player] <= mean + 1e-12


def test_merging_one_changes_nothing_and_files_will_do(tmp_path) -> None:
    solution = tp.solve("leduc", "cfr+", iterations=20)
    solution.policy.save(tmp_path / "one.parquet")
    merged = tp.merge("leduc", [tmp_path / "one.parquet"])
    for ours, theirs in zip(merged.aligned(solution.game), solution.policy.aligned(solution.game), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_where_nobody_gets_the_mean_behaviour_is_played() -> None:
    game = tp.load("kuhn")
    never, bold = Policy.uniform(game).aligned(game), Policy.uniform(game).aligned(game)
    first = [probability.copy() for probability in (never[0], bold[0])]
    start = int(game.treeplexes[0].first[game.infoset_index[0]["0"]])
    below = int(game.treeplexes[0].first[game.infoset_index[0]["0pb"]])
    for probability, fold in zip(first, (1.0, 0.5), strict=True):
        probability[start : start + 2] = 0.0, 1.0  # always bet, so "0pb" is never reached
        probability[below : below + 2] = fold, 1.0 - fold
    merged = tp.merge(game, [Policy.of(game, (strategy, never[1])) for strategy in first])
    assert merged["0pb"]["p"] == pytest.approx(0.75)


@pytest.mark.parametrize("shares", [[1.0], [1.0, -1.0], [1.0, 0.0], ["a", 1.0]])
def test_wrong_shares_are_refused(shares) -> None:
    uniform = Policy.uniform(tp.load("kuhn"))
    with pytest.raises(ParameterError, match="'shares' parameter must hold a positive number for each of 2 policies"):
        tp.merge("kuhn", [uniform, uniform], shares)


def test_nothing_to_merge_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one policy"):
        tp.merge("kuhn", [])
