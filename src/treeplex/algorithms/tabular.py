"""Base class of the iterative algorithms for compiled games."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Protocol, TypeVar

from treeplex.algorithms.protocol import Algorithm, Cost, StrategyReport, Work
from treeplex.algorithms.reports import ProfileReport
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.engine import OVERHEAD, SequenceEngine, TabularProfile, require_finite, sweep
from treeplex.engines.sequence.learners import Strategies

__all__ = ["OVERHEAD", "Iterated", "Strategies", "Tabular", "require_finite", "sweep"]


class Iterated(Protocol):
    """A state that counts its iterations."""

    @property
    def iteration(self) -> int:
        """Number of iterations since the start of the run."""
        ...


State = TypeVar("State", bound=Iterated)


class Tabular(Algorithm[CompiledGame, State]):
    """Base class: strategies have one number per sequence, and evaluations are exact."""

    @abstractmethod
    def average(self, game: CompiledGame, state: State) -> Strategies:
        """Return the average strategies, which converge to an equilibrium."""

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """Return the strategies to play next, or the average where an algorithm has no others."""
        return self.average(game, state)

    @abstractmethod
    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Return the number of histories entered so far."""

    def counters(self, state: State) -> Mapping[str, int]:
        """Return additional columns of the log."""
        return {}

    def work(self, game: CompiledGame, state: State) -> Work:
        """As ``Algorithm``."""
        return Work(state.iteration, self.nodes_touched(game, state), self.counters(state))

    def report(self, game: CompiledGame, state: State, iterate: str) -> StrategyReport:
        """As ``Algorithm``; raises if the numbers of a rule, such as a user's own, are no longer finite."""
        require_finite(self.current(game, state), state.iteration)
        strategies = self.current(game, state) if iterate == "current" else self.average(game, state)
        return ProfileReport(TabularProfile(game, strategies))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: one pass over the payoffs, and over both players' sequences."""
        return SequenceEngine(game).cost
