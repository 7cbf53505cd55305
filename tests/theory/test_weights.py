"""Weighted iterations, the order of averaging and pure strategies: what is proved of them, and what is not."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.registry import build
from treeplex.engines.sampling.reference.random import Draws
from treeplex.engines.sampling.reference.sampling import best
from treeplex.games.matrix import MatrixGame
from treeplex.updates.online import RegretMatching

bounds = runpy.run_path(str(Path(__file__).with_name("test_bounds.py")))
ROUNDING = bounds["ROUNDING"]


@pytest.fixture(scope="module", params=bounds["TREES"], ids=lambda tree: tree.name)
def game(request) -> Any:
    return tp.load(request.param)


@pytest.mark.parametrize("weight", ["uniform", "linear", "square", "log"])
def test_weighted_regrets_are_bounded(weight, game) -> None:
    """Equation (16) of Ju et al. (2023), summed over infosets, for simultaneous updates.

    sum_t w_t r_t <= L sqrt(|A|) sqrt(sum_t w_t^2) at every infoset, and NashConv of the average weighted by w is at
    most the sum of these regrets over the sum of the weights. Stored regrets are 1 / w_{T+1} of that sum.
    """
    algorithm: Any = build(f"cfr(turns=simultaneous,weight={weight})")
    bound, t = bounds["matching_bound"](game), np.arange(1.0, bounds["ITERATIONS"] + 2)
    weights = algorithm.weight(t)
    sums = [np.zeros(treeplex.sequences) for treeplex in game.treeplexes]
    for step in bounds["watch"](game, algorithm, "simultaneous"):
        for player, gained in enumerate(step.gains):
            sums[player] += weights[step.t - 1] * gained
        for total, learner in zip(sums, step.state.learners, strict=True):
            scale = np.abs(total).max()
            np.testing.assert_allclose(weights[step.t] * learner.regret[1:], total[1:], rtol=0, atol=1e-9 * scale)
        regret = bounds["total"](game, (sums[0], sums[1]))
        assert step.nash_conv * weights[: step.t].sum() <= regret * (1 + ROUNDING)
        assert regret <= bound * np.sqrt((weights[: step.t] ** 2).sum()) * (1 + ROUNDING)


def test_linear_weights_are_linear_cfr(game) -> None:
    one, two = build("cfr(weight=linear)"), build("lcfr")
    left, right = (algorithm.advance(game, algorithm.start(game), 8) for algorithm in (one, two))
    for a, b in zip(one.report(game, left, "average").arrays, two.report(game, right, "average").arrays, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


def test_averages_of_what_is_faced_need_no_slack(game) -> None:
    """Burch, Moravcik & Schmid (2019): with alternating updates T NashConv of x(2..T+1), y(1..T) is at most the regret.

    That is the average of Algorithm 1 of Tammelin (2014). The average of what is played needs the range of payoffs more
    (``test_cfr_in_turns``).
    """
    for step in bounds["watch"](game, build("cfr(order=faced)"), "alternating"):
        regret = bounds["total"](game, bounds["regrets"](step.state))
        assert step.nash_conv * step.t <= regret * (1 + ROUNDING)


# --- pure strategies -------------------------------------------------------------------------------------------------


def test_playing_the_best_action_so_far_is_not_without_regret() -> None:
    """Ju et al. (2023) claim that it is ("Fictitious Play achieves Blackwell approachability"); it is not.

    An adversary pays one to whichever of two actions is not played. Who plays argmax Q, equation (21), gets nothing,
    while one of the actions gets half of all rounds; regret matching gets nearly as much. The gap in the proof: (17)
    can be forced, but its normal is the largest regret alone, which points away from the nearest point of the target
    set, as Blackwell's argument needs, only if no other regret is positive.
    """
    rounds, regret, draws = 10_000, [0.0, 0.0], Draws(7)
    matching = RegretMatching(2)
    for _ in range(rounds):
        played = best(regret, draws)
        regret[1 - played] += 1.0  # what is played earns nothing, ever
        utilities = np.zeros(2)
        utilities[int(np.argmin(matching.strategy()))] = 1.0
        matching.observe(utilities)
    assert sum(regret) == rounds
    assert max(regret) / rounds == pytest.approx(0.5, abs=1e-3)
    assert matching.regret() / rounds < 0.01


@pytest.mark.parametrize(("weight", "step"), [("uniform", lambda t: 1.0 / t), ("linear", lambda t: 2.0 / (t + 1.0))])
def test_weights_are_step_sizes_of_generalised_fictitious_play(weight, step) -> None:
    """Equation (8) of Ju et al.: x <- (1 - alpha_t) x + alpha_t b, with alpha_t = w_t / (w_1 + ... + w_t)."""
    game = tp.load(MatrixGame(np.random.default_rng(3).standard_normal((4, 6))))
    algorithm = build(f"pure-cfr(weight={weight},turns=simultaneous)")
    assert isinstance(algorithm, MonteCarlo)
    state = algorithm.start(game)
    mixed = [np.zeros(4), np.zeros(6)]
    for t in range(1, 60):
        responses = [strategy[1:] for strategy in algorithm.report(game, state, "current").arrays]
        assert all(sorted(response)[-2:] == [0.0, 1.0] for response in responses)
        mixed = [(1.0 - step(t)) * x + step(t) * b for x, b in zip(mixed, responses, strict=True)]
        state = algorithm.advance(game, state, 1)
        for strategy, expected in zip(algorithm.report(game, state, "average").arrays, mixed, strict=True):
            np.testing.assert_allclose(strategy[1:], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "games",
    [
        [f"kuhn_ext(3,{bets},{raises})" for bets, raises in ((4, 2), (6, 3), (8, 4), (10, 5))],
        [f"leduc_ext(3,{bets},2)" for bets in (1, 2, 3, 4)],
        [f"liars_dice(sides={sides})" for sides in (2, 3, 4)],
    ],
    ids=["kuhn_ext", "leduc_ext", "liars_dice"],
)
@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
def test_an_iteration_enters_as_many_nodes_as_the_root_of_the_tree(turns, games) -> None:
    """Ju et al., "Space complexity reduction": O(sqrt(|S|)) nodes per iteration, here at most twice the root.

    From the smallest to the largest tree of a family, of 30 to 90 times as many nodes, the ratio does not rise.
    """
    ratios = []
    for name in games:
        game, algorithm = tp.load(name), build(f"pure-mccfr(turns={turns})")
        assert isinstance(algorithm, MonteCarlo)
        state = algorithm.advance(game, algorithm.start(game, 1), 2000)
        ratios.append(algorithm.work(game, state).nodes / 2000 / np.sqrt(game.nodes))
    assert max(ratios) < 2.0
    assert ratios[-1] < 1.1 * ratios[0]
