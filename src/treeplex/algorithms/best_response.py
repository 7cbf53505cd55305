"""Algorithms that play best responses: fictitious play, and CFR against a best-responding opponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import ALTERNATING, SIMULTANEOUS, Learner, Steps
from treeplex.engines.sequence.cpu.best_response import cfr_br_iterations, fictitious_play_iterations
from treeplex.engines.sequence.learners import averages, behaviours, newborns, scratch
from treeplex.updates import Minimizer, RegretMatching
from treeplex.updates.schedules import Schedule, uniform


class State(NamedTuple):
    """Both players' average strategies in sequence form."""

    averages: tuple[Floats, Floats]
    iteration: int


class LearnerState(NamedTuple):
    """Both players' learners."""

    learners: tuple[Learner, Learner]
    iteration: int


@dataclass(frozen=True)
class FictitiousPlay(Tabular[State]):
    """x^{t+1} = x^t + (BR(y^t) - x^t) / (t + 1), starting from uniform strategies.

    Mixing sequence-form strategies is mixing whole strategies (Kuhn), so this is Brown's fictitious play of the normal
    form, and extensive-form fictitious play with the same weights is the same sequence of strategies.
    """

    turns: int

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """Uniform strategies."""
        first, second = newborns(game)
        return State((first.weights, second.weights), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        weight = 1.0 / (np.arange(state.iteration + 1, last + 1, dtype=np.float64) + 1.0)
        fictitious_play_iterations(
            game.treeplexes, game.operator, state.averages, scratch(game), scratch(game), weight, self.turns
        )
        return State(state.averages, last)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return behaviours(game, state.averages)

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """What is answered next is the average."""
        return self.average(game, state)

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """One pass a player and iteration."""
        return 2 * state.iteration * game.nodes


@dataclass(frozen=True)
class BestResponseCFR(Tabular[LearnerState]):
    """CFR-BR: each player minimizes regret against an opponent that best responds to every strategy it plays."""

    minimizer: Minimizer
    weight: Schedule

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """No regret yet, uniform strategies."""
        return LearnerState(newborns(game), 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        steps = Steps(self.weight(t), *self.minimizer.discounts(t))
        cfr_br_iterations(game.treeplexes, game.operator, state.learners, scratch(game), scratch(game), steps)
        return LearnerState(state.learners, last)

    def average(self, game: CompiledGame, state: LearnerState) -> Strategies:
        """As ``Algorithm``."""
        return averages(game, state.learners)

    def current(self, game: CompiledGame, state: LearnerState) -> Strategies:
        """As ``Algorithm``."""
        return state.learners[0].behaviour.copy(), state.learners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: LearnerState) -> int:
        """Two passes a player and iteration: the best response, and the learner's."""
        return 4 * state.iteration * game.nodes


def fp() -> FictitiousPlay:
    """Fictitious play (Brown 1951) in turns: player 1 answers player 0's new average."""
    return FictitiousPlay(ALTERNATING)


def xfp() -> FictitiousPlay:
    """Extensive-form fictitious play (Heinrich, Lanctot & Silver 2015): both answer the other's old average."""
    return FictitiousPlay(SIMULTANEOUS)


def cfr_br() -> BestResponseCFR:
    """CFR-BR (Johanson, Bard, Burch & Bowling 2012), with regret matching for both players and uniform averages."""
    return BestResponseCFR(RegretMatching(), uniform())
