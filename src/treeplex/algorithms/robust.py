"""Predictive CFR+ made robust: against predictions that are off, and against regrets so small that strategies jump.

On arrays over sequences: float64, one thread, on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeplex.algorithms.full_width import FullWidth, LearnerState, iterate_in
from treeplex.algorithms.options import number, turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import AdaptiveLearner, AdaptiveRule, SmoothRule, StableRule
from treeplex.engines.sequence.learners import initial_learners, steps
from treeplex.updates.schedules import Schedule, power


@dataclass(frozen=True)
class AdaptiveCFR(FullWidth[LearnerState]):
    """APCFR+ (Meng et al. 2025): ``updates.adaptive``."""

    most: float
    weight: Schedule
    turns: int

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """No regret yet, uniform strategies."""
        first, second = (
            AdaptiveLearner(*own, np.zeros_like(own.regret), np.zeros(treeplex.infosets), np.zeros(treeplex.infosets))
            for own, treeplex in zip(initial_learners(game), game.treeplexes, strict=True)
        )
        return LearnerState((first, second), 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        rule, now = AdaptiveRule(self.most), steps(state.iteration, iterations, self.weight)
        iterate_in(game, state.learners, (rule, rule), now, self.turns)
        return LearnerState(state.learners, state.iteration + iterations)


@dataclass(frozen=True)
class FlooredCFR(FullWidth[LearnerState]):
    """Stable and smooth predictive CFR+ (Farina et al. 2023): ``updates.stable``, ``updates.smooth``."""

    floor: float  # in units of the payoff range
    smooth: bool
    weight: Schedule
    turns: int

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """Uniform strategies; no regret yet, or all regrets of an infoset equal and z in sum."""
        learners = initial_learners(game)
        if self.smooth:
            for learner, treeplex in zip(learners, game.treeplexes, strict=True):
                learner.regret[1:] = np.repeat(self._floor(game) / treeplex.actions, treeplex.actions)
        return LearnerState(learners, 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        rule = (SmoothRule if self.smooth else StableRule)(self._floor(game))
        iterate_in(game, state.learners, (rule, rule), steps(state.iteration, iterations, self.weight), self.turns)
        return LearnerState(state.learners, state.iteration + iterations)

    def _floor(self, game: CompiledGame) -> float:
        """z: the range of payoffs, 2 max |u|, times ``floor``."""
        return self.floor * 2.0 * game.largest_payoff


def apcfr_plus(most: float = 5.0, turns: str = "alternating") -> AdaptiveCFR:
    """Asymmetric PCFR+ (Meng et al. 2025): plays [R + r / (1 + alpha)]+, alpha learned per infoset; quadratic average.

    ``most``: what alpha may be at most. The prediction counts for at least 1 / (1 + most).
    """
    return AdaptiveCFR(number("most", most, 0.0, 1e6), power(2.0), turn_order(turns))


def stable_pcfr_plus(floor: float = 1.0, turns: str = "alternating") -> FlooredCFR:
    """PCFR+ with stable predictive regret matching+ (Farina et al. 2023, Algorithm 1), quadratic average.

    ``floor``: z in units of the payoff range; an infoset whose regrets are all at most z begins anew with z. 0 is
    ``pcfr_plus``.
    """
    return FlooredCFR(number("floor", floor, 0.0, 1e6), False, power(2.0), turn_order(turns))


def smooth_pcfr_plus(floor: float = 1.0, turns: str = "alternating") -> FlooredCFR:
    """PCFR+ with smooth predictive regret matching+ (Farina et al. 2023, Algorithm 2), quadratic average.

    ``floor``: z in units of the payoff range; the regrets of an infoset add up to at least z. 0 is ``pcfr_plus``.
    """
    return FlooredCFR(number("floor", floor, 0.0, 1e6), True, power(2.0), turn_order(turns))
