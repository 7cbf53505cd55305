"""Algorithms based on best responses: fictitious play, and CFR against a best-responding opponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import named
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import Learner, MatchingAgainstBestResponse, Responder, Steps
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import (
    initial_learners,
    normalised,
    scratch,
    sequence_form,
    steps,
    uniform_strategies,
)
from treeplex.updates import Minimizer, RegretMatching
from treeplex.updates.schedules import Schedule, uniform
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

STEPS: Final[dict[str, Schedule]] = {
    "harmonic": lambda t: 1.0 / (t + 1.0),
    "linear": lambda t: 2.0 / (t + 2.0),
    "log": lambda t: 1.0 / np.log(t + np.e),
}
"""Step sizes: each sums to infinity and falls to zero."""


class BestResponseState(NamedTuple):
    """Both players' average strategies as realization plans."""

    averages: tuple[Floats, Floats]
    iteration: int


@dataclass(frozen=True)
class FictitiousPlay(Tabular[BestResponseState]):
    """x^{t+1} = x^t + alpha_t (BR(y^t) - x^t), starting from uniform strategies; alpha_t = 1 / (t + 1) by default.

    Mixing realization plans is mixing whole strategies (Kuhn), so this is Brown's fictitious play of the normal
    form, and extensive-form fictitious play with the same weights is the same sequence of strategies.
    """

    turns: int
    step: Schedule  # the step size of every iteration

    def start(self, game: CompiledGame, seed: int = 0) -> BestResponseState:
        """As ``Algorithm``: uniform strategies."""
        return BestResponseState(uniform_strategies(game)[1], 0)

    def advance(
        self, game: CompiledGame, state: BestResponseState, iterations: int, stop: Stop = never
    ) -> BestResponseState:
        """As ``Algorithm``."""
        first, second = (Responder(*pair) for pair in zip(state.averages, scratch(game), strict=True))
        step_sizes = steps(state.iteration, iterations, self.step)
        iterate_in(game, (first, second), (None, None), step_sizes, self.turns)
        return BestResponseState(state.averages, state.iteration + iterations)

    def average(self, game: CompiledGame, state: BestResponseState) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, state.averages)

    def nodes_touched(self, game: CompiledGame, state: BestResponseState) -> int:
        """Return one pass per player and iteration."""
        return 2 * state.iteration * game.nodes


class LearnerState(NamedTuple):
    """State of CFR-BR between iterations."""

    learners: tuple[Learner, Learner]
    iteration: int


@dataclass(frozen=True)
class BestResponseCFR(Tabular[LearnerState]):
    """CFR-BR: each player minimizes regret against an opponent that best responds to every strategy it plays."""

    minimizer: Minimizer
    weight: Schedule
    turns: int = ALTERNATING  # makes no difference: best responses of both players come first

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """As ``Algorithm``: no regret yet, uniform strategies."""
        return LearnerState(initial_learners(game), 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``."""
        first, second = (MatchingAgainstBestResponse(self.minimizer.predict, response) for response in scratch(game))
        now = steps(state.iteration, iterations, self.weight, self.minimizer)
        iterate_in(game, state.learners, (first, second), now, self.turns)
        return LearnerState(state.learners, state.iteration + iterations)

    def average(self, game: CompiledGame, state: LearnerState) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, (state.learners[0].average, state.learners[1].average))

    def current(self, game: CompiledGame, state: LearnerState) -> Strategies:
        """As ``Algorithm``."""
        first, second = state.learners
        return first.strategy.astype(float), second.strategy.astype(float)

    def nodes_touched(self, game: CompiledGame, state: LearnerState) -> int:
        """Return two passes per player and iteration: the best response and the learner's."""
        return 4 * state.iteration * game.nodes


def iterate_in(game: CompiledGame, learners: tuple[Any, Any], rules: tuple[Any, Any], steps: Steps, turns: int) -> None:
    """Run iterations on one thread in float64; ``learners`` are modified in place."""
    iterate(sequence_form(game), learners, rules, steps, turns, None)


def fp(step: str = "harmonic") -> FictitiousPlay:
    """Fictitious play (Brown 1951), alternating: player 1 answers player 0's new average.

    ``step``: the step sizes of generalised weakened fictitious play (Leslie & Collins 2006), where the uniform strategy
    counts as the first answer. "harmonic" is 1 / (t + 1), "linear" 2 / (t + 2) and "log" 1 / log(t + e).
    """
    return FictitiousPlay(ALTERNATING, named("step", step, STEPS))


def xfp(step: str = "harmonic") -> FictitiousPlay:
    """Extensive-form fictitious play (Heinrich, Lanctot & Silver 2015), simultaneous: both answer old averages.

    ``step``: as in ``fp``.
    """
    return FictitiousPlay(SIMULTANEOUS, named("step", step, STEPS))


def cfr_br() -> BestResponseCFR:
    """CFR-BR (Johanson, Bard, Burch & Bowling 2012), with regret matching for both players and uniform averages."""
    return BestResponseCFR(RegretMatching(), uniform())
