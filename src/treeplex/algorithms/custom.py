"""CFR with a user's own update rule, at kernel speed.

>>> @minimizer(memory=1)
... def softmax(t, values, strategy, memory):
...     total = 0.0
...     for a in range(len(values)):
...         memory[0, a] += values[a]
...     best = memory[0].max()
...     for a in range(len(values)):
...         strategy[a] = np.exp((memory[0, a] - best) / np.sqrt(t))
...         total += strategy[a]
...     for a in range(len(values)):
...         strategy[a] /= total
>>> softmax.name
'softmax'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast, overload

import numba
import numpy as np
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from treeplex.algorithms.full_width import FullWidth
from treeplex.algorithms.options import turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies
from treeplex.arrays import Floats
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import Learner, OwnRule
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import initial_learners, sequence_form, steps
from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.updates.schedules import Schedule, linear

Update = Callable[[float, Floats, Floats, Floats], None]
"""(iteration, values [A], strategy [A], memory [rows, A]): changes ``strategy`` and ``memory`` in place."""


UNCOMPILED: Final = (NumbaError, UnsupportedBytecodeError)

TOLERANCE: Final = 1e-6  # how far from one the probabilities of an infoset may add up


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[Learner, Learner]
    memory: tuple[Floats, Floats]
    iteration: int


@dataclass(frozen=True)
class CustomCFR(FullWidth[State]):
    """CFR whose infosets learn by a user's function. Made by ``minimizer``."""

    name: str
    memory: int
    weight: Schedule
    turns: int
    update: Update

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """Uniform strategies, memory all zero."""
        first, second = (np.zeros((self.memory, treeplex.sequences)) for treeplex in game.treeplexes)
        return State(initial_learners(game), (first, second), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        learners, memory, done = state
        rules = OwnRule(self.update, memory[0]), OwnRule(self.update, memory[1])
        now = steps(done, iterations, self.weight)
        try:
            _iterate(sequence_form(game), learners, rules, now, self.turns, None)
        except UNCOMPILED as error:
            cause = _cause(self.update, error)
            raise ParameterError(f"The rule '{self.name}' is not one that Numba can compile: {cause}.") from error
        return State(learners, memory, done + iterations)

    def strategies(self, game: CompiledGame, state: State, iterate: str) -> Strategies:
        """As ``Algorithm``; refuses a rule that has left anything but probabilities."""
        found = super().strategies(game, state, iterate)
        for player, (treeplex, learner) in enumerate(zip(game.treeplexes, state.learners, strict=True)):
            if treeplex.infosets:
                totals = np.add.reduceat(learner.strategy, treeplex.first[:-1])
                lowest = np.minimum.reduceat(learner.strategy, treeplex.first[:-1])
                wrong = np.flatnonzero((np.abs(totals - 1.0) > TOLERANCE) | (lowest < -TOLERANCE))
                if len(wrong):
                    label = unpacked(game.labels[player].infosets[int(wrong[0]) : int(wrong[0]) + 1])[0]
                    raise ParameterError(
                        f"The rule '{self.name}' must leave probabilities that add up to 1 in 'strategy': at infoset"
                        f" {quoted(label)} of player {player} they add up to {totals[wrong[0]]:g}, the lowest is"
                        f" {lowest[wrong[0]]:g}, after iteration {state.iteration:,}."
                    )
        return found


@overload
def minimizer(rule: Update, /) -> CustomCFR: ...
@overload
def minimizer(
    *, memory: int = 1, weight: Schedule | None = None, turns: str = "alternating"
) -> Callable[[Update], CustomCFR]: ...
def minimizer(
    rule: Update | None = None,
    /,
    *,
    memory: int = 1,
    weight: Schedule | None = None,
    turns: str = "alternating",
) -> CustomCFR | Callable[[Update], CustomCFR]:
    """Turn an update rule into an algorithm for ``solve``: ``@minimizer``, or with options ``@minimizer(memory=2)``.

    The rule is called for every infoset, bottom-up, as ``rule(t, values, strategy, memory)``: the iteration, the
    counterfactual values of the actions, the strategy just played, to be overwritten by the next, and ``memory`` rows
    of numbers per action that are zero at first and kept between iterations. It is compiled by Numba, so write loops;
    it is compiled anew in every process, which takes a few seconds. ``weight``: the averaging, linear if left out.
    """
    rows, order = non_negative("memory", memory), turn_order(turns)

    def decorate(rule: Update) -> CustomCFR:
        if not callable(rule):
            raise ParameterError(f"A rule must be a function (t, values, strategy, memory), got {quoted(rule)}.")
        name = getattr(rule, "__name__", "custom")
        return CustomCFR(name, rows, weight or linear(), order, numba.njit(rule))

    return decorate if rule is None else decorate(rule)


def _cause(rule: Any, error: Exception) -> str:
    """What Numba says is wrong with the rule alone, without the stages of compilation it went through."""
    row = numba.float64[::1]
    try:
        rule.compile((numba.float64, row, row, numba.float64[:, :]))
    except (*UNCOMPILED, TypeError) as own:
        error = own
    noise = ("Failed in", "During:", "File ", "This error may", "Enable logging", "- Resolution", "@", "def ")
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(noise)]
    shown = " ".join(told[:2])
    return (shown if len(shown) <= 160 else f"{shown[:159]}…").rstrip(".") or type(error).__name__


_iterate: Any = numba.njit(nogil=True)(cast(Any, iterate).py_func)
"""The frame of all full-width algorithms, not kept on disk: what is compiled around a user's function cannot be."""
