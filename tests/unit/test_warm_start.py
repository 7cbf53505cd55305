"""Warm start by elimination: the reduced game, the way back, and the safe mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.warm_start import WarmStart, warm_start
from treeplex.compile import CompiledGame
from treeplex.compile.reduced import reduced
from treeplex.engines.sampling.cpu.count import histories
from treeplex.engines.sampling.tree import sample_tree
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree


def masks(game: CompiledGame, rng: np.random.Generator) -> tuple[Any, Any]:
    """Some actions left out at random; every infoset keeps one."""
    out = []
    for treeplex in game.treeplexes:
        mask = (rng.random(treeplex.sequences) < 0.6).astype(np.int8)
        for start, end in zip(treeplex.first[:-1], treeplex.first[1:], strict=True):
            mask[rng.integers(start, end)] = 1
        mask[0] = 1
        out.append(mask)
    return out[0], out[1]


@settings(max_examples=30)
@given(seed=st.integers(0, 200))
def test_a_reduced_game_pays_what_the_whole_game_pays(seed) -> None:
    """For strategies that never use what was taken out: x'Ay is the same, infoset by infoset."""
    game, rng = tp.load(RandomTree(seed=seed, depth=5)), np.random.default_rng(seed)
    kept = masks(game, rng)
    left = reduced(game, kept)
    small, large = [], []
    for player, treeplex in enumerate(game.treeplexes):
        own = left.sequences[player]
        behaviour = np.where(kept[player] == 1, rng.random(treeplex.sequences), 0.0)
        for start, end in zip(treeplex.first[:-1], treeplex.first[1:], strict=True):
            behaviour[start:end] /= behaviour[start:end].sum()
        behaviour[0] = 1.0
        weights, part = np.empty(treeplex.sequences), np.empty(len(own))
        realization_plan(treeplex, behaviour, weights)
        realization_plan(left.treeplexes[player], behaviour[own], part)
        np.testing.assert_allclose(weights[own], part, rtol=0, atol=1e-15)
        assert weights.sum() == pytest.approx(part.sum(), abs=1e-12)  # nothing is played that is not left
        small.append(part)
        large.append(weights)
    values = []
    for payoffs, (x, y) in ((game.payoffs, large), (left.payoffs, small)):
        rows = payoffs.rows
        row = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
        values.append(float((x[row] * rows.data * y[rows.column]).sum()))
    assert values[0] == pytest.approx(values[1], abs=1e-13)


@settings(max_examples=20)
@given(seed=st.integers(0, 200))
def test_histories_left_are_counted(seed) -> None:
    game, rng = tp.load(RandomTree(seed=seed, depth=5)), np.random.default_rng(seed)
    kept = masks(game, rng)
    form, tree = sample_tree(game), game.tree
    alive = np.ones(game.nodes, dtype=bool)
    place = np.zeros(game.nodes, dtype=int)
    seen: dict[int, int] = {}
    for node in range(1, game.nodes):
        above = int(tree.parent[node])
        place[node] = seen.get(above, 0)
        seen[above] = place[node] + 1
        mover = int(tree.mover[above])
        ok = True
        if mover >= 0:
            ok = kept[mover][game.treeplexes[mover].first[tree.infoset[above]] + place[node]] == 1
        alive[node] = alive[above] and ok
    assert form.pre_deal_nodes + histories(form.tree, kept) == alive.sum()


def test_only_actions_that_are_hardly_played_are_taken_out() -> None:
    game = tp.load("gaussian_matrix(size=40,better=3,seed=1)")
    algorithm = warm_start(warmup=2000)
    state = algorithm.advance(game, algorithm.start(game), 2000)
    explored = algorithm.sampler.report(game, state.sampler, "average").arrays
    for mask, strategy in zip(state.kept, explored, strict=True):
        np.testing.assert_array_equal(mask[1:] == 1, strategy[1:] >= 10.0 / 2000)
        assert 1 <= mask[1:].sum() < 20


def test_unsafe_may_be_stuck_and_safe_is_not() -> None:
    """A hundred iterations of exploring know too little; what they drop must come back."""
    game = tp.load("leduc")
    unsafe = tp.solve(game, "warm-start(warmup=100,mode=unsafe)", iterations=20_000)
    safe = tp.solve(game, "warm-start(warmup=100)", nash_conv=1e-3, iterations=20_000)
    assert unsafe.nash_conv > 0.1
    assert safe.status == "solved"
    assert safe.value == pytest.approx(-0.0856064, abs=1e-3)


def test_a_best_response_brings_back_just_what_it_gains_by() -> None:
    """Rock, paper, scissors without paper: rock is played, so paper gains and comes back; nothing else was out."""
    game = tp.load(MatrixGame([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    algorithm = warm_start(warmup=5, elimination_threshold=0.0)
    state = algorithm.advance(game, algorithm.start(game), 5)
    assert all(mask.all() for mask in state.kept)  # with a threshold of 0 nothing goes
    state.kept[0][2] = 0
    state = algorithm._restarted(game, state)
    state = algorithm.advance(game, state, 2000)
    assert state.kept[0].tolist() == [1, 1, 1, 1]
    average = algorithm.report(game, state, "average").arrays
    np.testing.assert_allclose(average[0][1:], 1 / 3, atol=0.02)


def test_the_answer_is_measured_in_the_whole_game() -> None:
    game = tp.load("gaussian_matrix(size=30,better=2,seed=3)")
    solution = tp.solve(game, "warm-start(warmup=300,mode=unsafe)", iterations=3000)
    assert tp.evaluate(game, solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-14)
    assert len(solution.policy[0, "row"]) == 30


def test_fewer_nodes_than_whole_passes() -> None:
    game = tp.load("gaussian_matrix(size=30,better=2,seed=3)")
    solution = tp.solve(game, "warm-start(warmup=300)", iterations=3000)
    explored = tp.solve(game, "pure-mccfr", iterations=300).nodes_touched
    assert explored < solution.nodes_touched < explored + 2700 * 2 * game.nodes / 4


def test_where_nothing_is_learnt_the_sampler_plays() -> None:
    """Leduc after folding hands out: infosets that only dropped actions of the opponent lead to."""
    game, algorithm = tp.load("leduc"), warm_start(warmup=2000, mode="unsafe")
    assert isinstance(algorithm, WarmStart)
    state = algorithm.advance(game, algorithm.start(game), 2500)
    explored = algorithm.sampler.report(game, state.sampler, "average").arrays
    average = algorithm.report(game, state, "average").arrays
    for treeplex, unpaid, before, now in zip(game.treeplexes, state.unpaid, explored, average, strict=True):
        spread = np.repeat(unpaid == 1, treeplex.actions)
        assert 0 < spread.sum() < len(spread)
        np.testing.assert_array_equal(now[1:][spread], before[1:][spread])


@pytest.mark.parametrize("better", [3, 20])
def test_the_sampler_ends_once_a_doubling_takes_out_less_than_a_tenth(better) -> None:
    """The looks written out: 10 / T of the average after 1000, 2000, 4000, ... iterations T, and at most 20,000."""
    game = tp.load(f"gaussian_matrix(size=40,better={better},seed=1)")
    algorithm = warm_start(warmup=20_000, switch="settled")
    sampler = algorithm.sampler
    sampled, left, expected = sampler.start(game), 82, 0  # forty actions and the empty sequence, twice
    for look in (1000, 2000, 4000, 8000, 16_000, 20_000):
        sampled = sampler.advance(game, sampled, look - sampled.iteration)
        strategies = sampler.report(game, sampled, "average").arrays
        now = 2 + sum(
            int(((strategy[1:] >= 10.0 / look) | (strategy[1:] == strategy[1:].max())).sum()) for strategy in strategies
        )
        expected = look
        if now >= 0.9 * left:
            break
        left = now
    state = algorithm.advance(game, algorithm.start(game), 25_000)
    assert state.sampler.iteration == expected < 20_000
    assert sum(int(mask.sum()) for mask in state.kept) >= now
    in_parts = algorithm.start(game)
    for count in (700, 300, 1, 3999, 20_000):
        saved = algorithm.save(algorithm.advance(game, in_parts, count))
        in_parts = algorithm.restore(game, saved, 0)
    for left_out, whole in zip(
        algorithm.report(game, in_parts, "average").arrays, algorithm.report(game, state, "average").arrays, strict=True
    ):
        np.testing.assert_array_equal(left_out, whole)
