"""What a run asks of an algorithm.

Configuration (the algorithm itself, frozen), state (what the next iteration needs, and so what a checkpoint saves) and
diagnostics (work done, evaluations) are three different things. Games and states are of the algorithm's own kind: the
run loop hands them around and never looks inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.arrow import Table
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.policies.policy import Policy
from treeplex.tensors import Tensors, leaves, restored

Array = npt.NDArray[Any]

Game = TypeVar("Game")
State = TypeVar("State")

Stop = Callable[[], bool]
"""Asked now and then by what takes long: should it end early?"""


def never() -> bool:
    """Do not end early."""
    return False


ITERATES = ("average", "current", "best")
"""What a run reports: the average strategies, the current ones, or the best of both at any evaluation so far."""


class Work(NamedTuple):
    """What has been done so far."""

    iterations: int
    nodes: int  # histories entered


class Cost(NamedTuple):
    """How much work one iteration and one evaluation are, in numbers read from memory: about a nanosecond each."""

    iteration: float
    evaluation: float


class Goal(NamedTuple):
    """What a run is for. Only an algorithm that chooses between others looks at it."""

    nash_conv: float | None = None  # the target, if it has one
    iterate: str = "average"  # what it reports
    counted: bool = False  # has it a limit on iterations or nodes?
    nodes: int | None = None  # the latter


class Execution(NamedTuple):
    """How a run is carried out, which does not change what is computed."""

    backend: str = "cpu"  # or "cuda", or "auto": the faster of those that are there
    storage: str | None = None  # None: what the engine uses by default
    threads: int = 0  # 0: as many as pay
    folder: str | None = None  # where an algorithm may keep what does not fit into memory
    device: int = 0  # which GPU
    goal: Goal = Goal()


class Extras:
    """What an answer has beside value, NashConv and policy. This one has nothing."""

    def summary(self) -> dict[str, Any]:
        """Further fields of the result as JSON."""
        return {}

    def tables(self) -> dict[str, Table]:
        """Further tables of the run folder, by file name without suffix."""
        return {}

    def documents(self) -> dict[str, Any]:
        """Further JSON files of the run folder, by file name without suffix."""
        return {}

    def note(self) -> str:
        """What a user may want to know of how it was found, in one line; empty: nothing."""
        return ""

    def files(self) -> dict[str, str]:
        """What the further files hold, by file name, for the folder's README."""
        return {}


class Algorithm(ABC, Generic[Game, State]):
    """Advances a state. Running n and then m iterations gives the same bits as running n + m."""

    iterates: ClassVar[tuple[str, ...]] = ITERATES
    ends: ClassVar[bool] = False  # by itself, without a limit
    random: ClassVar[bool] = False  # draws random numbers: seeds matter

    @property
    def stored_as(self) -> str:
        """The type of the numbers that are kept between iterations."""
        return "float64"

    @property
    def backend(self) -> str:
        """What carries it out: "cpu", or "cuda" once it is ``prepared`` so."""
        return "cpu"

    def prepared(self, game: Game, execution: Execution) -> Algorithm[Game, State]:
        """The algorithm that carries this out in ``game`` as the run asks; refuses what cannot be heeded."""
        plain_execution(execution)
        return self

    def elsewhere(self) -> Algorithm[Game, State]:
        """The same for a checkpoint in another folder than the run's: it refers to no file beside it."""
        return self

    @abstractmethod
    def start(self, game: Game, seed: int = 0) -> State:
        """The state before the first iteration."""

    @abstractmethod
    def advance(self, game: Game, state: State, iterations: int, stop: Stop = never) -> State:
        """The state some iterations later; the arrays of the old one are overwritten.

        It may end early, at an iteration's end, when ``stop()`` says so.
        """

    @abstractmethod
    def work(self, game: Game, state: State) -> Work:
        """What has been done so far."""

    @abstractmethod
    def strategies(self, game: Game, state: State, iterate: str) -> Any:
        """Both players' "average" or "current" strategies, in the form that ``evaluate`` takes."""

    def fetched(self, strategies: Any) -> Any:
        """The same as arrays of this machine, where they are somewhere else; those are overwritten by iterations."""
        return strategies

    @abstractmethod
    def evaluate(self, game: Game, strategies: Any, threads: int = 0) -> Evaluation:
        """How good they are."""

    @abstractmethod
    def policy(self, game: Game, strategies: Any) -> Policy | None:
        """As a table by infoset; None where that would be too large."""

    @abstractmethod
    def fingerprint(self, game: Game) -> str:
        """A short hash of all of the game that the answer depends on."""

    @abstractmethod
    def cost(self, game: Game) -> Cost:
        """Counted work, for the evaluation schedule."""

    def counters(self, state: State) -> Mapping[str, int]:
        """Further columns of the log: what else has been counted so far."""
        return {}

    def computing(self, state: State, took: float) -> float:
        """Of the seconds that the last ``advance`` took, those by which the loop says how far the next one goes."""
        return took

    def additions(self, state: State) -> Sequence[Any]:
        """Of growth: every size that was added so far, as named tuples."""
        return ()

    def finished(self, state: State) -> bool:
        """Is there nothing left to do, whatever the limits?"""
        return False

    def resumable(self, state: State) -> bool:
        """Could it go on from here, if other limits were given?"""
        return not self.finished(state)

    def extras(self, game: Game, state: State, strategies: Any, evaluation: Evaluation) -> Extras:
        """What the answer has beside value, NashConv and policy."""
        return Extras()

    def save(self, state: State) -> Tensors:
        """The state as named arrays."""
        return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(state, "state")}

    def restore(self, game: Game, tensors: Mapping[str, Array], seed: int = 0) -> State:
        """The state that was saved; ValueError or KeyError if the arrays are not those of such a state."""
        return restored(self.start(game, seed), "state", tensors)


def plain_execution(execution: Execution, *, threads: bool = False) -> None:
    """Refuse what an engine that works in float64 on the CPU cannot heed."""
    if execution.storage not in (None, "float64"):
        raise ParameterError(f"The 'storage' parameter must be float64 with this algorithm, got {execution.storage!r}.")
    if execution.threads > 1 and not threads:
        raise ParameterError(f"The 'threads' parameter must be 0 or 1 with this algorithm, got {execution.threads!r}.")
