"""What algorithms have in common whose every iteration visits every infoset: learners, and one frame around them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

from treeplex.algorithms.tabular import Iterated, Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import HedgeLearner, Steps
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import Learners, normalised, sequence_form
from treeplex.updates.blocks import Earlier
from treeplex.updates.turns import SIMULTANEOUS

AnyLearners = Learners | tuple[HedgeLearner, HedgeLearner]


class LearnerState(NamedTuple):
    """What the next iteration needs."""

    learners: AnyLearners
    iteration: int
    earlier: Earlier = ()


class HasLearners(Iterated, Protocol):
    """A state with both players' learners."""

    @property
    def learners(self) -> AnyLearners:
        """Their arrays are modified in place."""
        ...


State = TypeVar("State", bound=HasLearners)


class FullWidth(Tabular[State]):
    """Learners with an average and a current strategy; ``turns`` is the order of updates."""

    turns: int

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, (state.learners[0].average, state.learners[1].average))

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        first, second = state.learners
        return first.strategy.astype(float), second.strategy.astype(float)

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Every pass stands for a traversal of the whole tree: one per player if they alternate, else one for both."""
        return (1 if self.turns == SIMULTANEOUS else 2) * state.iteration * game.nodes


def iterate_in(game: CompiledGame, learners: tuple[Any, Any], rules: tuple[Any, Any], steps: Steps, turns: int) -> None:
    """One thread, float64; ``learners`` are modified in place."""
    iterate(sequence_form(game), learners, rules, steps, turns, None)
