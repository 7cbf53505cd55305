"""Reach below a limit counts as none, against CFR written out over histories; and the step sizes of fictitious play."""

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

RULES = RandomTree(seed=4, depth=7, chance=0.3, visible=0.3)


class Cut:
    """Plain CFR in which a counterfactual reach below ``least`` is zero from there on."""

    def __init__(self, rules: Any, least: float) -> None:
        self.rules, self.least, self.nodes = rules, least, 0
        self.regret: list[dict[Any, Any]] = [{}, {}]
        self.gained: list[dict[Any, Any]] = [{}, {}]

    def sigma(self, player: int, history: Any) -> Any:
        width = len(self.rules.actions(history))
        return matched(self.regret[player].setdefault(self.rules.infoset(history), np.zeros(width)))

    def iterate(self, plus: bool) -> None:
        self.gained = [{}, {}]
        self.below(self.rules.root(), (1.0, 1.0))
        for regret, gained in zip(self.regret, self.gained, strict=True):
            for infoset, more in gained.items():
                regret[infoset] = np.maximum(regret[infoset] + more, 0.0) if plus else regret[infoset] + more

    def below(self, history: Any, reach: tuple[float, float]) -> tuple[float, float]:
        """Values of both players times their counterfactual reach."""
        self.nodes += 1
        rules = self.rules
        mover = rules.mover(history)
        if mover == TERMINAL:
            return reach[0] * rules.payoff(history), -reach[1] * rules.payoff(history)
        odds = rules.probabilities(history) if mover == CHANCE else self.sigma(mover, history)
        values = []
        for action, p in zip(rules.actions(history), odds, strict=True):
            after = [r if player == mover else r * p for player, r in enumerate(reach)]
            after = [r if r >= self.least else 0.0 for r in after]
            nobody = after == [0.0, 0.0]
            values.append((0.0, 0.0) if nobody else self.below(rules.child(history, action), (after[0], after[1])))
        result = [sum(value[player] for value in values) for player in (0, 1)]
        if mover != CHANCE:
            own = np.array([value[mover] for value in values])
            result[mover] = float(odds @ own)
            if reach[mover] > 0.0:
                gained = self.gained[mover].setdefault(rules.infoset(history), np.zeros(len(values)))
                gained += own - result[mover]
        return result[0], result[1]


@pytest.mark.parametrize("name", ["cfr-partial", "cfr+-partial"])
@pytest.mark.parametrize("least", [0.0, 1e-20, 0.01, 0.1])
def test_a_reach_that_is_too_small_counts_as_none(least, name) -> None:
    game = tp.load(RULES)
    algorithm, plain = build(f"{name}(least={least},turns=simultaneous)"), Cut(RULES, least)
    state = algorithm.start(game)
    for t in range(1, 16):
        state = algorithm.advance(game, state, 1)
        plain.iterate(name.startswith("cfr+"))
        assert algorithm.work(game, state).nodes == plain.nodes, t
        current = algorithm.report(game, state, "current").arrays
        for player, treeplex in enumerate(game.treeplexes):
            for label, i in game.infoset_index[player].items():
                own = slice(int(treeplex.first[i]), int(treeplex.first[i + 1]))
                regret = plain.regret[player].get(label, np.zeros(own.stop - own.start))
                np.testing.assert_allclose(current[player][own], matched(regret), rtol=0, atol=1e-9)


def test_a_limit_saves_nodes_and_changes_results() -> None:
    game = tp.load(RULES)
    every, cut = (build(f"cfr-partial(least={least})") for least in (0, 0.05))
    whole, part = (each.advance(game, each.start(game), 50) for each in (every, cut))
    assert cut.work(game, part).nodes < every.work(game, whole).nodes
    with pytest.raises(ParameterError, match="'least' parameter must be a number from 0 to 1, got 2"):
        build("cfr-partial(least=2)")


STEPS = {
    "harmonic": lambda t: 1.0 / (t + 1.0),
    "linear": lambda t: 2.0 / (t + 2.0),
    "log": lambda t: 1.0 / np.log(t + np.e),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["fp", "xfp"])
def test_fictitious_play_takes_these_steps(name, step) -> None:
    """Equation (8) of Ju et al. on a matrix: both mix their best response into what they have."""
    rng = np.random.default_rng(3)
    payoffs = np.round(rng.standard_normal((4, 5)), 6)
    game = tp.load(f"matrix({payoffs.tolist()})".replace(" ", ""))
    algorithm = build(f"{name}(step={step})")
    state, plans = algorithm.start(game), [np.full(4, 0.25), np.full(5, 0.2)]
    for t in range(1, 60):
        state = algorithm.advance(game, state, 1)
        size, before = STEPS[step](float(t)), [plan.copy() for plan in plans]
        for player in (0, 1):
            other = plans if name == "fp" else before
            values = payoffs @ other[1] if player == 0 else -payoffs.T @ other[0]
            plans[player] = (1.0 - size) * plans[player] + size * np.eye(len(values))[np.argmax(values)]
        for found, plan in zip(algorithm.report(game, state, "average").arrays, plans, strict=True):
            np.testing.assert_allclose(found[1:], plan, rtol=0, atol=1e-12)
    assert all(0.0 < STEPS[step](float(t)) < 1.0 for t in (1, 10, 10**6))


def test_a_step_has_a_name() -> None:
    with pytest.raises(ParameterError, match="'step' parameter must be one of harmonic, linear, log, got 'cubic'"):
        build("xfp(step=cubic)")
