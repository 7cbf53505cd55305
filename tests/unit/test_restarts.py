"""Restarted averaging: when it restarts, where it goes on from, and that no call or checkpoint changes it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.engines.sequence.cpu.prox import respond
from treeplex.engines.sequence.entropy import WEIGHTS, centres, entropies, prox_scratch
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree

bounds = runpy.run_path(str(Path(__file__).parents[1] / "theory" / "test_bounds.py"))
RESTARTED = ["cfr+-restarted", "pcfr+-restarted", "mirror-prox-restarted"]
PAYS = np.random.default_rng(5).standard_normal((4, 6))


# --- the rule, written out for matrices -------------------------------------------------------------------------------


def shares(numbers: Any) -> Any:
    total = numbers.sum()
    return numbers / total if total > 0.0 else np.full(len(numbers), 1.0 / len(numbers))


def gap(x: Any, y: Any) -> float:
    return float((PAYS @ y).max() - (x @ PAYS).min())


class ByHand:
    """CFR+ (p = 0, w = t) or PCFR+ (p = 1, w = t²) in turns, looked at every ``every`` iterations."""

    def __init__(self, every: int, p: float, power: int) -> None:
        self.every, self.p, self.power = every, p, power
        self.q = [np.zeros(n) for n in PAYS.shape]
        self.played = [shares(q) for q in self.q]
        self.sums = [np.zeros(n) for n in PAYS.shape]
        self.t = self.since = self.restarts = 0
        self.then = self.before = gap(*self.played)

    def iterate(self) -> None:
        self.t, self.since = self.t + 1, self.since + 1
        for player in (0, 1):
            u = PAYS @ self.played[1] if player == 0 else -(self.played[0] @ PAYS)
            r = u - self.played[player] @ u
            self.sums[player] += self.since**self.power * self.played[player]
            self.q[player] = np.maximum(self.q[player] + r, 0.0)
            self.played[player] = shares(np.maximum(self.q[player] + self.p * r, 0.0))
        if self.t % self.every == 0:
            self.check()

    def check(self) -> None:
        average = [shares(total) for total in self.sums]
        now = min(gap(*average), gap(*self.played))
        due = now <= 0.2 * self.then or (now <= 0.8 * self.then and now > self.before)
        if due or self.since >= 0.36 * self.t:
            if gap(*average) <= gap(*self.played):
                self.q = [q.sum() * x for q, x in zip(self.q, average, strict=True)]
                self.played = average
            self.sums, self.since, self.then = [np.zeros(n) for n in PAYS.shape], 0, now
            self.restarts += 1
        self.before = now

    def average(self) -> list[Any]:
        return [shares(total) for total in self.sums] if self.since else self.played


@pytest.mark.parametrize("every", [1, 2, 5])
@pytest.mark.parametrize(("name", "p", "power"), [("cfr+-restarted", 0.0, 1), ("pcfr+-restarted", 1.0, 2)])
def test_iterates_are_those_of_the_rule_by_hand(name, p, power, every) -> None:
    game, algorithm, book = tp.load(MatrixGame(PAYS)), build(f"{name}(every={every})"), ByHand(every, p, power)
    state: Any = algorithm.start(game)
    for _ in range(40):
        book.iterate()
        state = algorithm.advance(game, state, 1)
        for kind, expected in (("average", book.average()), ("current", book.played)):
            for ours, theirs in zip(algorithm.report(game, state, kind).arrays, expected, strict=True):
                np.testing.assert_allclose(ours[1:], theirs, rtol=0, atol=1e-9)
        assert state.restarts == book.restarts
        assert state.gaps == pytest.approx((book.then, book.before), abs=1e-9)
    assert book.restarts > 3


def test_mirror_prox_goes_on_with_the_prox_step_around_the_point_it_restarts_at() -> None:
    """For a matrix: x ~ c exp(step g / weight), where c is the point, and the weight of one infoset is 2."""
    game, algorithm = tp.load(MatrixGame(PAYS)), build("mirror-prox-restarted(every=7)")
    state: Any = algorithm.advance(game, algorithm.start(game), 7)
    assert (state.restarts, state.inner.iteration) == (1, 0)
    x, y = (strategy[1:] for strategy in algorithm.report(game, state, "current").arrays)
    later: Any = algorithm.advance(game, state, 1)
    played = [average[1:] / average[0] for average in (mirror.average for mirror in later.inner.mirrors)]
    step = float(later.inner.mirrors[0].average[0])
    for c, g, ours in ((x, PAYS @ y, played[0]), (y, -(x @ PAYS), played[1])):
        np.testing.assert_allclose(ours, shares(c * np.exp(step * g / 2.0)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_centres_are_the_gradients_of_the_entropy(kind) -> None:
    rng, number = np.random.default_rng(2), WEIGHTS[kind]
    for seed in range(4):
        game = tp.load(RandomTree(seed=seed, depth=6))
        pair = [
            np.concatenate([np.ones(1), *(rng.dirichlet(np.ones(n)) for n in treeplex.actions.tolist())])
            for treeplex in game.treeplexes
        ]
        for player, dual in enumerate(centres(game, number, (pair[0], pair[1]))):
            treeplex, entropy = game.treeplexes[player], entropies(game, number)[player]
            answer, plan = np.empty(treeplex.sequences), np.empty(treeplex.sequences)
            value = respond(treeplex, entropy, 1.0, dual, prox_scratch(treeplex), answer)
            realization_plan(treeplex, pair[player], plan)
            np.testing.assert_allclose(answer, plan, rtol=1e-9, atol=1e-12)
            assert value == pytest.approx(0.0, abs=1e-11 * float(np.abs(dual).max(initial=1.0)))


# --- what holds of every run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", RESTARTED)
def test_restarts_are_where_pdlp_has_them(algorithm) -> None:
    """At every check of a run: by the gaps of average and current strategies just before it."""
    game, assembled = tp.load("leduc"), build(f"{algorithm}(every=8)")
    inner, state, restarts = assembled.inner, assembled.start(game), 0  # pyright: ignore[reportAttributeAccessIssue]
    gaps = [evaluate_strategies(game, assembled.report(game, state, "current").arrays).nash_conv] * 2
    reasons = set()
    for _ in range(60):
        state = assembled.advance(game, state, 7)
        ahead = inner.advance(game, inner.restore(game, inner.save(state.inner)), 1)
        now = min(
            evaluate_strategies(game, point).nash_conv
            for point in (inner.report(game, ahead, "average").arrays, inner.report(game, ahead, "current").arrays)
        )
        if now <= 0.2 * gaps[0]:
            reasons.add("far enough")
        elif now <= 0.8 * gaps[0] and now > gaps[1]:
            reasons.add("rises again")
        elif ahead.iteration >= 0.36 * (state.iteration + 1):
            reasons.add("long enough")
        else:
            gaps[1] = now
            state = assembled.advance(game, state, 1)
            assert state.restarts == restarts
            continue
        gaps, restarts = [now, now], restarts + 1
        state = assembled.advance(game, state, 1)
        assert state.restarts == restarts
        point = evaluate_strategies(game, assembled.report(game, state, "average").arrays).nash_conv
        assert point == pytest.approx(now, rel=1e-9)
    assert "long enough" in reasons
    assert len(reasons) > 1


def test_egt_restarts_whenever_nash_conv_has_halved() -> None:
    """At every check: by the gaps of plans and responses just before it; it goes on from the better of both."""
    game, assembled = tp.load("leduc"), build("egt-restarted(every=5)")
    state: Any = assembled.start(game)
    inner: Any = assembled.inner  # pyright: ignore[reportAttributeAccessIssue]
    then, restarts = state.gaps[0], 0
    assert then == pytest.approx(evaluate_strategies(game, inner.current(game, state.inner)).nash_conv)
    for _ in range(60):
        state = assembled.advance(game, state, 4)
        ahead = inner.advance(game, inner.restore(game, inner.save(state.inner)), 1)
        points = inner.average(game, ahead), inner.current(game, ahead)
        now = min(evaluate_strategies(game, point).nash_conv for point in points)
        state = assembled.advance(game, state, 1)
        if now <= 0.5 * then:
            then, restarts = now, restarts + 1
            assert state.inner.iteration == 0
            best = min(points, key=lambda point: evaluate_strategies(game, point).nash_conv)
            for ours, theirs in zip(state.inner.centres, centres(game, inner.scheme, best), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert (state.restarts, state.gaps[0]) == (restarts, pytest.approx(then))
    assert restarts > 3


@pytest.mark.parametrize("algorithm", [*RESTARTED, "egt-restarted"])
@pytest.mark.parametrize("cuts", [(1,) * 90, (31, 1, 1, 57), (32, 32, 26), (89, 1)])
def test_pieces_and_checkpoints_give_the_bits_of_the_whole(algorithm, cuts) -> None:
    for name in ("leduc", "random_tree(seed=3,depth=6)"):
        game, assembled = tp.load(name), build(f"{algorithm}(every=4)")
        whole, state = assembled.advance(game, assembled.start(game), 90), assembled.start(game)
        for count in cuts:
            state = assembled.advance(game, state, count)
            state = assembled.restore(game, assembled.save(state))
        one, two = assembled.save(whole), assembled.save(state)
        assert one.keys() == two.keys()
        for key, array in one.items():
            np.testing.assert_array_equal(array, two[key])


@pytest.mark.parametrize(("algorithm", "power"), [("cfr+-restarted", 1), ("pcfr+-restarted", 2)])
@pytest.mark.parametrize("rules", bounds["TREES"], ids=lambda tree: tree.name)
def test_the_average_since_a_restart_has_the_bound_of_regret_matching_plus(rules, algorithm, power) -> None:
    """Q >= the sum of gains since any iteration, whatever Q it began with, so NashConv (w_1 + ... + w_t) <= w_t Q."""
    game, assembled = tp.load(rules), build(f"{algorithm}(every=10,turns=simultaneous)")
    state: Any = assembled.start(game)
    for _ in range(150):
        state = assembled.advance(game, state, 1)
        t = state.inner.iteration
        if t:
            found = evaluate_strategies(game, assembled.report(game, state, "average").arrays).nash_conv
            weights = np.arange(1.0, t + 1) ** power
            regret = bounds["total"](game, bounds["regrets"](state.inner))
            assert found * weights.sum() <= weights[-1] * regret * (1 + 1e-9)
    assert state.restarts > 4


@pytest.mark.parametrize("algorithm", ["cfr+", "pcfr+"])
@pytest.mark.parametrize("game", ["goofspiel(cards=4)", "liars_dice(sides=4)"])
def test_restarts_pay(game, algorithm) -> None:
    """To 1e-6 of the uniform policy's NashConv, in at most half the iterations."""
    target = 1e-6 * tp.evaluate(game, tp.Policy.uniform(game)).nash_conv
    plain, again = (
        tp.solve(game, name, nash_conv=target, iterations=3000) for name in (algorithm, f"{algorithm}-restarted")
    )
    assert again.status == "solved"
    assert again.iterations <= plain.iterations / 2


def test_checks_count_as_passes_and_restarts_are_in_the_log() -> None:
    game = tp.load("kuhn")
    solution = tp.solve(game, "cfr+-restarted(every=10)", iterations=100)
    assert solution.nodes_touched == (2 * 100 + 4 * 10) * game.nodes
    log = solution.log["restarts"].to_pylist()
    assert log == sorted(log)
    assert log[-1] > 2


@pytest.mark.parametrize(
    ("algorithm", "options", "said"),
    [
        ("cfr+-restarted(every=0)", {}, "The 'every' parameter must be a whole number from 1 to 1,000,000, got 0"),
        (
            "cfr+-restarted",
            {"storage": "int16"},
            "The 'storage' parameter must be one of float64, float32, got 'int16'",
        ),
        ("cfr+-restarted", {"backend": "cuda"}, "The 'backend' parameter must be auto or cpu with 'cfr+-restarted'"),
        (
            "mirror-prox-restarted",
            {"storage": "float32"},
            "The 'storage' parameter must be float64 with this algorithm",
        ),
    ],
)
def test_refusals(algorithm, options, said) -> None:
    with pytest.raises(ParameterError) as refused:
        tp.solve("kuhn", algorithm, iterations=3, **options)
    assert str(refused.value).startswith(said)
