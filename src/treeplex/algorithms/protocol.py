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
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.open import CPU
from treeplex.engines.protocol import Cost, Execution, Stop, never
from treeplex.errors import ParameterError
from treeplex.tensors import Tensors, leaves, restored

Array = npt.NDArray[Any]

Game = TypeVar("Game")
State = TypeVar("State")

__all__ = [
    "ITERATES",
    "Algorithm",
    "Array",
    "Cost",
    "Execution",
    "Extras",
    "Game",
    "LiveReport",
    "State",
    "Stop",
    "StrategyReport",
    "Tensors",
    "Work",
    "never",
    "plain_execution",
]

ITERATES = ("average", "current", "best")
"""What a run reports: the average strategies, the current ones, or the best of both at any evaluation so far."""


class Work(NamedTuple):
    """What has been done so far, and whether anything is left to do."""

    iterations: int
    nodes: int  # histories entered
    counters: Mapping[str, int] = {}  # further columns of the log
    finished: bool = False  # is nothing left to do, whatever the limits?
    resumable: bool = True  # could it go on from here, if other limits were given?
    overhead: float = 0.0  # seconds of the last ``advance`` that do not grow with its iterations
    additions: Sequence[Any] = ()  # of growth: every size that was added so far
    stage: str = ""  # what is being done, in words, where numbers do not say it


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

    def html(self) -> str:
        """What a notebook shows instead of value and NashConv; empty: nothing else."""
        return ""

    def plot(self, path: Any = None) -> Any:
        """A figure to show instead of how NashConv fell, saved as a PNG if there is a path; None: nothing else."""
        return None

    def files(self) -> dict[str, str]:
        """What the further files hold, by file name, for the folder's README."""
        return {}


class StrategyReport(ABC):
    """The strategies that a run reports, and how good they are; valid until the state is advanced."""

    @abstractmethod
    def evaluate(self, threads: int = 0) -> Evaluation:
        """Value, best responses and NashConv."""

    @abstractmethod
    def host(self) -> StrategyReport:
        """Copy the strategies to arrays of this machine, which later iterations leave alone."""

    @property
    def arrays(self) -> Any:
        """The strategies as host arrays."""
        return self.host().arrays

    def replace(self, arrays: Any) -> StrategyReport:
        """Return a report on other host arrays, such as those of a checkpoint."""
        raise NotImplementedError(type(self).__name__)

    @abstractmethod
    def policy(self) -> Any:
        """The strategies as a table by infoset, or as a reader of a hold'em spot; None where they are elsewhere."""

    def extras(self, evaluation: Evaluation) -> Extras:
        """What the answer has beside value, NashConv and policy."""
        return Extras()


class LiveReport(StrategyReport):
    """A report made of functions, for strategies that stay where they are."""

    def __init__(
        self,
        evaluate: Callable[[], Evaluation],
        policy: Callable[[], Any],
        extras: Callable[[Evaluation], Extras] = lambda evaluation: Extras(),
    ) -> None:
        self._evaluate, self._policy, self._extras = evaluate, policy, extras

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``StrategyReport``."""
        return self._evaluate()

    def host(self) -> LiveReport:
        """As ``StrategyReport``: itself."""
        return self

    def policy(self) -> Any:
        """As ``StrategyReport``."""
        return self._policy()

    def extras(self, evaluation: Evaluation) -> Extras:
        """As ``StrategyReport``."""
        return self._extras(evaluation)


class Algorithm(ABC, Generic[Game, State]):
    """Advances a state. Running n and then m iterations gives the same bits as running n + m."""

    iterates: ClassVar[tuple[str, ...]] = ITERATES
    ends: ClassVar[bool] = False  # by itself, without a limit
    random: ClassVar[bool] = False  # draws random numbers: seeds matter
    solves_spots: ClassVar[bool] = False  # hold'em spots, which have no table of all infosets
    steady: ClassVar[bool] = True  # does each iteration cost the same, so that seconds can be predicted?
    storage: str = "float64"  # the type of the numbers kept between iterations
    backend: str = CPU  # what runs it, once it is open
    portable: bool = True  # may its checkpoints be saved in other folders than the run's?

    def open(self, game: Game, execution: Execution) -> Algorithm[Game, State]:
        """Return the algorithm as this execution runs it in ``game``; reject what it cannot support."""
        plain_execution(execution)
        return self

    @abstractmethod
    def start(self, game: Game, seed: int = 0) -> State:
        """The state before the first iteration."""

    @abstractmethod
    def advance(self, game: Game, state: State, iterations: int, stop: Stop = never) -> State:
        """Return the state some iterations later; the arrays of the old one are overwritten.

        It may end early, at an iteration's end, when ``stop()`` says so.
        """

    @abstractmethod
    def work(self, game: Game, state: State) -> Work:
        """What has been done so far."""

    @abstractmethod
    def cost(self, game: Game) -> Cost:
        """Counted work of an iteration and of an evaluation, for the evaluation schedule."""

    @abstractmethod
    def report(self, game: Game, state: State, iterate: str) -> StrategyReport:
        """Both players' "average" or "current" strategies."""

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
