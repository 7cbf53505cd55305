"""CFR with Hedge in every infoset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms.full_width import FullWidth, LearnerState, iterate_in
from treeplex.algorithms.options import named, turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.paths import counterfactual_ranges
from treeplex.engines.sequence.arrays import HedgeLearner, HedgeRule
from treeplex.engines.sequence.learners import initial_learners, steps
from treeplex.updates.hedge import THEORY, VARIANCE
from treeplex.updates.schedules import Schedule, uniform
from treeplex.updates.thresholds import hedge_threshold

RATES: Final = {"variance": VARIANCE, "theory": THEORY}


@dataclass(frozen=True)
class HedgeCFR(FullWidth[LearnerState]):
    """CFR with Hedge (Brown, Kroer & Sandholm 2017); ``d`` above zero: with dynamic thresholding."""

    rate: int
    weight: Schedule
    turns: int
    d: float = 0.0

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """No regret yet, uniform strategies."""
        first, second = (
            HedgeLearner(*learner, np.zeros(treeplex.infosets), np.zeros(treeplex.infosets))
            for learner, treeplex in zip(initial_learners(game), game.treeplexes, strict=True)
        )
        return LearnerState((first, second), 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        parts = zip(log_actions(game), payoff_ranges(game, self.rate), limits(game, self.d), strict=True)
        first, second = (HedgeRule(*part, self.rate) for part in parts)
        now = steps(state.iteration, iterations, self.weight)
        iterate_in(game, state.learners, (first, second), now, self.turns)
        return LearnerState(state.learners, state.iteration + iterations)


def hedge(rate: str = "variance", turns: str = "alternating") -> HedgeCFR:
    """CFR with Hedge, uniform average (Brown, Kroer & Sandholm 2017, equation 8)."""
    return HedgeCFR(hedge_rate(rate), uniform(), turn_order(turns))


def hedge_rate(name: object) -> int:
    """The number of a step-size rule."""
    return named("rate", name, RATES)


def log_actions(game: CompiledGame) -> tuple[Floats, Floats]:
    """[I] ln |A| of both players' infosets."""
    return np.log(game.treeplexes[0].actions), np.log(game.treeplexes[1].actions)


def limits(game: CompiledGame, d: float) -> tuple[Floats, Floats]:
    """[I] Hedge's thresholds of both players' infosets, but for the factor 1 / sqrt(t)."""
    return hedge_threshold(game.treeplexes[0].actions, d), hedge_threshold(game.treeplexes[1].actions, d)


_RANGES: WeakKeyDictionary[CompiledGame, tuple[Floats, Floats]] = WeakKeyDictionary()


def payoff_ranges(game: CompiledGame, rate: int) -> tuple[Floats, Floats]:
    """[I] Delta(I) of both players' infosets; for the rate by variance, which it only clips, the range of all.

    Delta(I) in its place would move NashConv by up to a sixth, either way. For the rate by theory it is taken from the
    history tree, which may be too large for memory.
    """
    first, second = (treeplex.infosets for treeplex in game.treeplexes)
    widest = 2.0 * game.largest_payoff or 1.0
    if rate != THEORY:
        return np.full(first, widest), np.full(second, widest)
    if game not in _RANGES:
        own = counterfactual_ranges(game)
        _RANGES[game] = np.where(own[0] > 0.0, own[0], widest), np.where(own[1] > 0.0, own[1], widest)
    return _RANGES[game]
