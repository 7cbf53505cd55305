"""Play of a game, history by history, and parts of a game by rules: what growth is compared with."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from treeplex.arrow import unpacked
from treeplex.games.dealt import DealtGame
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.growth.parts import GrowingPart

Key = tuple[int, str]
Strategy = dict[tuple[int, str], dict[str, float]]


class Play:
    """Regrets and averages of a weighted sequence of strategy profiles, as the definitions (1) to (3) say."""

    def __init__(self, game: DealtGame) -> None:
        self.game = game
        self.regret: dict[Any, float] = defaultdict(float)
        self.average: dict[Any, float] = defaultdict(float)

    def iteration(self, profile: Strategy, weight: float) -> None:
        values: dict[Any, float] = defaultdict(float)  # (player, infoset, action) -> v(I, a)
        reached: dict[Any, float] = {}  # (player, infoset) -> own reach
        self._walk(self.game.root(), profile, 1.0, (1.0, 1.0), values, reached)
        for (player, label), own in reached.items():
            sigma = profile[player, label]
            expected = sum(sigma[a] * values[player, label, a] for a in sigma)
            for a in sigma:
                self.regret[player, label, a] += weight * (values[player, label, a] - expected)
                self.average[player, label, a] += weight * own * sigma[a]

    def _walk(self, history, profile, chance, own, values, reached) -> float:
        """Player 0's expected payoff from here on."""
        mover = self.game.mover(history)
        if mover == TERMINAL:
            return float(self.game.payoff(history))
        actions = self.game.actions(history)
        if mover == CHANCE:
            shares = self.game.probabilities(history)
            return sum(
                p * self._walk(self.game.child(history, a), profile, chance * p, own, values, reached)
                for a, p in zip(actions, shares, strict=True)
            )
        label = self.game.infoset(history)
        reached[mover, label] = own[mover]
        total = 0.0
        for a in actions:
            p = profile[mover, label][a]
            below = (own[0] * p, own[1]) if mover == 0 else (own[0], own[1] * p)
            worth = self._walk(self.game.child(history, a), profile, chance, below, values, reached)
            values[mover, label, a] += chance * own[1 - mover] * worth * (1.0 if mover == 0 else -1.0)
            total += p * worth
        return total


def behaviour(part: GrowingPart, strategies: Any) -> Strategy:
    """Strategies of the part's own arrays, by player, infoset and action."""
    game, out = part.part.game, {}
    for player in (0, 1):
        first = game.treeplexes[player].first
        for infoset, label in enumerate(unpacked(game.labels[player].infosets)):
            row = strategies[player][first[infoset] : first[infoset + 1]].tolist()
            out[player, label] = dict(zip(game.actions_at(player, infoset), row, strict=True))
    return out


class Allowed:
    """Rules with fewer actions."""

    def __init__(self, rules: Any, kept: dict[Key, list[str]]) -> None:
        self.rules, self.kept = rules, kept
        self.root, self.mover, self.child = rules.root, rules.mover, rules.child
        self.infoset, self.payoff, self.probabilities = rules.infoset, rules.payoff, rules.probabilities

    def actions(self, history: Any) -> list[str]:
        mover = self.rules.mover(history)
        legal = list(self.rules.actions(history))
        return legal if mover == CHANCE else [a for a in legal if a in self.kept[mover, self.rules.infoset(history)]]


def kept_of(part: GrowingPart) -> dict[Key, list[str]]:
    """The actions of every infoset that may be chosen."""
    game, out = part.whole.game, {}
    for player in (0, 1):
        first = game.treeplexes[player].first
        for infoset, label in enumerate(unpacked(game.labels[player].infosets)):
            mask = part.masks[player][first[infoset] : first[infoset + 1]].tolist()
            out[player, label] = [a for a, on in zip(game.actions_at(player, infoset), mask, strict=True) if on]
    return out


def kept_everywhere(rules: Any) -> dict[Key, list[str]]:
    """Actions of every infoset that the rules reach."""
    out, stack = {}, [rules.root()]
    while stack:
        history = stack.pop()
        mover = rules.mover(history)
        if mover == TERMINAL:
            continue
        if mover >= 0:
            out[mover, rules.infoset(history)] = list(rules.actions(history))
        stack += [rules.child(history, a) for a in rules.actions(history)]
    return out
