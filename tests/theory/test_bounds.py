"""Theorems as tests: regret bounds at every iteration, what holds of every state, what must not change anything.

Notation. Player i's gain at infoset I in iteration t is r(a) = u(a) - <sigma, u> for the counterfactual values u of the
actions. It lies within L(I) = (largest minus smallest payoff below I) times (probability that chance lets I happen),
as the opponent contributes at most 1. All sums over infosets are over both players; an infoset of one action has no
regret.

Why local regrets bound NashConv (Zinkevich et al. 2007, Theorem 3, with weights w_t, which change nothing in the proof
because it is linear in iterations): for any strategy x* of player i,
    sum_t w_t (u_i(x*, t) - u_i(t)) = sum over I of reach of I under x* times sum_a x*(a | I) sum_t w_t r_t(I, a)
                                   <= sum over I of max_a (sum_t w_t r_t(I, a))+.
With simultaneous updates both players' sums are about the same pairs of strategies, so that they add up to NashConv of
the w-weighted average times the sum of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.compile import CompiledGame
from treeplex.evaluation.exact import evaluate_strategies, gradient
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree
from treeplex.updates.schedules import stretches, uniform
from treeplex.updates.turns import SIMULTANEOUS

ITERATIONS = 150
ROUNDING = 1e-9  # sums of at most a few thousand terms of at most a few thousand

WALKS = ("-full", "-partial", "-rbp", "-zero-reach-br", "-dt", "-hybrid")  # walks have tests of their own
ITERATIVE = [name for name, entry in ALGORITHMS.items() if not entry.build().ends and not name.endswith(WALKS)]
FAMILY = [name for name in ITERATIVE if isinstance(build(name), CFR)]  # regret matching in every infoset
EXACT = [name for name in FAMILY if name != "stable-pcfr+"]  # one of its averages differs in the last bit, as in 0.2

TREES = [
    RandomTree(seed=1, depth=4, chance=0.0, visible=0.0),  # no chance, nothing seen: almost a matrix game
    RandomTree(seed=2, depth=5, width=4, chance=0.3, visible=0.5),
    RandomTree(seed=3, depth=6, chance=0.1, visible=1.0),  # all moves seen
    RandomTree(seed=4, depth=7, width=2, chance=0.4, visible=0.2),
    RandomTree(seed=5, depth=6, visible=0.0, scale=1000.0),
    RandomTree(seed=6, depth=8, width=2, forced=0.4, scale=1e-3),
]


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: tree.name)
def game(request) -> CompiledGame:
    return tp.load(request.param)


class Step(NamedTuple):
    """One iteration, seen from outside. Pairs are of players."""

    t: int
    played: tuple[Any, Any]  # strategies judged in this iteration
    gains: tuple[Any, Any]  # [S] r_t of every sequence, computed here and not by the solver
    state: Any  # after the iteration
    nash_conv: float  # of the average after the iteration


def watch(game: CompiledGame, algorithm: Any, turns: str, iterations: int = ITERATIONS) -> Iterator[Step]:
    """Run ``algorithm`` step by step; player 1 is judged against player 0's new strategy if they take turns."""
    state = algorithm.start(game)
    for t in range(1, iterations + 1):
        before = tuple(learner.strategy.copy() for learner in state.learners)
        weights = tuple(learner.plan.copy() for learner in state.learners)
        state = algorithm.advance(game, state, 1)
        first = gains(game, 0, before[0], weights[1])
        second = gains(game, 1, before[1], state.learners[0].plan if turns == "alternating" else weights[0])
        nash_conv = evaluate_strategies(game, algorithm.report(game, state, "average").arrays).nash_conv
        yield Step(t, (before[0], before[1]), (first, second), state, nash_conv)


def gains(game: CompiledGame, player: int, behaviour: Any, opponent: Any) -> Any:
    """r(I, a) of every sequence of ``player``."""
    first, parent = game.treeplexes[player]
    values, out = gradient(game, player, opponent), np.zeros(len(behaviour))
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        expected = float(behaviour[own] @ values[own])
        out[own] = values[own] - expected
        values[parent[infoset]] += expected
    return out


def largest(game: CompiledGame, player: int, values: Any) -> Any:
    """[I] max over the actions of (values)+."""
    return np.maximum(np.maximum.reduceat(values, game.treeplexes[player].first[:-1]), 0.0)


def squares(game: CompiledGame, player: int, values: Any) -> Any:
    """[I] sum over the actions of values squared."""
    return np.add.reduceat(np.square(values), game.treeplexes[player].first[:-1])


def total(game: CompiledGame, by_player: tuple[Any, Any]) -> float:
    """Sum over all infosets of (max_a values)+."""
    return float(sum(largest(game, player, values).sum() for player, values in enumerate(by_player)))


def regrets(state: Any) -> tuple[Any, Any]:
    return state.learners[0].regret, state.learners[1].regret


def first_rows(game: CompiledGame, state: Any) -> tuple[Any, Any]:
    """As ``regrets``, also of rules that are functions: the first row of their memory, which is Q."""
    found: list[Any] = []
    for treeplex, learner in zip(game.treeplexes, state.learners, strict=True):
        if hasattr(learner, "regret"):
            found.append(learner.regret)
            continue
        rows, start = len(learner.memory) // len(learner.strategy), np.repeat(treeplex.first[:-1], treeplex.actions)
        found.append(np.append(0.0, learner.memory[(rows - 1) * start + np.arange(1, len(learner.strategy))]))
    return found[0], found[1]


def spans(game: CompiledGame) -> list[Any]:
    """For each player [I]: L(I), from the history tree."""
    tree = game.tree
    low, high = tree.payoff.copy(), tree.payoff.copy()
    low[tree.mover != TERMINAL], high[tree.mover != TERMINAL] = np.inf, -np.inf
    chance = tree.probability.copy()
    for node in range(1, tree.nodes):
        chance[node] *= chance[tree.parent[node]]
    for node in range(tree.nodes - 1, 0, -1):  # preorder: children after parents
        above = tree.parent[node]
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    out = []
    for player, treeplex in enumerate(game.treeplexes):
        own = tree.mover == player
        infoset = tree.infoset[own]
        lowest, highest, happens = np.full(treeplex.infosets, np.inf), np.full(treeplex.infosets, -np.inf), 0.0
        np.minimum.at(lowest, infoset, low[own])
        np.maximum.at(highest, infoset, high[own])
        happens = np.minimum(np.bincount(infoset, weights=chance[own], minlength=treeplex.infosets), 1.0)
        out.append(np.where(treeplex.actions > 1, (highest - lowest) * happens, 0.0))
    return out


def matching_bound(game: CompiledGame) -> float:
    """Sum over I of L(I) sqrt(|A(I)|): times sqrt(T), what regret matching's total regret cannot exceed."""
    return float(
        sum(
            (span * np.sqrt(treeplex.actions)).sum()
            for span, treeplex in zip(spans(game), game.treeplexes, strict=True)
        )
    )


def payoff_range(game: CompiledGame) -> float:
    ends = game.tree.payoff[game.tree.mover == TERMINAL]
    return float(ends.max() - ends.min())


# --- regret bounds ---------------------------------------------------------------------------------------------------


def test_gains_lie_within_their_span(game) -> None:
    """L(I) as computed above is what the bounds below need."""
    for step in watch(game, build("cfr"), "alternating", 30):
        for player, span in enumerate(spans(game)):
            widest = np.maximum.reduceat(np.abs(step.gains[player]), game.treeplexes[player].first[:-1])
            assert (widest <= span * (1 + 1e-12)).all()


def test_cfr_at_once(game) -> None:
    """Zinkevich et al. 2007, Theorems 3 and 4, for simultaneous updates as in the paper."""
    bound, seen = matching_bound(game), [np.zeros(t.infosets) for t in game.treeplexes]
    for step in watch(game, build("cfr(turns=simultaneous)"), "simultaneous"):
        regret = total(game, regrets(step.state))
        assert step.nash_conv * step.t <= regret * (1 + ROUNDING)  # Theorem 3
        assert regret <= bound * np.sqrt(step.t) * (1 + ROUNDING)  # Theorem 4
        for player in (0, 1):  # what Theorem 4 is proved by: Blackwell's condition at every infoset
            seen[player] += squares(game, player, step.gains[player])
            positive = squares(game, player, np.maximum(step.state.learners[player].regret, 0.0))
            assert (positive <= seen[player] * (1 + ROUNDING)).all()


def test_cfr_in_turns(game) -> None:
    """The same with alternating updates, which the 2007 theorem does not cover.

    Burch, Moravcik & Schmid 2019, "Revisiting CFR+ and alternating updates": player 1's regret is against x(2), ...,
    x(T+1), and regret matching improves: u(x(t+1), y(t)) >= u(x(t), y(t)). So T times NashConv of the averages of
    x(2..T+1) and y(1..T) is at most the sum of regrets. Our average has x(1) in place of x(T+1), which changes what
    player 1 can earn by at most the range of payoffs.
    """
    bound, slack = matching_bound(game), payoff_range(game)
    for step in watch(game, build("cfr"), "alternating"):
        regret = total(game, regrets(step.state))
        assert step.nash_conv * step.t <= (regret + slack) * (1 + ROUNDING)
        assert regret <= bound * np.sqrt(step.t) * (1 + ROUNDING)


@pytest.mark.parametrize("average", ["linear", "uniform"])
@pytest.mark.parametrize("turns", ["simultaneous", "alternating"])
def test_cfr_plus(turns, average, game) -> None:
    """Tammelin, Burch, Johanson & Bowling 2015, "Solving heads-up limit Texas hold'em", Theorems 1 to 3.

    Regret matching+ keeps Q >= sum of the gains since any iteration, so sum_t r_t <= Q(T), and with linear weights
    sum_t t r_t = sum_i sum_{t >= i} r_t <= T Q(T); and Q is bounded like regret. Divided by the weights' sum T(T+1)/2
    the linear average has the bound of the uniform one twice over: the paper's factor of 2.
    In turns: as above. With linear weights, sum_t t x(t+1) and sum_t t x(t) differ by sum_t (x(T+1) - x(t)): T ranges.
    """
    algorithm: Any = build(f"cfr+(turns={turns})")
    if average == "uniform":
        algorithm = replace(algorithm, weight=uniform())
    bound, slack = matching_bound(game), payoff_range(game) if turns == "alternating" else 0.0
    for t, _, _, state, nash_conv in watch(game, algorithm, turns):
        regret = total(game, regrets(state))
        assert regret <= bound * np.sqrt(t) * (1 + ROUNDING)
        if average == "uniform":
            assert nash_conv * t <= (regret + slack) * (1 + ROUNDING)
        else:
            assert nash_conv * t * (t + 1) / 2 <= t * (regret + slack) * (1 + ROUNDING)
            assert nash_conv <= 2 * (bound * np.sqrt(t) + slack) / (t + 1) * (1 + ROUNDING)


def test_linear_cfr_at_once(game) -> None:
    """Linear CFR is regret matching on t r_t (Brown & Sandholm 2019, section 3); stored regrets are 1/(T+1) of that."""
    bound = matching_bound(game)
    for t, _, _, state, nash_conv in watch(game, build("lcfr(turns=simultaneous)"), "simultaneous"):
        regret = (t + 1) * total(game, regrets(state))
        assert nash_conv * t * (t + 1) / 2 <= regret * (1 + ROUNDING)
        assert regret <= bound * np.sqrt(t * (t + 1) * (2 * t + 1) / 6) * (1 + ROUNDING)  # sqrt of 1² + ... + t²


def test_discounted_cfr_at_once(game) -> None:
    """Discounted CFR with (3/2, 0, 2): the shape of Brown & Sandholm 2019, Theorem 3, from the update itself.

    R_t = d_t (R_{t-1} + r_t), with d_t = t^1.5 / (t^1.5 + 1) if that is positive and 1/2 otherwise. Summed by parts,
        sum_t t² r_t = T² R_T / d_T + sum_{t < T} R_t (t² / d_t - (t + 1)²).
    If R_t > 0, its coefficient is sqrt(t) - 2t - 1 < 0. If R_t < 0, it is t² - 2t - 1, negative only for t = 1 and 2;
    as R_1 >= -L/2 and R_2 >= -3L/4, these two add at most 2L. What is left is (T² + sqrt(T)) R_T, if positive; and
    (R_T)+ is bounded as in regret matching, as discounts only shrink it.
    """
    bound, spread = matching_bound(game), float(sum(span.sum() for span in spans(game)))
    for t, _, _, state, nash_conv in watch(game, build("dcfr(turns=simultaneous)"), "simultaneous"):
        regret = total(game, regrets(state))
        weights = t * (t + 1) * (2 * t + 1) / 6
        assert nash_conv * weights <= ((t**2 + np.sqrt(t)) * regret + 2 * spread) * (1 + ROUNDING)
        assert regret <= bound * np.sqrt(t) * (1 + ROUNDING)


def relative(schedule: Any, last: int) -> Any:
    """w_1, ..., w_last over w_last, from the units that weights are told in."""
    t = np.arange(1.0, last + 1)
    unit = schedule.unit(t) if hasattr(schedule, "unit") else np.zeros(last)
    return schedule(t) * np.exp2(unit - unit[-1]) / schedule(t)[-1]


@pytest.mark.parametrize("horizon", [40, 1000])
@pytest.mark.parametrize("gamma", [15, 30])
def test_scheduled_cfr_at_once(gamma, horizon, game) -> None:
    """HS-DCFR, by the same sum by parts as below: for the paper's schedules, before and after the horizon.

        sum_t w_t r_t = w_T R_T / d_T + sum_{t < T} R_t (w_t / d_t - w_{t+1}).
    If R_t > 0, 1 / d_t = 1 + t^-alpha_t <= 1 + 1 / t, and w_{t+1} / w_t = (1 + 1 / t)^gamma_t is more. If R_t < 0, its
    coefficient may be negative while t is small: R_t >= -b_t L with b_t = (b_{t-1} + 1) / (1 + t^-beta_t).
    """
    algorithm: Any = build(f"hs-dcfr(gamma={gamma},horizon={horizon},turns=simultaneous)")
    bound, spread = matching_bound(game), float(sum(span.sum() for span in spans(game)))
    t = np.arange(1.0, ITERATIONS + 2)
    positive, negative = algorithm.rule.discounts(t)
    below = np.zeros(ITERATIONS + 1)
    for k in range(ITERATIONS + 1):
        below[k] = ((below[k - 1] if k else 0.0) + 1.0) * negative[k]
    for step in watch(game, algorithm, "simultaneous"):
        last = step.t
        weights = relative(algorithm.weight, last)
        early = (below[: last - 1] * np.maximum(weights[1:] - weights[:-1] / negative[: last - 1], 0.0)).sum()
        regret = total(game, regrets(step.state)) / positive[last - 1]
        assert (weights[:-1] / positive[: last - 1] <= weights[1:]).all()
        assert step.nash_conv * weights.sum() <= (regret + spread * early) * (1 + ROUNDING)
        assert regret <= bound * np.sqrt(last) * (1 + ROUNDING) / positive[last - 1]


RISING = ["hs-pcfr+(horizon=40)", "hs-pcfr+(gamma=15)", "sapcfr+", "pcfr+", "cfr+", "apcfr+", "apcfr+(most=0.5)"]
RISING += [f"{kind}-pcfr+(floor={floor})" for kind in ("stable", "smooth") for floor in (1, 0.03)]


@pytest.mark.parametrize("algorithm", RISING)
def test_rising_weights_of_regret_matching_plus(algorithm, game) -> None:
    """Whatever is played, Q >= the sum of gains since any iteration; so sum_t w_t r_t <= w_T Q(T) if weights rise.

    Tammelin et al. 2015, Theorem 3, for weights of any kind and predictions of any kind. Restarts and projections that
    only add to Q change nothing: Q(t) >= Q(t-1) + r(t) is all that it takes.
    """
    assembled: Any = replace(build(algorithm), turns=SIMULTANEOUS)  # pyright: ignore[reportArgumentType]
    for step in watch(game, assembled, "simultaneous"):
        weights = relative(assembled.weight, step.t)
        assert (np.diff(weights) > 0.0).all()
        assert step.nash_conv * weights.sum() <= total(game, first_rows(game, step.state)) * (1 + ROUNDING)


@pytest.mark.parametrize(("name", "trust"), [("pcfr+", 1.0), ("sapcfr+", 1 / 3), ("sapcfr+(predict=0.125)", 0.125)])
def test_predictive_cfr_plus_at_once(name, trust, game) -> None:
    """Predictive regret matching+ is optimistic mirror descent, with regret at most sqrt(sum_t |r_t - m_t|²).

    Farina, Kroer & Sandholm 2021, Theorem 3 (there up to a constant), for predictions m_t = p r_{t-1}. The step size
    cancels in regret matching, so the best one may be put into 1 / (2 eta) + eta / 2 sum_t |r_t - m_t|². For the
    uniform average, which the bound is about. With p = 1/3 it is the bound of SAPCFR+ (Meng et al. 2025).
    """
    algorithm: Any = replace(build(name), weight=uniform(), turns=SIMULTANEOUS)  # pyright: ignore[reportArgumentType]
    surprise = [np.zeros(t.infosets) for t in game.treeplexes]
    summed = [np.zeros(t.sequences) for t in game.treeplexes]
    last = [np.zeros(t.sequences) for t in game.treeplexes]
    for t, _, gained, _, nash_conv in watch(game, algorithm, "simultaneous"):
        for player in (0, 1):
            surprise[player] += squares(game, player, gained[player] - trust * last[player])
            summed[player] += gained[player]
            last[player] = gained[player]
            bound = np.sqrt(surprise[player]) * (1 + ROUNDING)
            assert (largest(game, player, summed[player]) <= bound + 1e-12 * payoff_range(game)).all()
        assert nash_conv * t <= sum(np.sqrt(own).sum() for own in surprise) * (1 + ROUNDING)


def test_cfr_against_best_responses(game) -> None:
    """Johanson et al. 2012, Theorems 1 and 2: against a best response, also the strategies played converge on average.

    Let y(t) answer x(t). Then sum_t min_y u(x(t), y) = sum_t u(x(t), y(t)) >= T v - regret. The same for player 1, so
    the NashConvs of (x(t), y'(t)) add up to at most the sum of regrets; and the average is at least as good as they
    are on average, because the worst case is concave.
    """
    bound, played = matching_bound(game), 0.0
    algorithm = build("cfr-br")
    state = algorithm.start(game)
    for t in range(1, ITERATIONS + 1):
        played += evaluate_strategies(game, algorithm.report(game, state, "current").arrays).nash_conv
        state = algorithm.advance(game, state, 1)
        average = evaluate_strategies(game, algorithm.report(game, state, "average").arrays).nash_conv
        regret = total(game, regrets(state))
        assert average * t <= played * (1 + ROUNDING)
        assert played <= regret * (1 + ROUNDING)
        assert regret <= bound * np.sqrt(t) * (1 + ROUNDING)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "lcfr", "dcfr"])
def test_regret_matching_improves(algorithm, game) -> None:
    """Burch et al. 2019, Lemma 3: the next strategy is at least as good against what the last one was judged by.

    sigma' ~ (R + r)+ and <R+, r> = 0, so <(R + r)+, r> >= 0; from the bottom up, every infoset gains. The discount that
    all positive regrets share changes nothing. Prediction does, so the predictive algorithms are left out.
    """
    rounding = 1e-12 * payoff_range(game)
    assembled = build(algorithm)
    state = assembled.start(game)
    for _ in range(ITERATIONS):
        old = [learner.plan.copy() for learner in state.learners]
        state = assembled.advance(game, state, 1)
        new = [learner.plan for learner in state.learners]
        facing = gradient(game, 0, old[1])
        assert (new[0] - old[0]) @ facing >= -rounding
        facing = gradient(game, 1, new[0])
        assert (new[1] - old[1]) @ facing >= -rounding


# --- what holds of every state ---------------------------------------------------------------------------------------


def check_behaviour(game: CompiledGame, player: int, behaviour: Any) -> None:
    assert behaviour[0] == 1.0
    assert (behaviour >= 0.0).all()
    start = game.treeplexes[player].first[:-1]
    np.testing.assert_allclose(np.add.reduceat(behaviour, start), 1.0, rtol=0, atol=1e-13)
    pure = np.add.reduceat((behaviour > 0.0).astype(int), start) == 1
    assert (np.maximum.reduceat(behaviour, start)[pure] == 1.0).all()  # exactly, or what is never played would be


def check_plan(game: CompiledGame, player: int, plan: Any, size: float) -> None:
    """``size`` times a sequence-form strategy: the sequences of an infoset share the weight of the one above."""
    first, parent = game.treeplexes[player]
    assert plan[0] == pytest.approx(size, rel=1e-13)
    assert (plan >= 0.0).all()
    np.testing.assert_allclose(np.add.reduceat(plan, first[:-1]), plan[parent], rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", FAMILY)
def test_states_of_the_cfr_family(algorithm, turns, game) -> None:
    assembled: Any = build(f"{algorithm}(turns={turns})")
    state, size = assembled.start(game), 0.0
    for t in range(1, 41):
        size *= stretches(assembled.weight, t - 1, 1)[0].fade  # a new unit of weights
        size += float(assembled.weight(np.array([float(t)]))[0])
        state = assembled.advance(game, state, 1)
        for player, learner in enumerate(state.learners):
            check_behaviour(game, player, learner.strategy)
            check_plan(game, player, learner.plan, 1.0)
            check_plan(game, player, learner.average, size)
            check_behaviour(game, player, assembled.report(game, state, "average").arrays[player])
            if algorithm.endswith("cfr+"):
                regret = first_rows(game, state)[player]
                assert (regret >= 0.0).all()
                assert not np.signbit(regret).any()
            for (start, end), above in zip(
                pairwise(game.treeplexes[player].first), learner.plan[game.treeplexes[player].parent], strict=True
            ):
                np.testing.assert_allclose(learner.plan[start:end], above * learner.strategy[start:end], rtol=1e-15)
    assert state.iteration == 40


def test_states_of_cfr_against_best_responses(game) -> None:
    assembled: Any = build("cfr-br")
    state = assembled.start(game)
    for t in range(1, 41):
        state = assembled.advance(game, state, 1)
        for player, learner in enumerate(state.learners):
            check_behaviour(game, player, learner.strategy)
            check_plan(game, player, learner.plan, 1.0)
            check_plan(game, player, learner.average, float(t))


@pytest.mark.parametrize("algorithm", ["fp", "xfp"])
def test_states_of_fictitious_play(algorithm, game) -> None:
    """(t + 1) times the state is the uniform strategy plus t pure ones: each step adds whole reaches of 0 or 1."""
    assembled: Any = build(algorithm)
    state = assembled.start(game)
    before = [own.copy() for own in state.averages]
    for t in range(1, 41):
        state = assembled.advance(game, state, 1)
        for player, own in enumerate(state.averages):
            check_plan(game, player, own, 1.0)
            answer = (t + 1) * own - t * before[player]
            np.testing.assert_allclose(answer, np.rint(answer), rtol=0, atol=1e-11)
            check_plan(game, player, np.rint(answer), 1.0)
            before[player] = own.copy()


# --- what must not change anything -----------------------------------------------------------------------------------


def strategies(game: CompiledGame, algorithm: str, iterations: int) -> list[Any]:
    assembled = build(algorithm)
    state = assembled.advance(game, assembled.start(game), iterations)
    return [*assembled.report(game, state, "average").arrays, *assembled.report(game, state, "current").arrays]


@pytest.mark.parametrize("factor", [2.0**-30, 0.5, 4.0, 2.0**29])
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_scaling_payoffs_by_a_power_of_two_changes_no_bit(algorithm, factor) -> None:
    """Regret matching is homogeneous of degree 0, best responses are, and powers of two are exact."""
    for rules in TREES[:4]:
        plain, scaled = (strategies(tp.load(replace(rules, scale=s)), algorithm, 50) for s in (1.0, factor))
        for left, right in zip(plain, scaled, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("factor", [0.3, 1e6 / 7])
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_scaling_payoffs_by_anything_changes_rounding_only(algorithm, factor) -> None:
    """Few iterations, because rounding errors grow with them."""
    for rules in TREES[:4]:
        plain, scaled = (strategies(tp.load(replace(rules, scale=s)), algorithm, 8) for s in (1.0, factor))
        np.testing.assert_allclose(np.concatenate(plain), np.concatenate(scaled), rtol=0, atol=1e-10)


@dataclass(frozen=True)
class Swapped:
    """The same game with the seats exchanged: who was player 0 is player 1, and gains what 0 lost."""

    rules: Any
    name: str = "swapped"

    def root(self) -> Any:
        return self.rules.root()

    def mover(self, history: Any) -> int:
        mover = self.rules.mover(history)
        return mover if mover in (CHANCE, TERMINAL) else 1 - mover

    def actions(self, history: Any) -> Any:
        return self.rules.actions(history)

    def probabilities(self, history: Any) -> Any:
        return self.rules.probabilities(history)

    def child(self, history: Any, action: str) -> Any:
        return self.rules.child(history, action)

    def infoset(self, history: Any) -> str:
        return self.rules.infoset(history)

    def payoff(self, history: Any) -> Any:
        return -self.rules.payoff(history)


@dataclass(frozen=True)
class Reordered(Swapped):
    """The same game with the actions of every infoset, and of chance, listed in another order."""

    name: str = "reordered"

    def mover(self, history: Any) -> int:
        return self.rules.mover(history)

    def actions(self, history: Any) -> Any:
        return self.rules.actions(history)[::-1]

    def probabilities(self, history: Any) -> Any:
        return self.rules.probabilities(history)[::-1]

    def payoff(self, history: Any) -> Any:
        return self.rules.payoff(history)


@pytest.mark.parametrize("rules", TREES, ids=lambda tree: tree.name)
@pytest.mark.parametrize("algorithm", [f"{name}(turns=simultaneous)" for name in EXACT] + ["xfp", "cfr-br"])
def test_seats_do_not_matter_when_both_move_at_once(algorithm, rules) -> None:
    """Not a bit: player 1's sums are player 0's with all signs changed."""
    first, second, now, then = strategies(tp.load(rules), algorithm, 50)
    swapped = tp.load(Swapped(rules))
    for ours, theirs in zip((second, first, then, now), strategies(swapped, algorithm, 50), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("algorithm", [*FAMILY, "fp"])
def test_seats_matter_when_players_take_turns(algorithm) -> None:
    """So that the test above cannot pass for want of a difference."""
    same: list[bool] = []
    for rules in TREES:
        first, second, *_ = strategies(tp.load(rules), algorithm, 20)
        other = strategies(tp.load(Swapped(rules)), algorithm, 20)
        same.append(np.array_equal(first, other[1]) and np.array_equal(second, other[0]))
    assert not all(same)


@pytest.mark.parametrize("rules", TREES, ids=lambda tree: tree.name)
@pytest.mark.parametrize("algorithm", [*FAMILY, "fp", "xfp"])
def test_the_order_of_actions_does_not_matter(algorithm, rules) -> None:
    """But for rounding. CFR-BR is left out: where its learner never goes, best responses tie, and order decides."""
    game, other = tp.load(rules), tp.load(Reordered(rules))
    ours = tp.solve(game, algorithm, iterations=8).policy
    theirs = tp.solve(other, algorithm, iterations=8).policy
    assert [game.actions_at(0, 0)] != [other.actions_at(0, 0)] or game.treeplexes[0].actions[0] == 1
    for left, right in zip(ours.aligned(game), theirs.aligned(game), strict=True):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-10)


def test_wrapped_rules_are_games() -> None:
    assert isinstance(Swapped(TREES[0]), Game)
    assert isinstance(Reordered(TREES[0]), Game)
