"""What all algorithms have in common that solve compiled games by iterations."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Final, Protocol, TypeVar

import numpy.typing as npt

from treeplex.algorithms.protocol import Algorithm, Cost, Work
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.learners import Strategies
from treeplex.errors import SolverError
from treeplex.evaluation.exact import Evaluation, evaluate_strategies
from treeplex.policies.policy import Policy

OVERHEAD: Final = 20_000.0  # of one evaluation, in numbers read: calls from Python, small arrays; measured: 12,000


class Iterated(Protocol):
    """A state that knows how many iterations have been done."""

    @property
    def iteration(self) -> int:
        """Counted from the start of the run."""
        ...


State = TypeVar("State", bound=Iterated)


class Tabular(Algorithm[CompiledGame, State]):
    """Strategies are arrays with one number per sequence; quality is exact."""

    @abstractmethod
    def average(self, game: CompiledGame, state: State) -> Strategies:
        """The average strategies: what converges to an equilibrium."""

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """The strategies to be played next; the average where nothing else is."""
        return self.average(game, state)

    @abstractmethod
    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Histories entered so far."""

    def work(self, game: CompiledGame, state: State) -> Work:
        """As ``Algorithm``."""
        return Work(state.iteration, self.nodes_touched(game, state))

    def strategies(self, game: CompiledGame, state: State, iterate: str) -> Strategies:
        """As ``Algorithm``; stops at once when a rule, such as a user's own, has run out of numbers."""
        require_finite(self.played(game, state), state.iteration)
        return self.current(game, state) if iterate == "current" else self.average(game, state)

    def played(self, game: CompiledGame, state: State) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The numbers of ``current``, in any order."""
        return self.current(game, state)

    def evaluate(self, game: CompiledGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``Algorithm``."""
        return evaluate_strategies(game, strategies, threads)

    def policy(self, game: CompiledGame, strategies: Any) -> Policy:
        """As ``Algorithm``."""
        return Policy.of(game, strategies)

    def fingerprint(self, game: CompiledGame) -> str:
        """As ``Algorithm``."""
        return game.fingerprint

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: one pass over the payoffs and sequences of both players, once each."""
        return Cost(sweep(game), OVERHEAD + sweep(game))


def require_finite(strategies: tuple[npt.NDArray[Any], npt.NDArray[Any]], iteration: int) -> None:
    """Refuse strategies that are not numbers."""
    if not all(math.isfinite(strategy.sum()) for strategy in strategies):
        raise SolverError(f"The strategies contain NaN or infinity at iteration {iteration:,}.")


def sweep(game: CompiledGame) -> float:
    """Numbers read by one pass over both players' sequences and the payoffs between them."""
    return float(2 * game.operator.entries + 8 * sum(treeplex.sequences for treeplex in game.treeplexes))
