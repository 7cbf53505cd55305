"""What the run loop needs of an iterative algorithm."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame

Behaviour = tuple[Floats, Floats]
"""Both players' strategies, in the game's order of sequences."""


class State(Protocol):
    """All that the next iteration needs: a NamedTuple of arrays, numbers and further tuples of these."""

    @property
    def iteration(self) -> int:
        """How many iterations have been done."""
        ...


class Algorithm(Protocol):
    """Advances a state. Running n and then m iterations gives the same bits as running n + m."""

    def start(self, game: CompiledGame) -> Any:
        """The state before the first iteration."""
        ...

    def advance(self, game: CompiledGame, state: Any, iterations: int) -> Any:
        """The state some iterations later; the arrays of the old one are overwritten."""
        ...

    def average(self, game: CompiledGame, state: Any) -> Behaviour:
        """The average strategies: what converges to an equilibrium."""
        ...

    def current(self, game: CompiledGame, state: Any) -> Behaviour:
        """The strategies to be played next."""
        ...

    def nodes_touched(self, game: CompiledGame, state: Any) -> int:
        """Histories entered so far."""
        ...


@runtime_checkable
class Random(Protocol):
    """An algorithm that draws random numbers: the seed of a run decides which."""

    def seeded(self, seed: int) -> Algorithm:
        """The same algorithm with another seed."""
        ...


@runtime_checkable
class Brisk(Protocol):
    """An algorithm whose iterations may be far cheaper than measuring NashConv."""

    def stride(self, game: CompiledGame) -> int:
        """Measure at multiples of so many iterations only; depends on the game alone, so that logs can be resumed."""
        ...
