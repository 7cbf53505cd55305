"""Sampling the rules themselves: for games too large to compile. What is never visited takes no memory.

Plain Python over the seven functions of ``Game``, so the rules set the pace: 5 to 20 microseconds per history, hundreds
of times what a kernel takes on a compiled game. An infoset that was visited is an entry in a dictionary, of about half
a kilobyte.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.errors import GameError
from treeplex.games.protocol import CHANCE, TERMINAL, Game, History, name_of
from treeplex.updates.reference import matched_numbers

DEEPEST = 100_000  # moves of a game
EPSILON = 0.6  # of outcome sampling: how much of a move is drawn evenly


class Entry:
    """What is known of an infoset."""

    __slots__ = ("actions", "average", "pick", "regret")

    def __init__(self, actions: tuple[str, ...], pick: int) -> None:
        self.actions = actions
        self.regret = [0.0] * len(actions)  # of values, where strategies are pure
        self.average = [0.0] * len(actions)
        self.pick = pick


Memory = tuple[dict[str, Entry], dict[str, Entry]]
"""Both players' visited infosets by label."""


class Estimate(NamedTuple):
    """A mean over games played, and its standard error."""

    mean: float
    error: float


class OnTheFly:
    """Walks over a game's rules; counts the histories it enters."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game, self.name, self.nodes = game, name_of(game), 0
        self._random = Random(seed)  # noqa: S311 - for sampling, not for secrets
        self._constant: float | None = None

    def copy(self) -> OnTheFly:
        """The same walker, with random numbers of its own from here on."""
        twin = OnTheFly(self.game, 0)
        twin.nodes, twin._constant = self.nodes, self._constant
        twin._random.setstate(self._random.getstate())
        return twin

    def random_state(self) -> npt.NDArray[np.uint32]:
        """Where the random numbers stand: that of the Mersenne twister."""
        return np.array(self._random.getstate()[1], dtype=np.uint32)

    def set_random_state(self, state: npt.NDArray[Any]) -> None:
        """The opposite of ``random_state``."""
        self._random.setstate((3, tuple(int(x) for x in state), None))

    def entry(self, memory: dict[str, Entry], history: History) -> Entry:
        """The infoset of a history, made at the first visit with a random action to play."""
        label = self.game.infoset(history)
        found = memory.get(label)
        if found is None:
            actions = tuple(self.game.actions(history))
            found = memory[label] = Entry(actions, self._random.randrange(len(actions)))
        return found

    def arrive(self, history: History) -> tuple[int, History]:
        """Through chance moves to where a player moves or the game ends: who moves, and the history."""
        self.nodes += 1
        while (mover := self.game.mover(history)) == CHANCE:
            history = self.game.child(history, self.chance(history))
            self.nodes += 1
        return mover, history

    def pure(self, memory: Memory, player: int, history: History, weight: float) -> float:
        """A walk of Pure MCCFR for ``player``: as ``reference.sampling.pure``."""
        game, (mover, history) = self.game, self.arrive(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        entry = self.entry(memory[mover], history)
        if mover != player:
            entry.average[entry.pick] += weight
            return self.pure(memory, player, game.child(history, entry.actions[entry.pick]), weight)
        values = [self.pure(memory, player, game.child(history, action), weight) for action in entry.actions]
        played = values[entry.pick]
        for k, value in enumerate(values):
            entry.regret[k] += weight * value
        best = max(entry.regret)
        ties = [k for k, q in enumerate(entry.regret) if q == best]
        entry.pick = ties[0] if len(ties) == 1 else self._random.choice(ties)
        return played

    def external(self, memory: Memory, player: int, history: History, weight: float) -> float:
        """A walk of external sampling for ``player``: as ``reference.sampling.external``."""
        game, (mover, history) = self.game, self.arrive(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        entry = self.entry(memory[mover], history)
        sigma = matched_numbers(entry.regret)
        if mover != player:
            for k, p in enumerate(sigma):
                entry.average[k] += weight * p
            move = self._random.choices(entry.actions, sigma)[0]
            return self.external(memory, player, game.child(history, move), weight)
        values = [self.external(memory, player, game.child(history, action), weight) for action in entry.actions]
        expected = sum(p * v for p, v in zip(sigma, values, strict=True))
        for k, value in enumerate(values):
            entry.regret[k] += weight * (value - expected)
        return expected

    def outcome(self, memory: Memory, player: int, history: History, weight: float, scale: float = 1.0) -> float:
        """A path of outcome sampling for ``player``: as ``reference.sampling.outcome``, without baselines."""
        game, (mover, history) = self.game, self.arrive(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        entry = self.entry(memory[mover], history)
        sigma, width = matched_numbers(entry.regret), len(entry.actions)
        if mover != player:
            for k, p in enumerate(sigma):
                entry.average[k] += weight * scale * p
            move = self._random.choices(range(width), sigma)[0]
            return self.outcome(memory, player, game.child(history, entry.actions[move]), weight, scale)
        odds = [EPSILON / width + (1.0 - EPSILON) * p for p in sigma]
        move = self._random.choices(range(width), odds)[0]
        child = game.child(history, entry.actions[move])
        value = self.outcome(memory, player, child, weight, scale / odds[move]) / odds[move]
        expected = sigma[move] * value
        for k in range(width):
            entry.regret[k] += weight * scale * ((value if k == move else 0.0) - expected)
        return expected

    def respond(self, memory: Memory, answer: dict[str, Entry], player: int, history: History) -> float:
        """As ``pure``, against the averages in ``memory``: ``answer`` learns a best response of ``player``."""
        game, (mover, history) = self.game, self.arrive(history)
        if mover == TERMINAL:
            return self.payoff(history, player)
        if mover != player:
            move = self.average_move(memory[mover], history)
            return self.respond(memory, answer, player, game.child(history, move))
        entry = self.entry(answer, history)
        values = [self.respond(memory, answer, player, game.child(history, action)) for action in entry.actions]
        played = values[entry.pick]
        for k, value in enumerate(values):
            entry.regret[k] += value
        entry.pick = entry.regret.index(max(entry.regret))
        return played

    def play(self, memory: Memory, answer: dict[str, Entry] | None, player: int) -> float:
        """One game, for the payoff of ``player``: by the averages, or with ``answer`` in place of the player's own."""
        game, history = self.game, self.game.root()
        while True:
            mover, history = self.arrive(history)
            if mover == TERMINAL:
                return self.payoff(history, player)
            if mover == player and answer is not None:
                known = answer.get(game.infoset(history))
                actions = game.actions(history)
                move = actions[known.pick] if known else self._random.choice(actions)
            else:
                move = self.average_move(memory[mover], history)
            history = game.child(history, move)

    def mean_payoff(self, memory: Memory, answer: dict[str, Entry] | None, player: int, games: int) -> Estimate:
        """What ``player`` earns over so many games."""
        payoffs = [self.play(memory, answer, player) for _ in range(games)]
        mean = sum(payoffs) / games
        spread = sum((payoff - mean) ** 2 for payoff in payoffs) / max(games - 1, 1)
        return Estimate(mean, (spread / games) ** 0.5)

    def average_move(self, memory: dict[str, Entry], history: History) -> str:
        """A move drawn from the average strategy; any where the infoset was never visited."""
        entry = memory.get(self.game.infoset(history))
        if entry is None or not any(entry.average):
            return self._random.choice(self.game.actions(history))
        return self._random.choices(entry.actions, entry.average)[0]

    def chance(self, history: History) -> str:
        """A chance move."""
        return self._random.choices(self.game.actions(history), self.game.probabilities(history))[0]

    def payoff(self, history: History, player: int) -> float:
        """Of ``player``; payoffs that do not add up to one constant are refused."""
        paid: Any = self.game.payoff(history)
        if isinstance(paid, int | float):
            return float(paid) if player == 0 else -float(paid)
        first, second = (float(part) for part in paid)
        if self._constant is None:
            self._constant = first + second
        if abs(first + second - self._constant) > 1e-9 * max(abs(first), abs(second), 1.0):
            raise GameError(
                f"{self.name} is not zero-sum: payoffs add up to {first + second:g} and {self._constant:g}."
            )
        return first if player == 0 else -first


@contextmanager
def deep_recursion() -> Generator[None]:
    """Room for walks over long games."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
