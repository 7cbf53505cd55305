"""Which strategies an iteration adds to the averages: those played, those that opponents face, or the next ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.engines.boards.tables import check_scheme
from treeplex.engines.sequence.learners import normalised
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.errors import ParameterError
from treeplex.updates.schedules import stretches

GAMES = ["leduc", "random_tree(seed=3,depth=6)", "one_card_poker(deck=20)"]  # sparse, by histories, by ranks
ITERATIONS = 12
FAMILY = [name for name, entry in ALGORITHMS.items() if isinstance(entry.build(), CFR)]
NEW = {  # by order and turns: do players 0 and 1 add what they play next?
    ("played", "alternating"): (False, False),
    ("played", "simultaneous"): (False, False),
    ("faced", "alternating"): (True, False),
    ("faced", "simultaneous"): (False, False),
    ("next", "alternating"): (True, True),
    ("next", "simultaneous"): (True, True),
}


def plans(state: Any) -> list[Any]:
    return [learner.plan.astype(float) for learner in state.learners]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("order", "turns"), NEW)
@pytest.mark.parametrize("family", FAMILY)
def test_averages_are_those_of_the_definition(family, order, turns, name) -> None:
    """From the realization plans of a run in the default order, before and after every iteration; one call for all."""
    game = tp.load(name)
    plain: Any = build(f"{family}(turns={turns})")
    ordered: Any = build(f"{family}(turns={turns},order={order})")
    state, sums = plain.start(game), [np.zeros(treeplex.sequences) for treeplex in game.treeplexes]
    for t in range(1, ITERATIONS + 1):
        before = plans(state)
        state = plain.advance(game, state, 1)
        after = plans(state)
        fade, weight = stretches(plain.weight, t - 1, 1)[0].fade, float(plain.weight(np.array([float(t)]))[0])
        for player, new in enumerate(NEW[order, turns]):
            sums[player] = fade * sums[player] + weight * (after if new else before)[player]
    ours = ordered.advance(game, ordered.start(game), ITERATIONS)
    for left, right in zip(
        ordered.report(game, ours, "average").arrays, normalised(game, (sums[0], sums[1])), strict=True
    ):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)
    for left, right in zip(
        ordered.report(game, ours, "current").arrays, plain.report(game, state, "current").arrays, strict=True
    ):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("order", ["played", "faced", "next"])
@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize("family", ["cfr+(delay=3", "hs-dcfr(horizon=7"])
def test_pieces_give_the_bits_of_the_whole(family, storage, order) -> None:
    game = tp.load("leduc")
    algorithm: Any = build(f"{family},order={order})").open(game, Execution(storage=storage))
    whole = algorithm.advance(game, algorithm.start(game), 9)
    pieces = algorithm.start(game)
    for count in (1, 5, 3):
        pieces = algorithm.advance(game, pieces, count)
    for one, two in zip(whole.learners, pieces.learners, strict=True):
        for left, right in zip(one, two, strict=True):
            np.testing.assert_array_equal(left, right)


def test_the_first_average_is_the_second_strategy_of_player_0_alone() -> None:
    game = tp.load("kuhn")
    algorithm: Any = build("cfr+(order=faced)")
    state = algorithm.advance(game, algorithm.start(game), 1)
    average, current = algorithm.report(game, state, "average").arrays, algorithm.report(game, state, "current").arrays
    reached = np.repeat(state.learners[0].plan[game.treeplexes[0].parent] > 0.0, game.treeplexes[0].actions)
    np.testing.assert_array_equal(average[0][1:][reached], current[0][1:][reached])
    np.testing.assert_array_equal(average[1][1:], 0.5)


def test_a_spot_has_an_order_of_its_own() -> None:
    with pytest.raises(ParameterError, match="averages take the strategies that are faced; leave out order=next"):
        check_scheme(build("cfr+(order=next)").scheme, "float32")  # pyright: ignore[reportAttributeAccessIssue]
    check_scheme(build("cfr+(order=faced)").scheme, "float32")  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("average", "power"), [("linear", 1), ("square", 2)])
def test_weights_of_the_average_alone(average, power) -> None:
    """Strategies played are those of plain CFR, since regrets are; realization plans are weighted by the iteration."""
    game = tp.load("random_tree(seed=3,depth=6)")
    plain, weighted = build("cfr"), build(f"cfr(average={average})")
    one, two, totals = plain.start(game), weighted.start(game), [0.0, 0.0]
    for t in range(1, 13):
        for player, strategy in enumerate(plain.report(game, one, "current").arrays):
            plan = np.empty(len(strategy))
            realization_plan(game.treeplexes[player], strategy, plan)
            totals[player] = totals[player] + t**power * plan
        one, two = plain.advance(game, one, 1), weighted.advance(game, two, 1)
        for ours, theirs in zip(
            weighted.report(game, two, "current").arrays, plain.report(game, one, "current").arrays, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        for ours, theirs in zip(
            weighted.report(game, two, "average").arrays, normalised(game, (totals[0], totals[1])), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
