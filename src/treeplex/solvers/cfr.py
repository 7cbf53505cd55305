"""Full-width counterfactual regret minimization: a minimizer in every infoset, averaging weights, an order of turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.treeplex import Treeplex
from treeplex.errors import ParameterError
from treeplex.kernels.cpu import treeplex as walks
from treeplex.kernels.cpu.cfr import cfr_iterations
from treeplex.kernels.rules import ALTERNATING, SIMULTANEOUS, Learner, Steps
from treeplex.minimizers import Discounted, Minimizer, PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.schedules import Schedule, linear, power, uniform
from treeplex.solvers.algorithm import Behaviour

TURNS: Final = {"alternating": ALTERNATING, "simultaneous": SIMULTANEOUS}


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
        return State(newborns(game), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        steps = Steps(self.weight(t), *self.minimizer.discounts(t))
        predict = self.minimizer.predict
        cfr_iterations(game.treeplexes, game.operator, state.learners, scratch(game), steps, predict, self.turns)
        return State(state.learners, last)

    def average(self, game: CompiledGame, state: State) -> Behaviour:
        """As ``Algorithm``."""
        return averages(game, state)

    def current(self, game: CompiledGame, state: State) -> Behaviour:
        """As ``Algorithm``."""
        return state.learners[0].behaviour.copy(), state.learners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Every pass stands for one traversal of the whole tree: one a player if they take turns, else one for both."""
        return (1 if self.turns == SIMULTANEOUS else 2) * state.iteration * game.nodes


def cfr(turns: str = "alternating") -> CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007), uniform average."""
    return CFR(RegretMatching(), uniform(), _turns(turns))


def cfr_plus(delay: int = 0, turns: str = "alternating") -> CFR:
    """CFR+ (Tammelin 2014, Algorithm 1): regret matching+, alternating, average weighted by max(t - delay, 0).

    Differs from the paper in: both players' averages start with their first, uniform strategies. Algorithm 1 adds
    player 0's strategy after its update, so there the average of player 0 starts with the second one.
    """
    if isinstance(delay, bool) or not isinstance(delay, int) or delay < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ParameterError(f"The 'delay' parameter must be a whole number that is not negative, got {delay!r}.")
    return CFR(RegretMatchingPlus(), linear(delay), _turns(turns))


def lcfr(turns: str = "alternating") -> CFR:
    """Linear CFR (Brown & Sandholm 2019): regrets and average weighted by the iteration."""
    return CFR(Discounted(1.0, 1.0), linear(), _turns(turns))


def dcfr(alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0, turns: str = "alternating") -> CFR:
    """Discounted CFR (Brown & Sandholm 2019)."""
    return CFR(
        Discounted(_number("alpha", alpha), _number("beta", beta)), power(_number("gamma", gamma)), _turns(turns)
    )


def pcfr_plus(turns: str = "alternating") -> CFR:
    """Predictive CFR+ with quadratic averaging (Farina, Kroer & Sandholm 2021)."""
    return CFR(PredictivePlus(), power(2.0), _turns(turns))


def pdcfr_plus(alpha: float = 2.3, gamma: float = 5.0, turns: str = "alternating") -> CFR:
    """Predictive discounted CFR+ (Xu et al. 2024)."""
    return CFR(PredictivePlus(_number("alpha", alpha)), power(_number("gamma", gamma)), _turns(turns))


def newborns(game: CompiledGame) -> tuple[Learner, Learner]:
    """Both players' learners before the first iteration."""
    return _newborn(game.treeplexes[0]), _newborn(game.treeplexes[1])


def averages(game: CompiledGame, state: State) -> Behaviour:
    """Both learners' average strategies."""
    return behaviours(game, (state.learners[0].average, state.learners[1].average))


def behaviours(game: CompiledGame, weights: tuple[Floats, Floats]) -> Behaviour:
    """Strategies from non-negative sequence weights."""
    return _normalised(game.treeplexes[0], weights[0]), _normalised(game.treeplexes[1], weights[1])


def scratch(game: CompiledGame) -> tuple[Floats, Floats]:
    """An uninitialised number for each sequence."""
    return np.empty(game.treeplexes[0].sequences), np.empty(game.treeplexes[1].sequences)


def _newborn(treeplex: Treeplex) -> Learner:
    size = treeplex.sequences
    weights, behaviour = np.empty(size), _normalised(treeplex, np.zeros(size))
    walks.sequence_weights(treeplex, behaviour, weights)
    return Learner(np.zeros(size), np.zeros(size), behaviour, weights)


def _normalised(treeplex: Treeplex, weights: Floats) -> Floats:
    behaviour = np.empty(treeplex.sequences)
    walks.normalise(treeplex, weights, behaviour)
    return behaviour


def _turns(name: str) -> int:
    if name not in TURNS:
        raise ParameterError(f"The 'turns' parameter must be one of {', '.join(TURNS)}, got {name!r}.")
    return TURNS[name]


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ParameterError(f"The '{name}' parameter must be a number, got {value!r}.")
    return float(value)
