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
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.errors import NumbaError

from treeplex.algorithms.options import turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame, Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import SIMULTANEOUS, Learner
from treeplex.engines.sequence.cpu.operators import Side, earn
from treeplex.engines.sequence.learners import averages, newborns, scratch
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
class CustomCFR(Tabular[State]):
    """CFR whose infosets learn by a user's function. Made by ``minimizer``."""

    name: str
    memory: int
    weight: Schedule
    turns: int
    iterate: Callable[..., None]

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """Uniform strategies, memory all zero."""
        first, second = (np.zeros((self.memory, treeplex.sequences)) for treeplex in game.treeplexes)
        return State(newborns(game), (first, second), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        learners, memory, _ = state
        try:
            self.iterate(game.treeplexes, game.operator, learners, memory, scratch(game), t, self.weight(t), self.turns)
        except NumbaError as error:
            reason = " ".join(str(error).split())
            raise ParameterError(f"The rule '{self.name}' is not one that Numba can compile: {reason[:300]}") from error
        return State(learners, memory, last)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return averages(game, state.learners)

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return state.learners[0].behaviour.copy(), state.learners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """As for full-width CFR."""
        return (1 if self.turns == SIMULTANEOUS else 2) * state.iteration * game.nodes


def minimizer(
    *, memory: int = 1, weight: Schedule | None = None, turns: str = "alternating"
) -> Callable[[Update], CustomCFR]:
    """Turn an update rule into an algorithm for ``solve``.

    The rule is called for every infoset, bottom-up, as ``rule(t, values, strategy, memory)``: the iteration, the
    counterfactual values of the actions, the strategy just played, to be overwritten by the next, and ``memory`` rows
    of numbers an action that are zero at first and kept between iterations. It is compiled by Numba, so write loops;
    it is compiled anew in every process, which takes a few seconds. ``weight``: the averaging, linear if left out.
    """
    rows, order = non_negative("memory", memory), turn_order(turns)

    def decorate(rule: Update) -> CustomCFR:
        name = getattr(rule, "__name__", "custom")
        return CustomCFR(name, rows, weight or linear(), order, _engine(numba.njit(rule)))

    return decorate


def _engine(rule: Any) -> Callable[..., None]:
    """The iteration loop around a compiled rule; the same walk as ``kernels.cpu.cfr``."""

    @numba.njit(nogil=True)
    def learn(treeplex: Treeplex, learner: Learner, memory: Floats, values: Floats, t: float, weight: float) -> None:
        first, parent = treeplex
        _, average, behaviour, weights = learner
        for infoset in range(len(parent) - 1, -1, -1):
            start, end = first[infoset], first[infoset + 1]
            expected = 0.0
            for s in range(start, end):
                expected += behaviour[s] * values[s]
            values[parent[infoset]] += expected
            rule(t, values[start:end], behaviour[start:end], memory[:, start:end])
        average[0] += weight
        for infoset in range(len(parent)):
            above = weights[parent[infoset]]
            for s in range(first[infoset], first[infoset + 1]):
                average[s] += weight * weights[s]
                weights[s] = above * behaviour[s]

    @numba.njit(nogil=True)
    def half(
        treeplex: Treeplex,
        side: Side,
        sign: float,
        opponent: Floats,
        learner: Learner,
        memory: Floats,
        values: Floats,
        t: float,
        weight: float,
    ) -> None:
        earn(side, sign, opponent, values)
        learn(treeplex, learner, memory, values, t, weight)

    @numba.njit(nogil=True)
    def iterate(
        treeplexes: tuple[Treeplex, Treeplex],
        operator: Operator,
        learners: tuple[Learner, Learner],
        memory: tuple[Floats, Floats],
        values: tuple[Floats, Floats],
        iterations: Floats,
        averaging: Floats,
        turns: int,
    ) -> None:
        old = learners[0].weights.copy()
        for i in range(len(iterations)):
            t, weight = iterations[i], averaging[i]
            if turns == SIMULTANEOUS:
                old[:] = learners[0].weights
            half(treeplexes[0], operator.rows, 1.0, learners[1].weights, learners[0], memory[0], values[0], t, weight)
            against = old if turns == SIMULTANEOUS else learners[0].weights
            half(treeplexes[1], operator.columns, -1.0, against, learners[1], memory[1], values[1], t, weight)

    return iterate
