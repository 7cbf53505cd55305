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
from typing import Any, NamedTuple, cast

import numba
import numpy as np
from numba.core.errors import NumbaError

from treeplex.algorithms.full_width import FullWidth
from treeplex.algorithms.options import turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import Learner, OwnRule
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import initial_learners, sequence_form, steps
from treeplex.errors import ParameterError, non_negative
from treeplex.updates.schedules import Schedule, linear

Update = Callable[[float, Floats, Floats, Floats], None]
"""(iteration, values [A], strategy [A], memory [rows, A]): changes ``strategy`` and ``memory`` in place."""


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
            _iterate(sequence_form(game), learners, rules, now, self.turns)
        except NumbaError as error:
            reason = " ".join(str(error).split())
            raise ParameterError(f"The rule '{self.name}' is not one that Numba can compile: {reason[:300]}") from error
        return State(learners, memory, done + iterations)


def minimizer(
    *, memory: int = 1, weight: Schedule | None = None, turns: str = "alternating"
) -> Callable[[Update], CustomCFR]:
    """Turn an update rule into an algorithm for ``solve``.

    The rule is called for every infoset, bottom-up, as ``rule(t, values, strategy, memory)``: the iteration, the
    counterfactual values of the actions, the strategy just played, to be overwritten by the next, and ``memory`` rows
    of numbers per action that are zero at first and kept between iterations. It is compiled by Numba, so write loops;
    it is compiled anew in every process, which takes a few seconds. ``weight``: the averaging, linear if left out.
    """
    rows, order = non_negative("memory", memory), turn_order(turns)

    def decorate(rule: Update) -> CustomCFR:
        name = getattr(rule, "__name__", "custom")
        return CustomCFR(name, rows, weight or linear(), order, numba.njit(rule))

    return decorate


_iterate: Any = numba.njit(nogil=True)(cast(Any, iterate).py_func)
"""The frame of all full-width algorithms, not kept on disk: what is compiled around a user's function cannot be."""
