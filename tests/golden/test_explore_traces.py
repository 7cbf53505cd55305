"""``explore`` beside a twin that is written from the papers, with the same random numbers, and beside stored numbers.

The twin asks the rules as ``explore`` does, keeps arrays in dictionaries and shares no code with it. Iterates 1 to 5,
a longer run, and how the answer is measured. The stored numbers come from the twin; write them again after a deliberate
change with

    python tests/golden/test_explore_traces.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.explore import WALKS
from treeplex.games.catalog import make
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree

STORED = Path(__file__).with_name("explore_traces.json")
ITERATES, LONG, SEED, RESPONSES = 5, 200, 3, 40
GAMES: dict[str, Game] = {"kuhn": make("kuhn"), "random_tree": RandomTree(seed=1, depth=5)}
EXPLORATION = 0.6  # of outcome sampling: how often a move is drawn evenly


class Step(NamedTuple):
    """A move on a path of outcome sampling."""

    mover: int
    infoset: Any
    strategy: Any  # [A] what is played; for chance, its probabilities
    sampling: Any  # [A] what it was drawn from
    move: int


class Twin:
    """Monte Carlo CFR over the rules, for both players in turn."""

    def __init__(self, game: Game, algorithm: str) -> None:
        self.game, self.algorithm, self.random = game, algorithm, Random(SEED)
        self.regret: dict[Any, Any] = {}  # sums of values for pure strategies
        self.total: dict[Any, Any] = {}
        self.pick: dict[Any, int] = {}
        self.nodes = 0

    # Random numbers: one of n evenly, or in proportion to weights.

    def any_of(self, count: int) -> int:
        return self.random.randrange(count)

    def draw(self, weights: Any) -> int:
        steps = np.cumsum(weights)
        return min(int(np.searchsorted(steps, self.random.random() * steps[-1], side="right")), len(steps) - 1)

    # The game.

    def below(self, history: Any, move: int) -> Any:
        return self.game.child(history, self.game.actions(history)[move])

    def odds(self, history: Any) -> Any:
        return np.array(self.game.probabilities(history), dtype=float)

    def payoff(self, history: Any, player: int) -> float:
        paid: Any = self.game.payoff(history)
        return paid if player == 0 else -paid

    def infoset(self, history: Any) -> Any:
        """Player and label; an infoset that is met for the first time gets an action to play, by chance."""
        found = (self.game.mover(history), self.game.infoset(history))
        if found not in self.regret:
            width = len(self.game.actions(history))
            self.regret[found], self.total[found] = np.zeros(width), np.zeros(width)
            self.pick[found] = self.any_of(width)
        return found

    def matched(self, infoset: Any) -> Any:
        """Regret matching: in proportion to positive regrets (Zinkevich et al. 2007, equation (8))."""
        hope = np.maximum(self.regret[infoset], 0.0)
        return hope / hope.sum() if hope.sum() > 0.0 else np.full(len(hope), 1.0 / len(hope))

    # Learning.

    def iterate(self, t: int) -> None:
        for player in (0, 1):
            match self.algorithm:
                case "pure-mccfr":
                    self.pure(player, self.game.root(), math.log(1.0 + t))
                case "mccfr-external":
                    self.external(player, self.game.root())
                case "mccfr-outcome":
                    self.outcome(player)

    def pure(self, player: int, history: Any, weight: float) -> float:
        """Ju et al. 2023, (20) and (21): Q(a) adds up w v(a), the best action is played, its visits are averaged."""
        self.nodes += 1
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        if mover == CHANCE:
            return self.pure(player, self.below(history, self.draw(self.odds(history))), weight)
        infoset = self.infoset(history)
        played = self.pick[infoset]
        if mover != player:
            self.total[infoset][played] += weight
            return self.pure(player, self.below(history, played), weight)
        values = np.array([self.pure(player, self.below(history, a), weight) for a in range(len(self.regret[infoset]))])
        self.regret[infoset] += weight * values
        best = np.flatnonzero(self.regret[infoset] == self.regret[infoset].max())
        self.pick[infoset] = int(best[self.any_of(len(best))] if len(best) > 1 else best[0])
        return float(values[played])

    def external(self, player: int, history: Any) -> float:
        """Lanctot et al. 2009, section 3.2: r(a) = v(a) - sum of sigma(b) v(b); the opponent's strategy is averaged."""
        self.nodes += 1
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        if mover == CHANCE:
            return self.external(player, self.below(history, self.draw(self.odds(history))))
        infoset = self.infoset(history)
        sigma = self.matched(infoset)
        if mover != player:
            self.total[infoset] += sigma
            return self.external(player, self.below(history, self.draw(sigma)))
        values = np.array([self.external(player, self.below(history, a)) for a in range(len(sigma))])
        self.regret[infoset] += values - sigma @ values
        return float(sigma @ values)

    def outcome(self, player: int) -> None:
        """Lanctot et al. 2009, section 3.1: a path z is drawn with probability q(z); then, for I on it and a played,

            r(I, a) = u(z) pi_{-i}(I) / q(z)  (pi(Ia, z) - pi(I, z)),     r(I, b) = -u(z) pi_{-i}(I) / q(z)  pi(I, z)

        with pi(h, z) everybody's probability of going on from h to z. The opponent's strategy is averaged where it
        moves, weighted by one over the player's part of the probability of having come there.
        """
        path, history = [], self.game.root()
        while (mover := self.game.mover(history)) != TERMINAL:
            if mover == CHANCE:
                step = Step(mover, None, self.odds(history), self.odds(history), 0)
            else:
                infoset = self.infoset(history)
                sigma = self.matched(infoset)
                explored = EXPLORATION / len(sigma) + (1.0 - EXPLORATION) * sigma
                step = Step(mover, infoset, sigma, explored if mover == player else sigma, 0)
            step = step._replace(move=self.draw(step.sampling))
            path.append(step)
            history = self.below(history, step.move)
        self.nodes += len(path) + 1
        payoff = self.payoff(history, player)
        drawn = np.array([step.sampling[step.move] for step in path])
        played = np.array([step.strategy[step.move] for step in path])
        own = np.array([step.mover == player for step in path])
        for k, step in enumerate(path):
            if step.mover == player:
                others = np.prod(played[:k][~own[:k]])
                onwards = np.zeros(len(step.strategy))
                onwards[step.move] = np.prod(played[k + 1 :])
                self.regret[step.infoset] += payoff * others / np.prod(drawn) * (onwards - np.prod(played[k:]))
            elif step.mover != CHANCE:
                self.total[step.infoset] += step.strategy / np.prod(drawn[:k][own[:k]])

    # Measuring.

    def average(self) -> dict[tuple[int, str], Any]:
        """The average strategies; even where nothing has been added up."""
        return {
            infoset: total / total.sum() if total.sum() > 0.0 else np.full(len(total), 1.0 / len(total))
            for infoset, total in self.total.items()
        }

    def average_move(self, history: Any) -> int:
        total = self.total.get((self.game.mover(history), self.game.infoset(history)))
        return self.any_of(len(self.game.actions(history))) if total is None or not total.any() else self.draw(total)

    def measure(self, count: int) -> dict[str, list[float]]:
        """What learnt responses and the averages earn: the mean of ``count`` games, and its standard error.

        A response is learnt in ``count`` walks, or until it has entered half as many histories as were explored.
        """
        budget, found = self.nodes // 2, {}
        for player in (0, 1):
            sums: dict[str, Any] = {}
            picks: dict[str, int] = {}
            until = self.nodes + budget
            for _ in range(count):
                self.respond(player, self.game.root(), sums, picks)
                if self.nodes >= until:
                    break
            found[f"response of {player}"] = self.games(count, player, picks)
        return found | {"value": self.games(count, 0, None)}

    def respond(self, player: int, history: Any, sums: dict[str, Any], picks: dict[str, int]) -> float:
        """Pure strategies against the averages: add up values, pick the largest sum."""
        self.nodes += 1
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        if mover != player:
            move = self.draw(self.odds(history)) if mover == CHANCE else self.average_move(history)
            return self.respond(player, self.below(history, move), sums, picks)
        label, width = self.game.infoset(history), len(self.game.actions(history))
        if label not in sums:
            sums[label], picks[label] = np.zeros(width), self.any_of(width)
        values = np.array([self.respond(player, self.below(history, a), sums, picks) for a in range(width)])
        earned = float(values[picks[label]])
        sums[label] += values
        picks[label] = int(np.argmax(sums[label]))
        return earned

    def games(self, count: int, player: int, picks: dict[str, int] | None) -> list[float]:
        payoffs = np.empty(count)
        for k in range(count):
            history = self.game.root()
            while (mover := self.game.mover(history)) != TERMINAL:
                self.nodes += 1
                if mover == CHANCE:
                    move = self.draw(self.odds(history))
                elif mover == player and picks is not None:
                    label = self.game.infoset(history)
                    move = picks[label] if label in picks else self.any_of(len(self.game.actions(history)))
                else:
                    move = self.average_move(history)
                history = self.below(history, move)
            self.nodes += 1
            payoffs[k] = self.payoff(history, player)
        return [float(payoffs.mean()), float(payoffs.std(ddof=1) / math.sqrt(count))]


Told = dict[str, Any]


def twin_after(name: str, algorithm: str, iterations: int, responses: int) -> Told:
    twin = Twin(GAMES[name], algorithm)
    for t in range(1, iterations + 1):
        twin.iterate(t)
    average = {f"{player} {label}": one.tolist() for (player, label), one in sorted(twin.average().items())}
    return {"nodes": twin.nodes, "average": average, "measured": twin.measure(responses)}


def explored(name: str, algorithm: str, iterations: int, responses: int) -> Told:
    """As users get it."""
    found = tp.explore(GAMES[name], algorithm, iterations=iterations, seed=SEED, responses=responses)
    average = {f"{player} {label}": list(one.values()) for (player, label), one in sorted(found.policy.items())}
    measured = {f"response of {player}": list(found.responses[player]) for player in (0, 1)}
    return {"nodes": found.nodes_touched, "average": average, "measured": measured | {"value": list(found.estimate)}}


def assert_same(ours: Told, theirs: Told) -> None:
    assert ours["nodes"] == theirs["nodes"]
    for part in ("average", "measured"):
        assert ours[part].keys() == theirs[part].keys()
        for key, numbers in ours[part].items():
            np.testing.assert_allclose(numbers, theirs[part][key], rtol=0, atol=1e-12, err_msg=key)


CASES = [(name, algorithm) for name in GAMES for algorithm in WALKS]


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_iterates_are_the_stored_ones(name, algorithm) -> None:
    stored = json.loads(STORED.read_text())[name][algorithm]
    assert len(stored) == ITERATES
    for t, theirs in enumerate(stored, start=1):
        assert_same(explored(name, algorithm, t, RESPONSES), theirs)


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_the_twin_gives_the_stored_iterates(name, algorithm) -> None:
    for t, theirs in enumerate(json.loads(STORED.read_text())[name][algorithm], start=1):
        assert_same(twin_after(name, algorithm, t, RESPONSES), theirs)


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_a_longer_run_is_the_twins(name, algorithm) -> None:
    assert_same(explored(name, algorithm, LONG, RESPONSES), twin_after(name, algorithm, LONG, RESPONSES))


def test_a_response_is_not_learnt_for_longer_than_was_explored() -> None:
    """Five iterations allow for fewer walks than are asked for, which the twin knows, too."""
    many = 1000
    assert_same(explored("kuhn", "pure-mccfr", ITERATES, many), twin_after("kuhn", "pure-mccfr", ITERATES, many))


def test_what_is_reported_follows_from_what_was_measured() -> None:
    found = tp.explore("kuhn", "mccfr-external", iterations=50, seed=SEED, responses=RESPONSES)
    (one, error), (other, second) = found.responses
    assert found.nash_conv_at_least == one + other
    assert found.margin == pytest.approx(1.959963984540054 * math.sqrt(error**2 + second**2), rel=1e-12)
    assert found.value == found.estimate.mean
    assert math.isnan(found.nash_conv)  # unknown, and never passed off as the bound
    summary = found.summary()
    assert summary["nash_conv"] is None
    assert summary["nash_conv_sampled_at_least"] == found.nash_conv_at_least
    assert summary["value_margin"] == pytest.approx(1.959963984540054 * found.estimate.error, rel=1e-12)


if __name__ == "__main__":
    traces = {
        name: {a: [twin_after(name, a, t, RESPONSES) for t in range(1, ITERATES + 1)] for a in WALKS} for name in GAMES
    }
    STORED.write_text(json.dumps(traces, separators=(",", ":")).replace('{"nodes"', '\n{"nodes"') + "\n")
