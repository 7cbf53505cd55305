"""What algorithms on cut games have in common: a trunk that is advanced here, and shards that are asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from treeplex.algorithms.cut.session import Session, sized
from treeplex.algorithms.protocol import Algorithm, Cost, Game, Tensors, Work
from treeplex.algorithms.tabular import State
from treeplex.errors import ParameterError


class Asked(NamedTuple):
    """Strategies that are where the shards are."""

    state: Any
    iterate: str  # "average" or "current"


class Trunk(Algorithm[Game, State]):
    """Carries out over shards what ``solver`` does on one machine, with its log and its bits."""

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")

    solver: Any  # the algorithm on one machine
    session: Session

    @property
    def stored_as(self) -> str:
        """As the solver."""
        return self.solver.stored_as

    @property
    def backend(self) -> str:
        """As the solver."""
        return self.solver.backend

    def work(self, game: Game, state: State) -> Work:
        """As the solver."""
        return self.solver.work(game, state)

    def strategies(self, game: Game, state: State, iterate: str) -> Asked:
        """As ``Algorithm``; they stay where they are."""
        return Asked(state, iterate)

    def fingerprint(self, game: Game) -> str:
        """As the solver."""
        return self.solver.fingerprint(game)

    def cost(self, game: Game) -> Cost:
        """As the solver, so that the log has the same rows."""
        return self.solver.cost(game)

    def counters(self, state: State) -> Mapping[str, int]:
        """What is sent and received per iteration, measured."""
        return {"bytes_per_iteration": self.session.bytes_per_iteration}

    def elsewhere(self) -> Algorithm[Game, State]:
        """As ``Algorithm``: refused."""
        raise ParameterError("A run over several machines is kept in the folder it was started with: give out=.")

    def save(self, state: State) -> Tensors:
        """As ``Algorithm``: shards write files of their own first."""
        named = self.session.save(state.iteration)
        return self.kept(state) | named

    @property
    def workers(self) -> str:
        """How many there are, in words."""
        count = len(self.session.orders)
        return f"{count} worker{'s' * (count > 1)}"

    def described(self, game: Game) -> str:
        """How it is cut, in a sentence."""
        memory = max(order.words["memory"] for order in self.session.orders)
        wire = f"{sized(self.predicted_bytes(game))} on the wire per iteration"
        return f"{self.parts(game)} {self.workers} of up to {sized(memory)}, {wire}."

    def wire(self, game: Game) -> dict[str, int]:
        """What was on the wire, as fields of the result."""
        return {
            "workers": len(self.session.orders),
            "bytes_per_iteration": self.session.bytes_per_iteration,
            "bytes_per_iteration_predicted": self.predicted_bytes(game),
        }

    def wire_note(self, game: Game) -> str:
        """The same, in one line."""
        said = f"{self.workers}, {sized(self.predicted_bytes(game))} on the wire per iteration by count"
        measured = self.session.bytes_per_iteration
        return f"{said}, {sized(measured)} measured" if measured else said

    @abstractmethod
    def kept(self, state: State) -> Tensors:
        """The trunk's own part of a checkpoint."""

    @abstractmethod
    def parts(self, game: Game) -> str:
        """What is where: the beginning of a sentence that goes on with the number of workers."""

    @abstractmethod
    def predicted_bytes(self, game: Game) -> int:
        """What is sent and received per iteration, counted before."""
