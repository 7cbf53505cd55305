"""Full-width counterfactual regret minimization: a minimizer in every infoset, averaging weights, an order of turns.

How the numbers are stored and how many threads work on them are choices beside that: ``Arithmetic``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treeplex.algorithms.options import exponent, number, turn_order
from treeplex.algorithms.protocol import Algorithm, Execution, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arithmetic import Arithmetic, FloatArithmetic, arithmetic
from treeplex.engines.sequence.arrays import SIMULTANEOUS, CompactLearner, Learner, Steps
from treeplex.engines.sequence.learners import averages
from treeplex.errors import non_negative
from treeplex.updates import Discounted, Minimizer, PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.updates.schedules import Schedule, linear, power, uniform

DOUBLE = FloatArithmetic()


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[Learner, Learner] | tuple[CompactLearner, CompactLearner]
    iteration: int


@dataclass(frozen=True)
class CFR(Tabular[State]):
    """Counterfactual regret minimization (Zinkevich et al. 2007) over the sequence form."""

    minimizer: Minimizer
    weight: Schedule
    turns: int
    arithmetic: Arithmetic = DOUBLE

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.arithmetic.storage

    def prepared(self, game: Any, execution: Execution) -> Algorithm[Any, Any]:
        """As ``Algorithm``: by arrays over sequences, or over rows of hands for a hold'em spot."""
        if not isinstance(game, CompiledGame):
            from treeplex.algorithms.holdem import on_boards  # noqa: PLC0415 - its kernels take time to load

            return on_boards(self, execution)
        predictive = self.minimizer.predict > 0.0
        return replace(self, arithmetic=arithmetic(execution.storage, execution.threads, predictive=predictive))

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies."""
        return State(self.arithmetic.newborns(game), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        steps = Steps(self.weight(t), *self.minimizer.discounts(t))
        self.arithmetic.iterate(game, state.learners, steps, self.minimizer.predict, self.turns)
        return State(state.learners, last)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return averages(game, state.learners)

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        first, second = (learner.behaviour.astype(np.float64) for learner in state.learners)
        return first, second

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Every pass stands for one traversal of the whole tree: one a player if they take turns, else one for both."""
        return (1 if self.turns == SIMULTANEOUS else 2) * state.iteration * game.nodes


def cfr(turns: str = "alternating") -> CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007), uniform average."""
    return CFR(RegretMatching(), uniform(), turn_order(turns))


def cfr_plus(delay: int = 0, turns: str = "alternating") -> CFR:
    """CFR+ (Tammelin 2014, Algorithm 1): regret matching+, alternating, average weighted by max(t - delay, 0).

    Differs from the paper in: both players' averages start with their first, uniform strategies. Algorithm 1 adds
    player 0's strategy after its update, so there the average of player 0 starts with the second one.
    """
    averaging = linear(non_negative("delay", delay))
    return CFR(RegretMatchingPlus(), averaging, turn_order(turns))


def lcfr(turns: str = "alternating") -> CFR:
    """Linear CFR (Brown & Sandholm 2019): regrets and average weighted by the iteration."""
    return CFR(Discounted(1.0, 1.0), linear(), turn_order(turns))


def dcfr(
    alpha: float = 1.5,
    beta: float = 0.0,
    gamma: float = 2.0,
    turns: str = "alternating",
) -> CFR:
    """Discounted CFR (Brown & Sandholm 2019)."""
    minimizer = Discounted(number("alpha", alpha), number("beta", beta))
    return CFR(minimizer, power(exponent("gamma", gamma)), turn_order(turns))


def pcfr_plus(turns: str = "alternating") -> CFR:
    """Predictive CFR+ with quadratic averaging (Farina, Kroer & Sandholm 2021)."""
    return CFR(PredictivePlus(), power(2.0), turn_order(turns))


def pdcfr_plus(alpha: float = 2.3, gamma: float = 5.0, turns: str = "alternating") -> CFR:
    """Predictive discounted CFR+ (Xu et al. 2024)."""
    minimizer = PredictivePlus(number("alpha", alpha))
    averaging = power(exponent("gamma", gamma))
    return CFR(minimizer, averaging, turn_order(turns))
