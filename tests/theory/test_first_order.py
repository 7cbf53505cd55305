"""The dilated entropy, the excessive gap technique, mirror prox and optimistic mirror descent: what theory says.

Whatever a solver claims about its state is computed again here, from its plans alone, with the NumPy kernels.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.compile import CompiledGame
from treeplex.engines.sequence.cpu import entropy as cpu_entropy
from treeplex.engines.sequence.cpu import prox
from treeplex.engines.sequence.cpu.oracle import gradient_of
from treeplex.engines.sequence.entropy import WEIGHTS, entropies, moduli, prox_scratch
from treeplex.engines.sequence.first_order import Entropy
from treeplex.engines.sequence.reference import excessive_gap as reference_gap
from treeplex.engines.sequence.reference import prox as reference
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.engines.sequence.tree_operator import tree_operator
from treeplex.evaluation.exact import evaluate_strategies, gradient
from treeplex.games.random_tree import RandomTree
from treeplex.updates import exponential

ALL = [
    "egt",
    "egt-dt",
    "egt-restarted",
    "mirror-prox",
    "mirror-prox-dt",
    "omd",
    "omd-dt",
    "hedge",
    "hedge-dt",
    "hedge-dt-rbp",
    "rm-dt",
]
TREES = [
    RandomTree(seed=1, depth=4, chance=0.0, visible=0.0),
    RandomTree(seed=2, depth=5, width=4, chance=0.3, visible=0.5),
    RandomTree(seed=3, depth=6, chance=0.1, visible=1.0),
    RandomTree(seed=4, depth=7, width=2, chance=0.4, visible=0.2),
    RandomTree(seed=5, depth=6, visible=0.0, scale=1000.0),
    RandomTree(seed=6, depth=8, width=2, forced=0.4, scale=1e-3),
]


@pytest.fixture(scope="module", params=[*TREES, "leduc"], ids=str)
def game(request) -> CompiledGame:
    return tp.load(request.param)


def random_plan(game: CompiledGame, player: int, rng: np.random.Generator, sharp: float = 1.0) -> Any:
    treeplex = game.treeplexes[player]
    behaviour = np.concatenate([np.ones(1), *(rng.dirichlet(np.full(n, sharp)) for n in treeplex.actions.tolist())])
    plan = np.empty(treeplex.sequences)
    realization_plan(treeplex, behaviour, plan)
    return plan


def widest(game: CompiledGame, player: int, entropy: Entropy) -> float:
    """max d: at every infoset all of weight(I) ln |A| is had by playing one action, and the best one counts."""
    (first, parent), below = game.treeplexes[player], np.zeros(game.treeplexes[player].sequences)
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        below[parent[infoset]] += below[own].max() + entropy.weight[infoset] * np.log(len(below[own]))
    return float(below[0])


def smoothed(game: CompiledGame, kind: int, plans: tuple[Any, Any], smoothing: Any) -> float:
    """F(g0, mu0) + F(g1, mu1)."""
    return sum(
        reference.respond(
            game.treeplexes[i],
            entropies(game, kind)[i],
            float(smoothing[i]),
            gradient(game, i, plans[1 - i]),
            prox_scratch(game.treeplexes[i]),
            np.empty(game.treeplexes[i].sequences),
        )
        for i in (0, 1)
    )


def payoff(game: CompiledGame) -> float:
    return game.largest_payoff


# --- exp and log -----------------------------------------------------------------------------------------------------


def test_exp_is_what_it_says() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [-rng.exponential(10, 20_000), -229.9 * rng.random(20_000), -(10.0 ** rng.uniform(-20, 0, 20_000))]
    )
    ours, true = x.copy(), np.exp(x.astype(np.longdouble))
    exponential.exp_all(ours, len(ours))
    assert float(np.abs(ours / true - 1).max()) <= 3e-16
    edges = np.array([0.0, -0.0, -230.0, -231.0, -1e300, -np.inf])
    exponential.exp_all(edges, len(edges))
    np.testing.assert_allclose(edges, [1.0, 1.0, np.exp(-230.0), 0.0, 0.0, 0.0], rtol=1e-15)
    assert edges[0] == edges[1] == 1.0


def test_log_is_what_it_says() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [1 + 10.0 ** rng.uniform(-15, 0, 20_000), rng.uniform(1, 100, 20_000), 10.0 ** rng.uniform(0, 300, 9)]
    )
    ours, true = x.copy(), np.log(x.astype(np.longdouble))
    exponential.log_all(ours, len(ours))
    assert float(np.abs(ours[x > 1] / true[x > 1] - 1).max()) <= 6e-16
    assert exponential.log_from_one(1.0) == 0.0


# --- the dilated entropy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_follow_the_papers(name, game) -> None:
    for treeplex, entropy in zip(game.treeplexes, entropies(game, WEIGHTS[name]), strict=True):
        weight, height = np.empty(treeplex.infosets), np.empty(treeplex.infosets, dtype=np.int32)
        own, high = weight.copy(), height.copy()
        norm = reference.entropy_weights(treeplex, WEIGHTS[name], weight, height)
        assert cpu_entropy.entropy_weights(treeplex, WEIGHTS[name], own, high) == norm
        np.testing.assert_array_equal(entropy.weight, weight)
        np.testing.assert_array_equal(own, weight)
        np.testing.assert_array_equal(high, height)
        assert sorted(entropy.order.tolist()) == list(range(treeplex.infosets))
        assert (np.diff(height[entropy.order]) >= 0).all()
        np.testing.assert_array_equal(np.diff(entropy.level), np.bincount(height))


def test_weights_by_hand() -> None:
    """Kuhn, player 0: three infosets to begin with, each with one more below its second action (pass, then called)."""
    game = tp.load("kuhn")
    expected = {"kroer2015": {8.0, 2.0}, "kroer2020": {6.0, 2.0}, "farina2021": {2.0, 1.0}}
    for name, weights in expected.items():
        assert set(entropies(game, WEIGHTS[name])[0].weight.tolist()) == weights


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 7), width=st.integers(2, 4), log_mu=st.floats(-6, 3))
def test_smoothed_responses_are_the_best(seed, depth, width, log_mu) -> None:
    """The kernel equals its twin; the value is that of the answer; and no other plan does better."""
    game, rng = tp.load(RandomTree(seed=seed, depth=depth, width=width)), np.random.default_rng(seed)
    for player, (treeplex, entropy) in enumerate(zip(game.treeplexes, entropies(game, 0), strict=True)):
        earned, smoothing = gradient(game, player, random_plan(game, 1 - player, rng)), 10.0**log_mu
        ours, theirs = np.empty(treeplex.sequences), np.empty(treeplex.sequences)
        scratch = prox_scratch(treeplex)
        value = prox.respond(treeplex, entropy, smoothing, earned, scratch, ours)
        again = reference.respond(treeplex, entropy, smoothing, earned, scratch, theirs)
        scale = 1.0 + abs(again) + smoothing * float(entropy.weight.sum())  # what values are differences of
        assert value == pytest.approx(again, abs=1e-12 * scale)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        assert (scratch.below == 0.0).all()
        reached = float(earned @ theirs) - smoothing * reference.distance(treeplex, entropy, theirs)
        assert reached == pytest.approx(again, abs=1e-9 * scale)
        for _ in range(5):
            other = random_plan(game, player, rng, sharp=0.3)
            tried = float(earned @ other) - smoothing * reference.distance(treeplex, entropy, other)
            assert tried <= again + 1e-9 * scale


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_dilated_entropy_is_as_convex_as_its_authors_say(name, game) -> None:
    """d((x + y) / 2) <= (d(x) + d(y)) / 2 - modulus / 8 |x - y|^2 in the 1-norm; and d is not negative."""
    rng = np.random.default_rng(5)
    for player, (treeplex, entropy) in enumerate(zip(game.treeplexes, entropies(game, WEIGHTS[name]), strict=True)):
        modulus = moduli(game, WEIGHTS[name])[player]
        for sharp in (0.1, 0.5, 1.0, 10.0):
            for _ in range(4):
                x, y = (random_plan(game, player, rng, sharp) for _ in range(2))
                dx, dy, dm = (reference.distance(treeplex, entropy, z) for z in (x, y, (x + y) / 2))
                assert dm <= (dx + dy) / 2 - modulus / 8 * np.abs(x - y).sum() ** 2 + 1e-9
                assert dx + 1e-9 >= 0.0
                assert dx <= widest(game, player, entropy) + 1e-9


# --- the excessive gap technique -------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", ["adaptive", "theory"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_excessive_gap_condition_holds_after_every_step(weights, steps, game) -> None:
    """And with it NashConv <= mu0 max d0 + mu1 max d1; with the steps of theory it holds untested by the solver."""
    algorithm: Any = build(f"egt(weights={weights},steps={steps})")
    state, rounding = algorithm.start(game), 1e-11 * payoff(game)
    kinds, before = WEIGHTS[weights], np.full(2, np.inf)
    for t in range(41):
        plans = (state.gaps[0].plan, state.gaps[1].plan)
        gap = smoothed(game, kinds, plans, state.pace.smoothing)
        assert gap <= rounding, f"step {t}"
        assert gap == pytest.approx(float(state.pace.value.sum()), abs=rounding)  # the solver's own idea of it
        for player in (0, 1):
            own = gradient(game, player, plans[1 - player])
            np.testing.assert_allclose(state.gaps[player].gradient, own, rtol=0, atol=rounding)
        certain = sum(
            float(mu) * widest(game, player, entropy)
            for player, (mu, entropy) in enumerate(zip(state.pace.smoothing, entropies(game, kinds), strict=True))
        )
        assert (
            evaluate_strategies(game, algorithm.report(game, state, "average").arrays).nash_conv <= certain + rounding
        )
        assert (state.pace.smoothing <= before).all()
        before = state.pace.smoothing.copy()
        state = algorithm.advance(game, state, 1)


def test_a_larger_step_would_break_the_condition() -> None:
    """So that the test above can fail: shrinking twice as fast as was found to hold does not hold."""
    game, algorithm = tp.load("leduc"), build("egt")
    state = algorithm.advance(game, algorithm.start(game), 30)
    plans = (state.gaps[0].plan, state.gaps[1].plan)
    assert smoothed(game, 0, plans, state.pace.smoothing) <= 0.0 < smoothed(game, 0, plans, state.pace.smoothing / 4.0)


SLOPE_GAMES = [
    "leduc",
    pytest.param("liars_dice(sides=4)", marks=pytest.mark.slow),
    RandomTree(seed=12, depth=8, width=3),
]


@pytest.mark.parametrize("name", SLOPE_GAMES, ids=str)
@pytest.mark.parametrize(
    ("algorithm", "begin", "end"), [("egt", 30, 3000), ("mirror-prox", 1000, 30_000), ("omd", 1000, 30_000)]
)
def test_nash_conv_falls_like_one_over_t(algorithm, begin, end, name) -> None:
    """Least squares of log NashConv on log t: a slope of at most -0.9.

    Steps of mirror prox and optimistic mirror descent shrink for a while before they settle, so these begin later.
    """
    game, assembled = tp.load(name), build(algorithm)
    state, points = assembled.start(game), np.unique(np.rint(np.geomspace(begin, end, 21)).astype(int))
    values = []
    for t in points.tolist():
        state = assembled.advance(game, state, t - state.iteration)
        values.append(evaluate_strategies(game, assembled.report(game, state, "average").arrays).nash_conv)
    slope = np.polyfit(np.log(points), np.log(values), 1)[0]
    assert slope <= -0.9


@pytest.mark.parametrize("name", ["egt", "mirror-prox", "omd"])
def test_walks_and_products_give_the_same_steps(name, game) -> None:
    """With nothing cut, gradients by walks are those of the operator, but for the order of sums."""
    walk, product = build(f"{name}-dt(c=0)"), build(name)
    one, two = walk.start(game), product.start(game)
    for _ in range(20):
        one, two = walk.advance(game, one, 1), product.advance(game, two, 1)
        for left, right in zip(walk.average(game, one), product.report(game, two, "average").arrays, strict=True):
            np.testing.assert_allclose(left, right, rtol=0, atol=1e-8)
    assert walk.nodes_touched(game, one) <= product.work(game, two).nodes


@pytest.mark.parametrize("c", [0.001, 0.05])
def test_cut_walks_enter_just_what_is_reached(c, game) -> None:
    """A gradient by a cut walk, and its count, by the definition: chance times opponent at least the limit."""
    rng, tree, operator = np.random.default_rng(2), game.tree, tree_operator(game)
    operator.rows.limit[0] = c
    for player, side in enumerate(operator):
        plan = random_plan(game, 1 - player, rng, sharp=0.2)
        values, before = np.empty(game.treeplexes[player].sequences), int(side.entered[0])
        gradient_of(side, 1.0 - 2.0 * player, plan, values)
        expected, entered = np.zeros_like(values), 0
        histories = [(0, 1.0, (0, 0))]  # a node, chance's probability of it, both players' last sequences
        for node, chance, last in histories:
            reach, mover = chance * plan[last[1 - player]], int(tree.mover[node])
            if reach < c:
                continue
            entered += 1
            expected[last[player]] += (1.0 - 2.0 * player) * reach * tree.payoff[node]
            for place, child in enumerate(np.flatnonzero(tree.parent == node).tolist()):
                after = list(last)
                if mover >= 0:
                    after[mover] = int(game.treeplexes[mover].first[tree.infoset[node]]) + place
                histories.append((child, chance * float(tree.probability[child]), (after[0], after[1])))
        assert int(side.entered[0]) - before == entered
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * payoff(game))


@pytest.mark.parametrize("c", [0.001, 0.005, 0.01, 0.05])
@pytest.mark.parametrize("name", ["egt", "mirror-prox", "omd"])
def test_thresholded_steps_converge_too(name, c) -> None:
    """Not a theorem (the paper leaves it open): within twice the NashConv of exact steps, for fewer nodes."""
    game = tp.load("leduc")
    exact, cut = (tp.solve(game, spec, iterations=3000) for spec in (name, f"{name}-dt(c={c})"))
    assert cut.nash_conv <= 2.0 * exact.nash_conv
    assert cut.nodes_touched < 0.75 * exact.nodes_touched


# --- the excessive gap technique around another point ----------------------------------------------------------------


def relative(game: CompiledGame, player: int, entropy: Entropy, plan: Any, centre: Any) -> float:
    """The Bregman distance of a plan from another: the sum of weight(I) x(parent of I) KL(b(I) | c(I))."""
    (first, parent), total = game.treeplexes[player], 0.0
    for infoset, above in enumerate(parent):
        own = slice(first[infoset], first[infoset + 1])
        b, c = plan[own] / plan[above], centre[own] / centre[above]
        total += float(entropy.weight[infoset] * plan[above] * (b @ np.log(b / c)))
    return total


def begun_around(game: CompiledGame, seed: int = 4) -> tuple[Any, Any, list[Any]]:
    """The technique around random strategies: algorithm, state, and the plans of these strategies."""
    rng, algorithm = np.random.default_rng(seed), replace(build("egt"), centred=True)  # pyright: ignore[reportArgumentType, reportCallIssue]
    plans = [random_plan(game, player, rng, sharp=2.0) for player in (0, 1)]
    strategies = [
        plan / np.concatenate(([1.0], np.repeat(plan[treeplex.parent], treeplex.actions)))
        for plan, treeplex in zip(plans, game.treeplexes, strict=True)
    ]
    return algorithm, algorithm.around(game, algorithm.start(game), strategies), plans


def test_distances_are_measured_from_the_centre(game) -> None:
    """d(x) - <G, x> is the Bregman distance, and the condition holds with it after every step."""
    algorithm, state, plans = begun_around(game)
    rng, rounding = np.random.default_rng(9), 1e-10 * payoff(game)
    for player, (entropy, centre) in enumerate(zip(entropies(game, 0), state.centres, strict=True)):
        for _ in range(4):
            x = random_plan(game, player, rng)
            distance = reference.distance(game.treeplexes[player], entropy, x) - float(centre @ x)
            assert distance == pytest.approx(relative(game, player, entropy, x, plans[player]), rel=1e-8, abs=1e-8)
    for _ in range(25):
        smoothing, total = state.pace.smoothing, 0.0
        for player in (0, 1):
            own = gradient(game, player, state.gaps[1 - player].plan)
            shifted = own + smoothing[player] * state.centres[player]
            np.testing.assert_allclose(state.gaps[player].gradient, shifted, rtol=0, atol=rounding)
            answer, treeplex, entropy = np.empty(len(own)), game.treeplexes[player], entropies(game, 0)[player]
            value = reference.respond(treeplex, entropy, smoothing[player], shifted, prox_scratch(treeplex), answer)
            far = relative(game, player, entropy, answer, plans[player]) if answer.min() > 0.0 else None
            assert far is None or value == pytest.approx(float(own @ answer) - smoothing[player] * far, abs=rounding)
            total += value
        assert total <= rounding
        assert total == pytest.approx(float(state.pace.value.sum()), abs=rounding)
        state = algorithm.advance(game, state, 1)


def test_kernels_around_a_centre_follow_the_reference(monkeypatch, game) -> None:
    """With the steps of theory, since rounding may decide about a step that is judged by the gap."""

    def run() -> Any:
        algorithm, state, _ = begun_around(game)
        state = replace(algorithm, adaptive=False).advance(game, state, 15)
        return [gap.plan for gap in state.gaps]  # strategies that no plan reaches are decided by rounding

    ours = run()
    monkeypatch.setattr("treeplex.algorithms.excessive_gap.begin", reference_gap.begin)
    monkeypatch.setattr("treeplex.algorithms.excessive_gap.gap_iterations", reference_gap.gap_iterations)
    for left, right in zip(ours, run(), strict=True):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["matrix([[2,-1,0],[-1,1,3],[0,2,-2]])", "kuhn", "goofspiel(cards=4)"])
def test_restarts_converge_linearly(name) -> None:
    """As Gilpin, Pena & Sandholm (2012) prove for their method: each further digit takes about as many iterations.

    Plain steps take ten times as many for each of them.
    """
    game, digits = tp.load(name), [1e-2, 1e-4, 1e-6]
    counts = [tp.solve(game, "egt-restarted(every=8)", nash_conv=x, iterations=200_000).iterations for x in digits]
    plain = tp.solve(game, "egt", nash_conv=1e-6, iterations=200_000).iterations
    assert counts[2] - counts[1] <= 4 * max(counts[1] - counts[0], 100)
    assert counts[2] < 0.2 * plain


# --- mirror prox and optimistic mirror descent -----------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("algorithm", ["mirror-prox", "omd"])
def test_steps_bound_nash_conv(algorithm, weights, game) -> None:
    """NashConv of the average times the sum of the steps is at most max d0 + max d1, at every iteration."""
    assembled: Any = build(f"{algorithm}(weights={weights})")
    state, kind = assembled.start(game), WEIGHTS[weights]
    certain = sum(widest(game, player, entropy) for player, entropy in enumerate(entropies(game, kind)))
    for _ in range(60):
        state = assembled.advance(game, state, 1)
        steps = float(state.mirrors[0].average[0])  # every plan gives the empty sequence a weight of one
        nash_conv = evaluate_strategies(game, assembled.report(game, state, "average").arrays).nash_conv
        assert nash_conv * steps <= certain * (1 + 1e-9) + 1e-11 * payoff(game) * steps
        assert state.rate.bound[0] <= 1e-9 * certain


def test_optimism_saves_a_gradient() -> None:
    """Two products an iteration instead of four, but for steps that were too long, and two to begin with."""
    game = tp.load("leduc")
    plain, optimistic = (
        tp.solve(game, name, iterations=500).nodes_touched / game.nodes for name in ("mirror-prox", "omd")
    )
    assert 4 * 500 <= plain <= 4.5 * 500
    assert 2 * 500 + 2 <= optimistic <= 2.5 * 500


# --- numbers of any size ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("algorithm", ALL)
def test_payoffs_of_any_scale(algorithm, scale) -> None:
    """No overflow, no NaN, no negative probability; and the same answer in other units, as NashConv says."""
    plain, scaled = (tp.load(RandomTree(seed=3, depth=5, scale=s)) for s in (1.0, scale))
    one, two = (tp.solve(game, algorithm, iterations=2000) for game in (plain, scaled))
    for policy in (one.policy, two.policy):
        for probabilities in policy.aligned(plain):
            assert np.isfinite(probabilities).all()
            assert (probabilities >= 0.0).all()
    assert two.nash_conv / scale <= 2.0 * one.nash_conv + 1e-9


@pytest.mark.parametrize("game", ["kuhn", "matrix([[1e6,-1e6],[-1e-6,1e-6]])"])
@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("iterations", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_many_iterations(iterations, algorithm, game) -> None:
    """No overflow and no NaN, and NashConv below one payoff divided by the square root of their number."""
    compiled, assembled = tp.load(game), build(algorithm)
    state = assembled.advance(compiled, assembled.start(compiled), iterations)
    for probabilities in (
        *assembled.report(compiled, state, "average").arrays,
        *assembled.report(compiled, state, "current").arrays,
    ):
        assert np.isfinite(probabilities).all()
        assert (probabilities >= 0.0).all()
    nash_conv = evaluate_strategies(compiled, assembled.report(compiled, state, "average").arrays).nash_conv
    assert nash_conv <= compiled.largest_payoff / math.sqrt(iterations)
