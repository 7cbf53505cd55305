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

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast, overload

import numba
import numpy as np
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from treeplex.algorithms.full_width import FullWidth
from treeplex.algorithms.options import averaging_of, turn_order
from treeplex.algorithms.protocol import Report, Stop, never
from treeplex.algorithms.trial import TOLERANCE, try_rule
from treeplex.arrays import Floats
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import Learner, OwnRule
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import initial_learners, sequence_form, steps
from treeplex.errors import ParameterError, brief, non_negative, quoted
from treeplex.updates.schedules import Schedule, linear

Update = Callable[[float, Floats, Floats, Floats], None]
"""(iteration, values [A], strategy [A], memory [rows, A]): changes ``strategy`` and ``memory`` in place."""


UNCOMPILED: Final = (NumbaError, UnsupportedBytecodeError)


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
        """Uniform strategies, memory all zero. The rule is tried first, as plain Python."""
        try_rule(self.name, cast(Any, self.update).py_func, self.memory, game)
        first, second = (np.zeros((self.memory, treeplex.sequences)) for treeplex in game.treeplexes)
        return State(initial_learners(game), (first, second), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        learners, memory, done = state
        rules = OwnRule(self.update, memory[0]), OwnRule(self.update, memory[1])
        form, now = sequence_form(game), steps(done, iterations, self.weight)
        during = f"in iterations {done + 1:,} to {done + iterations:,}"
        try:
            _iterate(form, learners, rules, now, self.turns, None)
        except UNCOMPILED as error:
            cause = _cause(self.update, error)
            raise ParameterError(f"The rule '{self.name}' is not one that Numba can compile: {cause}.") from error
        except IndexError as error:
            raise ParameterError(
                f"The rule '{self.name}' uses an index that is out of bounds {during}: 'values', 'strategy' and each"
                f" row of 'memory' have one number per action, and memory={self.memory}."
            ) from error
        except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            cause = f"{type(error).__name__}: {brief(str(error))}"
            raise ParameterError(f"The rule '{self.name}' fails {during}: {cause}.") from error
        return State(learners, memory, done + iterations)

    def report(self, game: CompiledGame, state: State, iterate: str) -> Report:
        """As ``Algorithm``; rejects a rule that has left anything but probabilities."""
        report = super().report(game, state, iterate)
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
        return report


@overload
def minimizer(rule: Update, /) -> CustomCFR: ...
@overload
def minimizer(
    *, memory: int = 1, weight: Schedule | str | None = None, turns: str = "alternating", checked: bool = True
) -> Callable[[Update], CustomCFR]: ...
def minimizer(
    rule: Update | None = None,
    /,
    *,
    memory: int = 1,
    weight: Schedule | str | None = None,
    turns: str = "alternating",
    checked: bool = True,
) -> CustomCFR | Callable[[Update], CustomCFR]:
    """Turn an update rule into an algorithm for ``solve``: ``@minimizer``, or with options ``@minimizer(memory=2)``.

    The rule is called for every infoset, bottom-up, as ``rule(t, values, strategy, memory)``: the iteration, the
    counterfactual values of the actions, the strategy just played, to be overwritten by the next, and ``memory`` rows
    of numbers per action that are zero at first and kept between iterations. It is compiled by Numba, so write loops;
    it is compiled anew in every process, which takes a few seconds. ``weight``: the averaging, linear if left out.
    ``checked``: False compiles the rule without checks of its indices. It is up to twice as fast then, and an index
    that is out of bounds corrupts memory.
    """
    rows, order = non_negative("memory", memory), turn_order(turns)
    schedule = linear() if weight is None else averaging_of(weight)

    def decorate(rule: Update) -> CustomCFR:
        plain: Any = getattr(rule, "py_func", rule)
        if not inspect.isfunction(plain) or not _takes_four(plain):
            raise ParameterError(f"A rule must be a function (t, values, strategy, memory), got {quoted(rule)}.")
        return CustomCFR(plain.__name__, rows, schedule, order, numba.njit(plain, boundscheck=checked))

    return decorate if rule is None else decorate(rule)


def _takes_four(rule: Callable[..., Any]) -> bool:
    try:
        inspect.signature(rule).bind(*range(4))
    except TypeError:
        return False
    return True


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
