"""Pure CFR with discounts and predictions, Gibson's Pure CFR, and public chance sampling, against plain recursions.

``Whole`` below knows nothing of samplers: it computes counterfactual values of pure strategies over all histories,
discounts every regret in every iteration, and then lets the infosets that the opponent reaches choose.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.compile import CompiledGame
from treeplex.errors import ParameterError
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.random_tree import RandomTree
from treeplex.updates.discounted import Discounted
from treeplex.updates.lazy_discounts import BLOCK, logarithms

RULES = {
    "small": RandomTree(seed=1, depth=5),
    "larger": RandomTree(seed=5, depth=7),
    "hidden": RandomTree(seed=4, depth=6, chance=0.3, visible=0.3),
}


class Whole:
    """Pure CFR on the whole tree, both players at once or in turn."""

    def __init__(self, rules: Any, game: CompiledGame, start: Any, rule: str, predict: float = 0.0) -> None:
        self.rules, self.game, self.rule, self.predict = rules, game, rule, predict
        self.played = [strategy.copy() for strategy in start]  # [S] of each player: 1 for the action played
        self.regret = [np.zeros(len(strategy)) for strategy in start]
        self.average = [np.zeros(len(strategy)) for strategy in start]

    def iterate(self, t: int, weight: float, who: tuple[int, ...]) -> None:
        values = [np.zeros(len(strategy)) for strategy in self.played]
        reached = [np.zeros(len(strategy), dtype=bool) for strategy in self.played]
        self.below(self.rules.root(), (1.0, 1.0, 1.0), weight, who, values, reached)
        for player in who:
            for start, end in pairwise(self.game.treeplexes[player].first.tolist()):
                self.learn(player, slice(start, end), t, weight, values[player], reached[player])

    def learn(self, player: int, own: slice, t: int, weight: float, values: Any, reached: Any) -> None:
        regret = self.regret[player][own]
        if self.rule == "discounted" and t > 1:  # of the iteration before, whether or not anybody came here
            up, down = (float(d[0]) for d in Discounted(1.5, 0.0).discounts(np.array([t - 1.0])))
            regret = np.where(regret > 0.0, up, down) * regret
        if reached[own].any():
            level = 0.0 if self.rule == "plain" else float(values[own] @ self.played[player][own])
            gained = weight * (values[own] - level)
            regret = regret + gained
            if self.rule == "plus":
                regret = np.maximum(regret, 0.0)
            self.played[player][own] = 0.0
            self.played[player][own.start + int(np.argmax(regret + self.predict * gained))] = 1.0
        self.regret[player][own] = regret

    def below(self, history: Any, reach: Any, weight: float, who: Any, values: Any, reached: Any) -> float:
        rules = self.rules
        mover = rules.mover(history)
        if mover == TERMINAL:
            return float(rules.payoff(history))
        actions = list(rules.actions(history))
        if mover == CHANCE:
            odds = rules.probabilities(history)
            return sum(
                p
                * self.below(rules.child(history, a), (reach[0], reach[1], reach[2] * p), weight, who, values, reached)
                for a, p in zip(actions, odds, strict=True)
            )
        infoset = self.game.infoset_index[mover][rules.infoset(history)]
        first = int(self.game.treeplexes[mover].first[infoset])
        sigma = self.played[mover][first : first + len(actions)].copy()
        if who != (mover,):
            self.average[mover][first : first + len(actions)] += weight * reach[2] * reach[mover] * sigma
        results = []
        for a, p in zip(actions, sigma, strict=True):
            after = list(reach)
            after[mover] *= p
            results.append(self.below(rules.child(history, a), tuple(after), weight, who, values, reached))
        others = reach[1 - mover] * reach[2] * (1.0 if mover == 0 else -1.0)
        if others != 0.0:
            values[mover][first : first + len(actions)] += others * np.array(results)
            reached[mover][first : first + len(actions)] = True
        return float(sigma @ results)


VARIANTS = {
    "plain": ("", "plain", 0.0),
    "discounted": ("regret=discounted,", "discounted", 0.0),
    "predictive": ("predict=1,", "plain", 1.0),
    "half predicted": ("predict=0.5,", "plain", 0.5),
    "predictive with a floor": ("regret=plus,predict=1,", "plus", 1.0),
}


@pytest.mark.parametrize("turns", ["simultaneous", "alternating"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", RULES)
def test_pure_cfr_is_that_of_the_whole_tree(name, variant, turns) -> None:
    rules, (options, rule, predict) = RULES[name], VARIANTS[variant]
    game = tp.load(rules)
    algorithm = build(f"pure-cfr({options}weight=linear,turns={turns})")
    state = algorithm.start(game, 3)
    whole = Whole(rules, game, algorithm.report(game, state, "current").arrays, rule, predict)
    for t in range(1, 41):
        state = algorithm.advance(game, state, 1)
        for who in ((0, 1),) if turns == "simultaneous" else ((0,), (1,)):
            whole.iterate(t, float(t), who)
        found = algorithm.report(game, state, "current").arrays
        for player in (0, 1):
            np.testing.assert_array_equal(found[player][1:], whole.played[player][1:], err_msg=f"iteration {t}")
    for player, treeplex in enumerate(game.treeplexes):
        average = algorithm.report(game, state, "average").arrays[player]
        for start, end in zip(treeplex.first[:-1].tolist(), treeplex.first[1:].tolist(), strict=True):
            sums = whole.average[player][start:end]
            if sums.any():
                np.testing.assert_allclose(average[start:end], sums / sums.sum(), rtol=0, atol=1e-12)


def test_discounts_that_wait_are_those_of_every_iteration() -> None:
    rule = Discounted(1.5, 0.0)
    sums = logarithms(rule, 0, 50)
    product = np.ones(2)
    for t in range(1, 51):
        np.testing.assert_allclose(np.exp(sums[t - 1]), product, rtol=1e-13)
        product = product * np.array([float(d[0]) for d in rule.discounts(np.array([float(t)]))])


@pytest.mark.parametrize("cuts", [(10, 90, 100), (BLOCK - 3, 5, 40), (200,)])
def test_sums_of_discounts_do_not_depend_on_how_a_run_is_cut(cuts) -> None:
    rule, done, parts = Discounted(1.7, 0.3), 0, []
    for count in cuts:
        parts.append(logarithms(rule, done, count))
        done += count
    again = logarithms(rule._replace(), 0, done)
    np.testing.assert_array_equal(np.concatenate(parts), again)
    np.testing.assert_array_equal(logarithms(rule, done - 7, 7), again[-7:])


def counts(algorithm: Any, game: CompiledGame, iterations: int) -> Iterator[Any]:
    state = algorithm.advance(game, algorithm.start(game, 2), iterations)
    for table in state.streams[0].tables:
        yield table.regret
        yield table.average


def test_gibsons_pure_cfr_counts_in_whole_numbers() -> None:
    """Leduc's payoffs are whole; external sampling has fractions after a few iterations."""
    game = tp.load("leduc(suits=true)")
    for numbers in counts(build("gibson-pure-cfr"), game, 3000):
        assert numbers.any()
        np.testing.assert_array_equal(numbers, np.rint(numbers))
    assert any((numbers != np.rint(numbers)).any() for numbers in counts(build("mccfr-external"), game, 3000))


def test_gibsons_pure_cfr_is_not_that_of_ju() -> None:
    """Where regrets are 1 and 2 it plays both actions, one third and two thirds of the time."""
    game = tp.load("matrix([[1,0],[0,1]])")
    algorithm = build("gibson-pure-cfr")
    state = algorithm.start(game, 0)
    for table in state.streams[0].tables:
        table.regret[1:3] = 1e9, 2e9  # so large that nothing learnt changes the strategy
    state = algorithm.advance(game, state, 30_000)
    for table in state.streams[0].tables:
        share = table.average[1] / table.average[1:3].sum()
        assert abs(share - 1.0 / 3.0) < 0.0135  # five standard errors


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("options", ["", ",regret=plus,average=linear"])
@pytest.mark.parametrize("name", ["kuhn", "liars_dice(sides=2)"])
def test_without_public_cards_public_sampling_is_cfr(name, options, turns) -> None:
    """All hands and all moves: nothing is left to draw."""
    game = tp.load(name)
    ours = build(f"mccfr-public(turns={turns}{options})")
    state = ours.advance(game, ours.start(game, 5), 5)
    arrays = build(f"cfr+(turns={turns},order=faced)" if options else f"cfr(turns={turns},order=faced)")
    expected = arrays.advance(game, arrays.start(game), 5)
    for iterate in ("average", "current"):
        found, wanted = ours.report(game, state, iterate).arrays, arrays.report(game, expected, iterate).arrays
        for left, right in zip(found, wanted, strict=True):
            np.testing.assert_allclose(left[1:], right[1:], rtol=0, atol=1e-9)


def test_a_public_walk_counts_the_histories_that_its_cards_allow() -> None:
    """At most a pass over the tree per player, and more than where a single deal is drawn."""
    game = tp.load("leduc")
    algorithm = build("mccfr-public")
    one = algorithm.advance(game, algorithm.start(game, 0), 1)
    assert 0 < algorithm.work(game, one).nodes <= 2 * game.nodes
    chance = build("mccfr-chance")
    assert algorithm.work(game, one).nodes > chance.work(game, chance.advance(game, chance.start(game, 0), 1)).nodes


@pytest.mark.parametrize("name", ["pure-cfr", "pure-mccfr"])
def test_predictions_and_discounts_are_refused_together(name) -> None:
    with pytest.raises(ParameterError, match="'predict' parameter must be 0 with regret=discounted, got 1"):
        build(f"{name}(regret=discounted,predict=1)")
    with pytest.raises(ParameterError, match="'predict' parameter must be a number from 0 to 10, got -1"):
        build(f"{name}(predict=-1)")


NEW = ["mccfr-public", "gibson-pure-cfr", "pure-cfr(regret=discounted)", "pure-cfr(predict=1)"]


@pytest.mark.parametrize("algorithm", NEW)
def test_new_samplers_solve_kuhn(algorithm) -> None:
    assert tp.solve("kuhn", algorithm, iterations=20_000, seed=1).nash_conv < 0.03
