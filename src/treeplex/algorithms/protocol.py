"""The interface between a run and its algorithm.

Three things are kept apart: configuration (the algorithm itself, which is frozen), state (everything the next
iteration needs, and so the content of a checkpoint) and diagnostics (work done, evaluations). Each algorithm has its
own types of games and states. The run loop passes them on and never looks inside.
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
"""The strategies a run may report: average, current, or the better of both at any evaluation so far."""


class Work(NamedTuple):
    """Work done so far, and whether any is left."""

    iterations: int
    nodes: int  # histories entered
    counters: Mapping[str, int] = {}  # additional columns of the log
    finished: bool = False  # True if nothing is left to do, whatever the limits
    resumable: bool = True  # True if the run could continue from here under other limits
    overhead: float = 0.0  # seconds of the last ``advance`` that do not grow with its iterations
    additions: Sequence[Any] = ()  # every size that growth has added so far
    stage: str = ""  # description of the current step where numbers do not suffice


class Extras:
    """Fields of a solution beyond value, NashConv and policy. The base class has none."""

    def summary(self) -> dict[str, Any]:
        """Return additional JSON fields of the result."""
        return {}

    def tables(self) -> dict[str, Table]:
        """Return additional tables of the run folder, by file name without suffix."""
        return {}

    def documents(self) -> dict[str, Any]:
        """Return additional JSON files of the run folder, by file name without suffix."""
        return {}

    def note(self) -> str:
        """Return one line on how the solution was computed, or an empty string."""
        return ""

    def html(self) -> str:
        """Return what a notebook shows instead of value and NashConv, or an empty string."""
        return ""

    def plot(self, path: Any = None) -> Any:
        """Return a figure to show instead of the NashConv curve, or None; save it as a PNG if ``path`` is set."""
        return None

    def files(self) -> dict[str, str]:
        """Return descriptions of the additional files by file name, for the folder's README."""
        return {}


class StrategyReport(ABC):
    """The strategies that a run reports, with their evaluation; valid until the state is advanced."""

    @abstractmethod
    def evaluate(self, threads: int = 0) -> Evaluation:
        """Return value, best-response values and NashConv."""

    @abstractmethod
    def host(self) -> StrategyReport:
        """Copy the strategies to host memory; the next iterations overwrite device buffers."""

    @property
    def arrays(self) -> Any:
        """The strategies as host arrays."""
        return self.host().arrays

    def replace(self, arrays: Any) -> StrategyReport:
        """Return a report on other host arrays, such as those of a checkpoint."""
        raise NotImplementedError(type(self).__name__)

    @abstractmethod
    def policy(self) -> Any:
        """Return a table by infoset, or a reader of a hold'em spot; None if the strategies are not in one place."""

    def extras(self, evaluation: Evaluation) -> Extras:
        """Return the fields of the solution beyond value, NashConv and policy."""
        return Extras()


class LiveReport(StrategyReport):
    """A report made of functions, for strategies that are not copied."""

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
        """As ``StrategyReport``: returns itself."""
        return self

    def policy(self) -> Any:
        """As ``StrategyReport``."""
        return self._policy()

    def extras(self, evaluation: Evaluation) -> Extras:
        """As ``StrategyReport``."""
        return self._extras(evaluation)


class Algorithm(ABC, Generic[Game, State]):
    """An iterative solver: it advances a state. Running n, then m iterations gives the same bits as running n + m."""

    iterates: ClassVar[tuple[str, ...]] = ITERATES
    ends: ClassVar[bool] = False  # ends without a limit
    random: ClassVar[bool] = False  # draws random numbers: seeds matter
    solves_spots: ClassVar[bool] = False  # supports hold'em spots, which have no table of all infosets
    steady: ClassVar[bool] = True  # every iteration costs the same, so seconds can be predicted
    storage: str = "float64"  # type of the numbers stored between iterations
    backend: str = CPU  # backend that runs it, once it is open
    portable: bool = True  # its checkpoints may be saved outside the run folder

    def open(self, game: Game, execution: Execution) -> Algorithm[Game, State]:
        """Return the algorithm prepared for ``game`` and ``execution``; raise for what it does not support."""
        plain_execution(execution)
        return self

    @abstractmethod
    def start(self, game: Game, seed: int = 0) -> State:
        """Return the state before the first iteration."""

    @abstractmethod
    def advance(self, game: Game, state: State, iterations: int, stop: Stop = never) -> State:
        """Return the state some iterations later; the arrays of the old one are overwritten.

        It may stop early, at the end of an iteration, when ``stop()`` returns True.
        """

    @abstractmethod
    def work(self, game: Game, state: State) -> Work:
        """Return the work done so far."""

    @abstractmethod
    def cost(self, game: Game) -> Cost:
        """Return the counted work of an iteration and of an evaluation, for the evaluation schedule."""

    @abstractmethod
    def report(self, game: Game, state: State, iterate: str) -> StrategyReport:
        """Return both players' "average" or "current" strategies."""

    def save(self, state: State) -> Tensors:
        """Return the state as named arrays."""
        return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(state, "state")}

    def restore(self, game: Game, tensors: Mapping[str, Array], seed: int = 0) -> State:
        """Return the saved state; raise ValueError or KeyError if the arrays are not those of such a state."""
        return restored(self.start(game, seed), "state", tensors)


def plain_execution(execution: Execution, *, threads: bool = False) -> None:
    """Raise for options that an engine working in float64 on the CPU does not support."""
    if execution.storage not in (None, "float64"):
        raise ParameterError(f"The 'storage' parameter must be float64 with this algorithm, got {execution.storage!r}.")
    if execution.threads > 1 and not threads:
        raise ParameterError(f"The 'threads' parameter must be 0 or 1 with this algorithm, got {execution.threads!r}.")
