"""Full-width counterfactual regret minimization: a minimizer in every infoset, averaging weights, an order of turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.cpu import treeplex as walks
from treeplex.kernels.cpu.cfr import cfr_iterations
from treeplex.kernels.rules import ALTERNATING, Learner, Steps
from treeplex.minimizers import Discounted, Minimizer, PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.schedules import Schedule, linear, power, uniform


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[Learner, Learner]
    iteration: int


@dataclass(frozen=True)
class CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007) over the sequence form."""

    minimizer: Minimizer
    weight: Schedule
    turns: int = ALTERNATING

    def start(self, game: CompiledGame) -> State:
        """No regret yet, uniform strategies."""
        first, second = (_newborn(treeplex) for treeplex in game.treeplexes)
        return State((first, second), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int) -> State:
        """Run ``iterations`` more; the arrays of ``state`` are modified in place and belong to the state returned."""
        scratch = (np.empty(game.treeplexes[0].sequences), np.empty(game.treeplexes[1].sequences))
        last = state.iteration + iterations
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        steps = Steps(self.weight(t), *self.minimizer.discounts(t))
        cfr_iterations(
            game.treeplexes, game.operator, state.learners, scratch, steps, self.minimizer.predict, self.turns
        )
        return State(state.learners, last)

    def average(self, game: CompiledGame, state: State) -> tuple[Floats, Floats]:
        """The average strategies so far: what converges to an equilibrium."""
        first, second = (
            _normalised(treeplex, learner.average)
            for treeplex, learner in zip(game.treeplexes, state.learners, strict=True)
        )
        return first, second

    def nodes_touched(self, game: CompiledGame, iterations: int) -> int:
        """Every pass stands for one traversal of the whole tree, and there is one a player."""
        return 2 * iterations * game.nodes


def cfr() -> CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007), alternating, uniform average."""
    return CFR(RegretMatching(), uniform())


def cfr_plus(delay: int = 0) -> CFR:
    """CFR+ (Tammelin 2014, Algorithm 1): regret matching+, alternating, average weighted by max(t - delay, 0).

    Differs from the paper in: both players' averages start with their first, uniform strategies. Algorithm 1 adds
    player 0's strategy after its update, so there the average of player 0 starts with the second one.
    """
    return CFR(RegretMatchingPlus(), linear(delay))


def lcfr() -> CFR:
    """Linear CFR (Brown & Sandholm 2019): regrets and average weighted by the iteration."""
    return CFR(Discounted(1.0, 1.0), linear())


def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> CFR:
    """Discounted CFR (Brown & Sandholm 2019)."""
    return CFR(Discounted(alpha, beta), power(gamma))


def pcfr_plus() -> CFR:
    """Predictive CFR+ with quadratic averaging (Farina, Kroer & Sandholm 2021)."""
    return CFR(PredictivePlus(), power(2.0))


def pdcfr_plus(alpha: float = 2.3, gamma: float = 5.0) -> CFR:
    """Predictive discounted CFR+ (Xu et al. 2024)."""
    return CFR(PredictivePlus(alpha), power(gamma))


def _newborn(treeplex: Treeplex) -> Learner:
    size = treeplex.sequences
    weights, behaviour = np.empty(size), _normalised(treeplex, np.zeros(size))
    walks.sequence_weights(treeplex, behaviour, weights)
    return Learner(np.zeros(size), np.zeros(size), behaviour, weights)


def _normalised(treeplex: Treeplex, weights: Floats) -> Floats:
    behaviour = np.empty(treeplex.sequences)
    walks.normalise(treeplex, weights, behaviour)
    return behaviour
