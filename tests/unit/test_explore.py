"""Exploring rules without compiling them; what is said about quality is a bound from below, and is labelled so."""

from __future__ import annotations

import math
from typing import Any

import pytest

import treeplex as tp
from treeplex.algorithms.explore import WALKS
from treeplex.errors import GameError, ParameterError
from treeplex.games.protocol import TERMINAL
from treeplex.games.random_tree import RandomTree


class Gift:
    """Player 0 waits; player 1 takes 1 or nothing. What is learnt can be told by hand."""

    name = "gift"

    def root(self) -> str:
        return ""

    def mover(self, history: str) -> int:
        return (0, 1, TERMINAL)[len(history)]

    def actions(self, history: str) -> tuple[str, ...]:
        return ("nothing", "one") if history else ("wait",)

    def probabilities(self, history: str) -> tuple[float, ...]:
        return ()

    def child(self, history: str, action: str) -> str:
        return history + action[0]

    def infoset(self, history: str) -> str:
        return history or "start"

    def payoff(self, history: str) -> float:
        return -1.0 if history == "wo" else 0.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("algorithm", WALKS)
def test_it_learns_what_can_be_told_by_hand(algorithm, seed) -> None:
    """Player 0's walk comes first in an iteration and averages what player 1 plays; then player 1 learns.

    Pure strategies begin with any action and know the better one from then on, so the first of the weights log(1 + t)
    is lost or not. External sampling begins with 1/2 and knows the better action from then on. So does outcome
    sampling, but not before the first walk in which player 1 has drawn it, at odds of 1/2.
    """
    last = 40
    found = tp.explore(Gift(), algorithm, iterations=last, seed=seed, responses=2)
    assert (found.iterations, found.status, found.nodes_touched) == (
        last, "iterations", last * {"pure-mccfr": 7, "mccfr-external": 7, "mccfr-outcome": 6}[algorithm],
    )  # fmt: skip
    share = found.policy[1, "w"]["one"]
    if algorithm == "pure-mccfr":
        weights = [math.log(1 + t) for t in range(1, last + 1)]
        assert min(abs(share - 1.0), abs(share - sum(weights[1:]) / sum(weights))) < 1e-12
    elif algorithm == "mccfr-external":
        assert share == pytest.approx((last - 0.5) / last, abs=1e-12)
    else:
        until = 2.0 * last * (1.0 - share)  # iterations with 1/2
        assert until == pytest.approx(round(until), abs=1e-9)
        assert 1 <= round(until) <= 10  # one seed in a thousand would take longer


def test_pure_strategies_begin_with_either_action() -> None:
    shares = {tp.explore(Gift(), iterations=9, seed=seed, responses=2).policy[1, "w"]["one"] for seed in range(8)}
    assert len(shares) == 2


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_a_bound_from_below(seed) -> None:
    """Within its interval: four standard errors, so that one test in thousands fails by chance."""
    found = tp.explore("leduc", iterations=150, seed=seed, responses=1500)
    exact = tp.evaluate("leduc", whole(found)).nash_conv
    assert found.nash_conv_at_least <= exact + 4 * found.margin / 1.96
    assert found.nash_conv_at_least > 0.4 * exact  # and not an empty one


def whole(found: Any) -> Any:
    """The policy with uniform play where nothing was visited, as it is played in the estimate."""
    game = tp.load("leduc")
    rows = []
    uniform = tp.Policy.uniform(game)
    for (player, label), actions in uniform.items():
        known = found.policy.strategies[player].index
        rows += [(player, label, a, p) for a, p in (found.policy[player, label] if label in known else actions).items()]
    return tp.Policy.from_rows(rows)


def test_the_value_is_estimated_too() -> None:
    found = tp.explore("kuhn", iterations=3000, responses=4000)
    exact = tp.evaluate("kuhn", found.policy).value
    assert abs(found.value - exact) < 5 * found.estimate.error
    assert found.value == found.estimate.mean
    assert 0 < found.estimate.error < 0.1


def test_only_what_is_visited_is_stored() -> None:
    found = tp.explore("goofspiel(cards=6)", "mccfr-outcome", iterations=50, responses=2)
    visited = sum(len(strategy.infosets) for strategy in found.policy.strategies)
    assert 50 < visited <= found.nodes_touched
    assert found.nodes_touched == 2 * 50 * 11  # five bids each before the last is forced, and the end


def test_a_seed_decides_everything() -> None:
    one, same, other = (tp.explore("leduc", iterations=50, seed=seed, responses=10) for seed in (1, 1, 2))
    assert list(one.policy.rows()) == list(same.policy.rows())
    assert one.responses == same.responses
    assert list(one.policy.rows()) != list(other.policy.rows())


def test_it_says_that_it_is_an_estimate() -> None:
    found = tp.explore("kuhn", iterations=20, responses=10)
    summary = found.summary()
    assert math.isnan(found.nash_conv)
    assert summary["nash_conv"] is summary["exploitability"] is None
    assert {"nash_conv_sampled_at_least", "nash_conv_margin", "value_sampled"} <= set(summary)


class Long:
    """Two thousand moves, one after the other."""

    name = "long"

    def root(self) -> int:
        return 0

    def mover(self, history: int) -> int:
        return history % 2 if history < 2000 else TERMINAL

    def actions(self, history: int) -> tuple[str, ...]:
        return ("on",)

    def probabilities(self, history: int) -> tuple[float, ...]:
        return ()

    def child(self, history: int, action: str) -> int:
        return history + 1

    def infoset(self, history: int) -> str:
        return str(history)

    def payoff(self, history: int) -> Any:
        return 1.0


def test_long_games_do_not_run_out_of_stack() -> None:
    found = tp.explore(Long(), iterations=2, responses=2)
    assert found.nodes_touched == 2 * 2 * 2001
    assert found.value == 1.0
    assert found.nash_conv_at_least == 0.0


def test_games_that_are_not_zero_sum_are_refused() -> None:
    class Shared(RandomTree):
        def payoff(self, history: Any) -> Any:
            return (super().payoff(history), 1.0)

    with pytest.raises(GameError, match="is not zero-sum"):
        tp.explore(Shared(seed=1), iterations=5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "cfr+"}, "'algorithm' parameter must be one of pure-mccfr, mccfr-external, mccfr-outcome"),
        ({"responses": "many"}, "'responses' parameter must be an integer >= 2"),
        ({"responses": 2.5}, "'responses' parameter must be an integer >= 2"),
        ({"responses": 1}, "'responses' parameter must be an integer >= 2"),
        ({"iterations": 0}, "'iterations' parameter must be an integer >= 1"),
    ],
)
def test_wrong_options_are_refused(options, words) -> None:
    with pytest.raises(ParameterError, match=words):
        tp.explore("kuhn", **({"iterations": 1} | options))
