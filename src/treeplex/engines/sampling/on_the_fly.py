"""Sampling the rules themselves: for games too large to compile. What is never visited takes no memory.

Plain Python over the seven functions of ``Game``, so the rules set the pace: 5 to 20 microseconds per history, hundreds
of times what a kernel takes on a compiled game. An infoset that was visited is an entry in a dictionary, of about half
a kilobyte.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.compile.endless import Watch
from treeplex.errors import FormatError, GameError, quoted
from treeplex.games.protocol import CHANCE, TERMINAL, Game, History, name_of
from treeplex.games.returned import (
    annotate,
    checked_actions,
    checked_label,
    checked_mover,
    checked_payoffs,
    checked_probabilities,
)
from treeplex.updates.reference import matched_numbers

DEEPEST = 100_000  # moves of a game
LOOK_EVERY = 1 << 10  # histories between two looks at the length of a line of play
TOLERANCE = 1e-9  # of probabilities
EPSILON = 0.6  # of outcome sampling: how much of a move is drawn evenly
HUGE = 1e100  # payoffs whose squares might overflow


MOVERS = (0, 1, TERMINAL)
PLAIN = (tuple, list)


class InfosetRecord:
    """What is known of an infoset."""

    __slots__ = ("actions", "average", "known", "pick", "regret")

    def __init__(self, actions: tuple[str, ...], pick: int, known: bool = True) -> None:
        self.actions = actions
        self.known = known  # are these the actions of the rules? what comes from a file is compared when first visited
        self.regret = [0.0] * len(actions)  # of values, where strategies are pure
        self.average = [0.0] * len(actions)
        self.pick = pick


Memory = tuple[dict[str, InfosetRecord], dict[str, InfosetRecord]]
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
        self.watch = Watch(self.name)

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

    def first_choices(self) -> tuple[int, tuple[str, ...]]:
        """Who moves first, and what can be done."""
        with deep_recursion():
            history = self.game.root()
            mover = checked_mover(self.name, self.game.mover(history), lambda: f"history {quoted(history)}")
            return mover, checked_actions(self.name, self.game.actions(history), lambda: f"history {quoted(history)}")

    def entry(self, memory: dict[str, InfosetRecord], history: History) -> InfosetRecord:
        """The infoset of a history, made at the first visit with a random action to play."""
        label = self.label(history)
        found = memory.get(label)
        if found is None:
            checked_label(self.name, label, lambda: f"history {quoted(history)}")
            actions = self.actions(history)
            if len(set(actions)) != len(actions):
                place = f"history {quoted(history)}"
                raise GameError(f"{self.name} repeats an action label at {place}; labels must differ.")
            found = memory[label] = InfosetRecord(actions, self._random.randrange(len(actions)))
        return found if found.known else self._compared(found, history)

    def _compared(self, entry: InfosetRecord, history: History) -> InfosetRecord:
        """An infoset from a file, whose actions must be those of the rules."""
        if entry.actions != self.actions(history):
            raise FormatError(
                f"the actions at history {quoted(history)} are not those of the rules.", path="checkpoint"
            )
        entry.known = True
        return entry

    def arrive(self, history: History) -> tuple[int, History]:
        """Through chance moves to where a player moves or the game ends: who moves, and the history."""
        chances = 0
        while True:
            self.nodes += 1
            if self.nodes % LOOK_EVERY == 0:
                self._look(history, chances)
            mover = self.game.mover(history)
            if type(mover) is not int:
                mover = checked_mover(self.name, mover, lambda at=history: f"history {quoted(at)}")
            if mover == CHANCE:
                history = self.game.child(history, self.chance(history))
                chances += 1
            elif mover in MOVERS:
                return mover, history
            else:
                raise GameError(
                    f"{self.name} says mover {quoted(mover)} at history {quoted(history)}; treeplex solves games of two"
                    " players: 0, 1, CHANCE or TERMINAL."
                )

    def label(self, history: History) -> str:
        """The mover's infoset."""
        label = self.game.infoset(history)
        return label if type(label) is str else checked_label(self.name, label, lambda: f"history {quoted(history)}")

    def actions(self, history: History) -> tuple[str, ...]:
        """What can happen next: at least one thing."""
        actions = checked_actions(self.name, self.game.actions(history), lambda: f"history {quoted(history)}")
        if not actions:
            raise GameError(
                f"{self.name} has no action at history {quoted(history)}, which is not terminal; return TERMINAL from"
                " mover there."
            )
        return actions

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

    def respond(self, memory: Memory, answer: dict[str, InfosetRecord], player: int, history: History) -> float:
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

    def play(self, memory: Memory, answer: dict[str, InfosetRecord] | None, player: int) -> float:
        """One game, for the payoff of ``player``: by the averages, or with ``answer`` in place of the player's own."""
        game, history = self.game, self.game.root()
        for moves in count():
            if moves % LOOK_EVERY == LOOK_EVERY - 1:
                self.watch.check_line(moves, history, DEEPEST // 2)
            mover, history = self.arrive(history)
            if mover == TERMINAL:
                return self.payoff(history, player)
            if mover == player and answer is not None:
                known = answer.get(self.label(history))
                move = known.actions[known.pick] if known else self._random.choice(self.actions(history))
            else:
                move = self.average_move(memory[mover], history)
            history = game.child(history, move)
        raise AssertionError  # never: the line above goes on until the game ends

    def mean_payoff(self, memory: Memory, answer: dict[str, InfosetRecord] | None, player: int, games: int) -> Estimate:
        """What ``player`` earns over so many games."""
        payoffs = [self.play(memory, answer, player) for _ in range(games)]
        mean = sum(payoffs) / games
        widest = max(map(abs, payoffs))
        unit = widest if widest > HUGE else 1.0  # whose square is no number any more
        spread = sum(((payoff - mean) / unit) ** 2 for payoff in payoffs) / max(games - 1, 1)
        return Estimate(mean, unit * (spread / games) ** 0.5)

    def average_move(self, memory: dict[str, InfosetRecord], history: History) -> str:
        """A move drawn from the average strategy; any where the infoset was never visited."""
        entry = memory.get(self.label(history))
        if entry is None or not any(entry.average):
            return self._random.choice(self.actions(history))
        if not entry.known:
            self._compared(entry, history)
        return self._random.choices(entry.actions, entry.average)[0]

    def chance(self, history: History) -> str:
        """A chance move."""
        actions, odds = self.game.actions(history), self.game.probabilities(history)
        if not (type(actions) in PLAIN and type(odds) in PLAIN and _is_distribution(odds, len(actions))):
            actions = self.actions(history)
            odds = checked_probabilities(self.name, odds, lambda: f"history {quoted(history)}")
            if not _is_distribution(odds, len(actions)):
                raise GameError(
                    f"{self.name} has chance probabilities at history {quoted(history)} that are not a distribution"
                    f" over its {len(actions)} actions: {quoted(odds)}."
                )
        move = self._random.choices(actions, odds)[0]
        if type(move) is not str:
            self.actions(history)  # refuses what is no text; OpenSpiel's labels are a kind of it
        return move

    def payoff(self, history: History, player: int) -> float:
        """Of ``player``; payoffs that do not add up to one constant are refused."""
        paid: Any = self.game.payoff(history)
        if type(paid) is float and paid - paid == 0.0:  # finite
            return paid if player == 0 else -paid
        first, second = checked_payoffs(self.name, paid, lambda: f"history {quoted(history)}")
        if not math.isfinite(first + second):
            raise GameError(f"{self.name} has a payoff that is not a finite number: {quoted(paid)}.")
        if self._constant is None:
            self._constant = first + second
        if abs(first + second - self._constant) > 1e-9 * max(abs(first), abs(second), 1.0):
            raise GameError(
                f"{self.name} is not zero-sum: payoffs add up to {first + second:g} and {self._constant:g}."
            )
        return first if player == 0 else -first

    def _look(self, history: History, chances: int) -> None:
        """Refuse a line of play without end before it takes all memory; ``chances``: moves of chance in a row."""
        moves, frame = chances, sys._getframe()  # pyright: ignore[reportPrivateUsage]
        while (frame := frame.f_back) is not None:
            moves += frame.f_code.co_name != "<listcomp>"
        self.watch.check_line(moves, history, DEEPEST // 2)


@contextmanager
def deep_recursion() -> Generator[None]:
    """Room for walks over long games."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    except Exception as error:
        annotate(error, (__name__,), lambda local: f"history {quoted(local['history'])}")
        raise
    finally:
        sys.setrecursionlimit(before)


def _is_distribution(odds: Sequence[float], count: int) -> bool:
    try:
        return len(odds) == count and abs(math.fsum(odds) - 1.0) <= TOLERANCE and min(odds) >= 0.0
    except (TypeError, ValueError, OverflowError):
        return False
