"""Sampling the rules themselves, for games too large to compile. Infosets that are never visited take no memory.

This is plain Python over the seven functions of ``Game``, so the speed depends on the rules: 5 to 20 microseconds per
history, hundreds of times the cost of a kernel on a compiled game. A visited infoset is an entry in a dictionary, of
about half a kilobyte.
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

DEEPEST = 100_000  # largest number of moves of a game
CHECK_EVERY = 1 << 10  # histories between two checks of the length of a line of play
TOLERANCE = 1e-9  # of the sum of probabilities
EPSILON = 0.6  # weight of the uniform distribution in outcome sampling
HUGE = 1e100  # payoffs above this might overflow when squared


MOVERS = (0, 1, TERMINAL)
PLAIN = (tuple, list)


class InfosetRecord:
    """Actions, regrets, averages and the pure strategy of an infoset."""

    __slots__ = ("actions", "average", "known", "pick", "regret")

    def __init__(self, actions: tuple[str, ...], pick: int, known: bool = True) -> None:
        self.actions = actions
        self.known = known  # whether these are the rules' actions; those from a file are compared at the first visit
        self.regret = [0.0] * len(actions)  # sums of values if strategies are pure
        self.average = [0.0] * len(actions)
        self.pick = pick


Memory = tuple[dict[str, InfosetRecord], dict[str, InfosetRecord]]
"""Both players' visited infosets by label."""


class Estimate(NamedTuple):
    """A mean over games played, and its standard error."""

    mean: float
    error: float


class OnTheFly:
    """Walks over the rules of a game, which count the histories they enter."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game, self.name, self.nodes = game, name_of(game), 0
        self._random = Random(seed)  # noqa: S311 - for sampling, not for secrets
        self._constant: float | None = None
        self.watch = Watch(self.name)

    def copy(self) -> OnTheFly:
        """Return a copy of the walker, with its own random numbers from here on."""
        twin = OnTheFly(self.game, 0)
        twin.nodes, twin._constant = self.nodes, self._constant
        twin._random.setstate(self._random.getstate())
        return twin

    def random_state(self) -> npt.NDArray[np.uint32]:
        """Return the state of the random numbers, a Mersenne twister."""
        return np.array(self._random.getstate()[1], dtype=np.uint32)

    def set_random_state(self, state: npt.NDArray[Any]) -> None:
        """Restore a state of the random numbers from ``random_state``."""
        self._random.setstate((3, tuple(int(x) for x in state), None))

    def first_choices(self) -> tuple[int, tuple[str, ...]]:
        """Return who moves first, and the first actions."""
        with deep_recursion():
            history = self.game.root()
            mover = checked_mover(self.name, self.game.mover(history), lambda: f"history {quoted(history)}")
            return mover, checked_actions(self.name, self.game.actions(history), lambda: f"history {quoted(history)}")

    def entry(self, memory: dict[str, InfosetRecord], history: History) -> InfosetRecord:
        """Return the infoset of a history, which is created at the first visit with a random pure action."""
        label = self.label(history)
        entry = memory.get(label)
        if entry is None:
            checked_label(self.name, label, lambda: f"history {quoted(history)}")
            actions = self.actions(history)
            if len(set(actions)) != len(actions):
                location = f"history {quoted(history)}"
                raise GameError(f"{self.name} repeats an action label at {location}; labels must differ.")
            entry = memory[label] = InfosetRecord(actions, self._random.randrange(len(actions)))
        return entry if entry.known else self._compared(entry, history)

    def _compared(self, entry: InfosetRecord, history: History) -> InfosetRecord:
        """Check that the actions of an infoset from a file are those of the rules, and return the infoset."""
        if entry.actions != self.actions(history):
            raise FormatError(
                f"the actions at history {quoted(history)} are not those of the rules.", path="checkpoint"
            )
        entry.known = True
        return entry

    def arrive(self, history: History) -> tuple[int, History]:
        """Sample chance moves until a player moves or the game ends; return the mover and the history."""
        chances = 0
        while True:
            self.nodes += 1
            if self.nodes % CHECK_EVERY == 0:
                self._check_length(history, chances)
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
        """Return the label of the mover's infoset."""
        label = self.game.infoset(history)
        return label if type(label) is str else checked_label(self.name, label, lambda: f"history {quoted(history)}")

    def actions(self, history: History) -> tuple[str, ...]:
        """Return the actions at a history: at least one."""
        actions = checked_actions(self.name, self.game.actions(history), lambda: f"history {quoted(history)}")
        if not actions:
            raise GameError(
                f"{self.name} has no action at history {quoted(history)}, which is not terminal; return TERMINAL from"
                " mover there."
            )
        return actions

    def pure(self, memory: Memory, player: int, history: History, weight: float) -> float:
        """Run a walk of Pure MCCFR for ``player``, as ``reference.sampling.pure``."""
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
        """Run a walk of external sampling for ``player``, as ``reference.sampling.external``."""
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
        """Run a path of outcome sampling for ``player``, as ``reference.sampling.outcome`` without baselines."""
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
        """Run a walk as ``pure``, against averages in ``memory``: ``answer`` learns a best response of ``player``."""
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
        """Play one game by the averages, or by ``answer`` for ``player``; return the payoff of ``player``."""
        game, history = self.game, self.game.root()
        for moves in count():
            if moves % CHECK_EVERY == CHECK_EVERY - 1:
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
        raise AssertionError  # unreachable: the loop continues until the game ends

    def mean_payoff(self, memory: Memory, answer: dict[str, InfosetRecord] | None, player: int, games: int) -> Estimate:
        """Return the mean payoff of ``player`` over ``games`` games."""
        payoffs = [self.play(memory, answer, player) for _ in range(games)]
        mean = sum(payoffs) / games
        widest = max(map(abs, payoffs))
        unit = widest if widest > HUGE else 1.0  # its square would overflow
        spread = sum(((payoff - mean) / unit) ** 2 for payoff in payoffs) / max(games - 1, 1)
        return Estimate(mean, unit * (spread / games) ** 0.5)

    def average_move(self, memory: dict[str, InfosetRecord], history: History) -> str:
        """Return a move drawn from the average strategy, or a uniform one at infosets that were never visited."""
        entry = memory.get(self.label(history))
        if entry is None or not any(entry.average):
            return self._random.choice(self.actions(history))
        if not entry.known:
            self._compared(entry, history)
        return self._random.choices(entry.actions, entry.average)[0]

    def chance(self, history: History) -> str:
        """Return a random chance move at a history."""
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
            self.actions(history)  # raises if a label is not text; OpenSpiel's labels are a subclass of it
        return move

    def payoff(self, history: History, player: int) -> float:
        """Return the payoff of ``player``; raise GameError if payoffs do not sum to one constant."""
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

    def _check_length(self, history: History, chances: int) -> None:
        """Raise an error for an endless line of play before it takes all memory.

        ``chances`` is the number of consecutive chance moves.
        """
        moves, frame = chances, sys._getframe()  # pyright: ignore[reportPrivateUsage]
        while (frame := frame.f_back) is not None:
            moves += frame.f_code.co_name != "<listcomp>"
        self.watch.check_line(moves, history, DEEPEST // 2)


@contextmanager
def deep_recursion() -> Generator[None]:
    """Raise the recursion limit for walks over long games."""
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
