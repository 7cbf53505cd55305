"""What all algorithms have in common that solve compiled games by iterations."""

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

    def counters(self, state: State) -> Mapping[str, int]:
        """Further columns of the log."""
        return {}

    def work(self, game: CompiledGame, state: State) -> Work:
        """As ``Algorithm``."""
        return Work(state.iteration, self.nodes_touched(game, state), self.counters(state))

    def report(self, game: CompiledGame, state: State, iterate: str) -> StrategyReport:
        """As ``Algorithm``; stops at once when a rule, such as a user's own, has run out of numbers."""
        require_finite(self.current(game, state), state.iteration)
        strategies = self.current(game, state) if iterate == "current" else self.average(game, state)
        return ProfileReport(TabularProfile(game, strategies))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: one pass over the payoffs and sequences of both players, once each."""
        return SequenceEngine(game).cost
