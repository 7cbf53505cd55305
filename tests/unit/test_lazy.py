"""Lazy-CFR against a recursion over histories that knows nothing of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.errors import ParameterError
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.random_tree import RandomTree
from treeplex.updates.reference import matched

RULES = {
    "plain": RandomTree(seed=2, depth=6),
    "hidden": RandomTree(seed=4, depth=7, chance=0.3, visible=0.3),
}


class Lazy:
    """Both players' masses by history, regrets and strategies by infoset, in dictionaries."""

    def __init__(self, rules: Any, threshold: float, plus: bool) -> None:
        self.rules, self.threshold, self.plus = rules, threshold, plus
        self.waiting: list[dict[Any, dict[Any, float]]] = [{}, {}]  # infoset: history: mass
        self.regret: list[dict[Any, Any]] = [{}, {}]
        self.nodes = 0

    def sigma(self, player: int, infoset: Any, width: int) -> Any:
        return matched(self.regret[player].setdefault(infoset, np.zeros(width)))

    def iterate(self, turns: str) -> None:
        if turns == "simultaneous":
            ready = [self.descend(player) for player in (0, 1)]
            for player in (0, 1):
                self.learn(player, ready[player])
        else:
            for player in (0, 1):
                self.learn(player, self.descend(player))

    def descend(self, player: int) -> list[Any]:
        """What every infoset that updates has earned behind its actions, parents first."""
        below: dict[Any, None] = {}
        self.run(player, self.rules.root(), 1.0, below)
        ready: list[Any] = []
        todo: list[Any] = [(infoset, None) for infoset in below]
        while todo:
            infoset, above = todo.pop(0)
            held = self.waiting[player][infoset]
            if sum(held.values()) <= self.threshold:
                continue
            self.waiting[player][infoset] = {}
            actions = list(self.rules.actions(next(iter(held))))
            sigma, earned = self.sigma(player, infoset, len(actions)), np.zeros(len(actions))
            for k, action in enumerate(actions):
                after: dict[Any, None] = {}
                for history, mass in held.items():
                    earned[k] += self.run(player, self.rules.child(history, action), mass, after)
                todo += [(each, (infoset, k)) for each in after]
            ready.append((infoset, sigma, earned, above))
        return ready

    def run(self, player: int, history: Any, mass: float, below: dict[Any, None]) -> float:
        """Payoffs that a mass earns at terminals; the rest waits at the player's histories."""
        self.nodes += 1
        mover = self.rules.mover(history)
        if mover == TERMINAL:
            return mass * float(self.rules.payoff(history)) * (1.0 if player == 0 else -1.0)
        if mover == player:
            infoset = self.rules.infoset(history)
            held = self.waiting[player].setdefault(infoset, {})
            held[history] = held.get(history, 0.0) + mass
            below[infoset] = None
            return 0.0
        actions = list(self.rules.actions(history))
        odds = (
            self.rules.probabilities(history)
            if mover == CHANCE
            else self.sigma(mover, self.rules.infoset(history), len(actions))
        )
        return sum(
            self.run(player, self.rules.child(history, a), mass * p, below)
            for a, p in zip(actions, odds, strict=True)
            if mass * p > 0.0
        )

    def learn(self, player: int, ready: list[Any]) -> None:
        values: dict[Any, Any] = {infoset: earned.copy() for infoset, _, earned, _ in ready}
        for infoset, sigma, _, above in reversed(ready):
            expected = float(sigma @ values[infoset])
            if above is not None:
                values[above[0]][above[1]] += expected
            regret = self.regret[player][infoset] + values[infoset] - expected
            self.regret[player][infoset] = np.maximum(regret, 0.0) if self.plus else regret


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("regret", ["plain", "plus"])
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.7, 3.0])
@pytest.mark.parametrize("name", RULES)
def test_iterates_are_those_of_the_definition(name, threshold, regret, turns) -> None:
    rules = RULES[name]
    game = tp.load(rules)
    algorithm = build(f"lazy-cfr(threshold={threshold},regret={regret},turns={turns})")
    state, plain = algorithm.start(game), Lazy(rules, threshold, regret == "plus")
    for t in range(1, 31):
        state = algorithm.advance(game, state, 1)
        plain.iterate(turns)
        assert algorithm.work(game, state).nodes == plain.nodes, t
        found = algorithm.report(game, state, "current").arrays
        for player, treeplex in enumerate(game.treeplexes):
            for label, i in game.infoset_index[player].items():
                own = slice(int(treeplex.first[i]), int(treeplex.first[i + 1]))
                sigma = plain.sigma(player, label, own.stop - own.start)
                np.testing.assert_allclose(found[player][own], sigma, rtol=0, atol=1e-9, err_msg=f"iteration {t}")


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize(("regret", "walk"), [("plain", "cfr-partial"), ("plus", "cfr+-partial")])
@pytest.mark.parametrize("name", RULES)
def test_without_a_threshold_it_is_partial_pruning(name, regret, walk, turns) -> None:
    game = tp.load(RULES[name])
    lazy, pruned = build(f"lazy-cfr(threshold=0,regret={regret},turns={turns})"), build(f"{walk}(turns={turns})")
    ours, theirs = (each.advance(game, each.start(game), 12) for each in (lazy, pruned))
    for iterate in ("average", "current"):
        arrays = (lazy.report(game, ours, iterate).arrays, pruned.report(game, theirs, iterate).arrays)
        for left, right in zip(*arrays, strict=True):
            np.testing.assert_allclose(left[1:], right[1:], rtol=0, atol=1e-10)
    if turns == "alternating":  # at once, partial pruning walks once for both
        assert lazy.work(game, ours).nodes == pruned.work(game, theirs).nodes


@pytest.mark.parametrize("threshold", [0.05, 1.0])
def test_averages_are_by_all_own_reach(threshold) -> None:
    """The plain sum over iterations of the player's own reach times its strategy, whenever an infoset updates."""
    game = tp.load(RULES["hidden"])
    algorithm = build(f"lazy-cfr(threshold={threshold},turns=simultaneous)")
    state, sums = algorithm.start(game), [np.zeros(treeplex.sequences) for treeplex in game.treeplexes]
    for _ in range(60):
        for player, strategy in enumerate(algorithm.report(game, state, "current").arrays):
            treeplex, plan = game.treeplexes[player], np.ones(len(strategy))
            for i in range(treeplex.infosets):
                own = slice(int(treeplex.first[i]), int(treeplex.first[i + 1]))
                plan[own] = plan[int(treeplex.parent[i])] * strategy[own]
            sums[player] += plan
        state = algorithm.advance(game, state, 1)
    for player, average in enumerate(algorithm.report(game, state, "average").arrays):
        treeplex = game.treeplexes[player]
        for i in range(treeplex.infosets):
            own = slice(int(treeplex.first[i]), int(treeplex.first[i + 1]))
            if sums[player][own].any():
                expected = sums[player][own] / sums[player][own].sum()
                np.testing.assert_allclose(average[own], expected, rtol=0, atol=1e-10)


def test_a_threshold_saves_nodes_and_the_game_is_solved() -> None:
    game = tp.load("leduc")
    all_of_it, lazy = build("lazy-cfr(threshold=0)"), build("lazy-cfr")
    states = [each.advance(game, each.start(game), 300) for each in (all_of_it, lazy)]
    eager, waiting = (each.work(game, state) for each, state in zip((all_of_it, lazy), states, strict=True))
    assert waiting.nodes < eager.nodes
    assert waiting.counters["updates"] < eager.counters["updates"]
    assert tp.solve(game, "lazy-cfr", nash_conv=0.05, nodes=10**7).status == "solved"


@pytest.mark.parametrize("threshold", ["-1", '"much"', "1e10"])
def test_a_threshold_is_a_number_that_is_not_negative(threshold) -> None:
    with pytest.raises(ParameterError, match="'threshold' parameter must be a number from 0"):
        build(f"lazy-cfr(threshold={threshold})")
