"""CFR with Hedge in every infoset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms.options import turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.cpu.spans import payoff_spans
from treeplex.engines.sequence.arrays import SIMULTANEOUS, THEORY, VARIANCE, HedgeLearner
from treeplex.engines.sequence.cpu.hedge import hedge_iterations
from treeplex.engines.sequence.learners import behaviours, newborns, scratch
from treeplex.errors import ParameterError
from treeplex.updates.schedules import Schedule, uniform
from treeplex.updates.thresholds import hedge_threshold

RATES: Final = {"variance": VARIANCE, "theory": THEORY}


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[HedgeLearner, HedgeLearner]
    iteration: int


@dataclass(frozen=True)
class HedgeCFR(Tabular[State]):
    """CFR with Hedge (Brown, Kroer & Sandholm 2017); ``d`` above zero: with dynamic thresholding."""

    rate: int
    weight: Schedule
    turns: int
    d: float = 0.0

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies."""
        first, second = (
            HedgeLearner(*learner, np.zeros(treeplex.infosets), np.zeros(treeplex.infosets))
            for learner, treeplex in zip(newborns(game), game.treeplexes, strict=True)
        )
        return State((first, second), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        weight = self.weight(np.arange(state.iteration + 1, last + 1, dtype=np.float64))
        hedge_iterations(
            game.treeplexes,
            game.operator,
            state.learners,
            scratch(game),
            freedoms(game),
            spans(game, self.rate),
            limits(game, self.d),
            self.rate,
            state.iteration,
            weight,
            self.turns,
        )
        return State(state.learners, last)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return behaviours(game, (state.learners[0].average, state.learners[1].average))

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return state.learners[0].behaviour.copy(), state.learners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """As for full-width CFR."""
        return (1 if self.turns == SIMULTANEOUS else 2) * state.iteration * game.nodes


def hedge(rate: str = "variance", turns: str = "alternating") -> HedgeCFR:
    """CFR with Hedge, uniform average (Brown, Kroer & Sandholm 2017, equation 8)."""
    return HedgeCFR(hedge_kind(rate), uniform(), turn_order(turns))


def hedge_kind(name: object) -> int:
    """The number of a way to choose Hedge's rate."""
    if not isinstance(name, str) or name not in RATES:
        raise ParameterError(f"The 'rate' parameter must be one of {', '.join(RATES)}, got {name!r}.")
    return RATES[name]


def freedoms(game: CompiledGame) -> tuple[Floats, Floats]:
    """[I] ln |A| of both players' infosets."""
    return np.log(game.treeplexes[0].actions), np.log(game.treeplexes[1].actions)


def limits(game: CompiledGame, d: float) -> tuple[Floats, Floats]:
    """[I] Hedge's thresholds of both players' infosets, but for the factor 1 / sqrt(t)."""
    return hedge_threshold(game.treeplexes[0].actions, d), hedge_threshold(game.treeplexes[1].actions, d)


_SPANS: WeakKeyDictionary[CompiledGame, tuple[Floats, Floats]] = WeakKeyDictionary()


def spans(game: CompiledGame, rate: int) -> tuple[Floats, Floats]:
    """[I] Delta(I) of both players' infosets; for the rate by variance, which hardly needs it, the range of all.

    For the rate by theory it is taken from the history tree, which may be too large for memory.
    """
    first, second = (treeplex.infosets for treeplex in game.treeplexes)
    widest = 2.0 * game.largest_payoff or 1.0
    if rate != THEORY:
        return np.full(first, widest), np.full(second, widest)
    if game not in _SPANS:
        own = np.empty(first), np.empty(second)
        payoff_spans(game.tree, *own)
        _SPANS[game] = np.where(own[0] > 0.0, own[0], widest), np.where(own[1] > 0.0, own[1], widest)
    return _SPANS[game]
