"""``start=random``: random strategies in the first iteration, by the seed, for every algorithm of the CFR family."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.random_start import initial_state, random_strategy
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.errors import ParameterError
from treeplex.games.random_tree import RandomTree

FIRST_ORDER = {
    "egt",
    "egt-dt",
    "egt-restarted",
    "mirror-prox",
    "mirror-prox-dt",
    "mirror-prox-restarted",
    "omd",
    "omd-dt",
}
OTHERS = FIRST_ORDER | {"auto", "lp", "warm-start", "fp", "xfp"}
FAMILY = [name for name in ALGORITHMS if name not in OTHERS]
PURE = {"pure-cfr", "pure-mccfr"}


@pytest.fixture(scope="module")
def game() -> Any:
    return tp.load(RandomTree(seed=3, depth=5))


@pytest.mark.parametrize("name", FAMILY)
def test_the_first_strategies_are_random_by_the_seed(name, game) -> None:
    algorithm = build(name)
    found = [
        algorithm.report(game, initial_state(algorithm, game, seed, "random"), "current").arrays for seed in (1, 1, 2)
    ]
    uniform = algorithm.report(game, initial_state(algorithm, game, 1), "current").arrays
    for player, treeplex in enumerate(game.treeplexes):
        one, same, other = (arrays[player][1:] for arrays in found)
        np.testing.assert_array_equal(one, same)
        assert (one != other).any()
        assert name in PURE or (one != uniform[player][1:]).any()
        np.testing.assert_allclose(np.add.reduceat(found[0][player], treeplex.first[:-1]), 1.0, rtol=1e-12)


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
def test_the_first_iteration_is_that_of_the_random_strategies(turns, game) -> None:
    """Regrets of iteration 1 are measured against them: walks, arrays and regrets written out agree."""
    rng = np.random.default_rng(4)
    plans = [random_strategy(treeplex, rng) for treeplex in game.treeplexes]
    states = []
    for name in ("cfr", "cfr-partial", "lazy-cfr(threshold=0"):
        spec = f"{name},turns={turns})" if "(" in name else f"{name}(turns={turns})"
        algorithm = build(spec)
        state = initial_state(algorithm, game, 4, "random")
        for player, (strategy, plan) in enumerate(plans):
            np.testing.assert_array_equal(algorithm.report(game, state, "current").arrays[player][1:], strategy[1:])
            for parent, (first, end) in zip(
                game.treeplexes[player].parent, pairwise(game.treeplexes[player].first), strict=True
            ):
                np.testing.assert_array_equal(plan[first:end], plan[parent] * strategy[first:end])
        state = algorithm.advance(game, state, 1)
        average = algorithm.report(game, state, "average").arrays
        np.testing.assert_allclose(average[1][1:], plans[1][0][1:], rtol=0, atol=1e-12)
        states.append(algorithm.report(game, algorithm.advance(game, state, 5), "average").arrays)
    for other in states[1:]:
        for left, right in zip(states[0], other, strict=True):
            np.testing.assert_allclose(left[1:], right[1:], rtol=0, atol=1e-10)


def test_samplers_play_at_random_until_they_learn(game) -> None:
    algorithm = build("mccfr-external")
    state = initial_state(algorithm, game, 0, "random")
    for table in state.streams[0].tables:
        assert 0.0 < table.regret.max() <= 1e-12 * game.largest_payoff


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_algorithms_refuse_it_in_one_sentence(name, game) -> None:
    with pytest.raises(ParameterError, match="'start' parameter can be random only"):
        initial_state(build(name), game, 0, "random")


def test_it_is_an_option_of_a_run(tmp_path) -> None:
    plain, one, same, other = (
        tp.solve("leduc", "cfr", iterations=20, seed=seed, start=start)
        for seed, start in ((1, "uniform"), (1, "random"), (1, "random"), (2, "random"))
    )
    assert one.nash_conv == same.nash_conv
    assert len({plain.nash_conv, one.nash_conv, other.nash_conv}) == 3
    tp.solve("leduc", "cfr", iterations=8, seed=1, start="random", out=tmp_path / "run")
    assert tp.resume(tmp_path / "run", iterations=20).nash_conv == one.nash_conv
    with pytest.raises(ParameterError, match="'start' parameter must be one of uniform, random, got 'even'"):
        tp.solve("leduc", "cfr", iterations=20, start="even")
    with pytest.raises(tp.TreeplexError, match="holds a run with another set of options"):
        tp.solve("leduc", "cfr", iterations=20, seed=1, out=tmp_path / "run")


def test_a_random_start_reaches_the_equilibrium() -> None:
    assert tp.solve("kuhn", "cfr+", nash_conv=1e-4, start="random", seed=5).value == pytest.approx(-1 / 18, abs=1e-4)
