"""An engine holds one representation of a game on one backend. It iterates a rule, and it evaluates a profile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.engines.evaluation import Evaluation
from treeplex.limits import Limits
from treeplex.tensors import Tensors
from treeplex.updates.protocol import Minimizer
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule

Array = npt.NDArray[Any]

Stop = Callable[[], bool]
"""Long computations call it now and then, and stop early if it returns True."""


def never() -> bool:
    """Return False: do not stop early."""
    return False


class Cost(NamedTuple):
    """Work of one iteration and of one evaluation, in numbers read from memory. One takes about a nanosecond."""

    iteration: float
    evaluation: float


class Execution(NamedTuple):
    """Execution options of a run. They do not change what is computed."""

    backend: str = "cpu"  # or "cuda", or "auto": the faster one on this machine
    storage: str | None = None  # None: the engine's default
    threads: int = 0  # 0: as many as make the run faster
    folder: str | None = None  # where an algorithm may store data that does not fit into memory
    device: int = 0  # index of the GPU
    limits: Limits = Limits()  # of the run, for algorithms that choose among others or stop by themselves
    iterate: str = "average"  # the iterate that the run reports, for the same algorithms
    shards: Any = None  # ``engines.sharded.session.Cutting``: workers that share the game


PLAYED, FACED, NEXT = range(3)
"""Strategies that iteration t adds to the averages.

``PLAYED``: those played before the update, whose regret it measures. ``FACED``: those that opponents learn against
(player 0's new one if updates alternate). ``NEXT``: both players' new ones."""


class Scheme(NamedTuple):
    """Definition of an iteration: a rule for every infoset, averaging weights, turns, and the strategies averaged."""

    rule: Minimizer | Rule
    weight: Schedule
    turns: int
    order: int = PLAYED

    def adds_new(self, player: int, alternating: int) -> bool:
        """Return whether an iteration adds the new strategy of this player to its average."""
        return self.order == NEXT or (self.order == FACED and self.turns == alternating and player == 0)


class Profile(ABC):
    """Both players' strategies in the memory of an engine, valid until its tables are iterated again."""

    @abstractmethod
    def evaluate(self, threads: int = 0) -> Evaluation:
        """Return value, best responses and NashConv, exact for the strategies as they are stored."""

    @abstractmethod
    def host(self) -> Profile:
        """Copy the strategies to host arrays that later iterations do not modify."""

    @property
    def arrays(self) -> Any:
        """Both players' strategies as host arrays. A view if they are on the host already."""
        return self.host().arrays

    def replace(self, arrays: Any) -> Profile:
        """Return a profile of the same kind with other host arrays."""
        raise NotImplementedError(type(self).__name__)


class Engine(ABC):
    """One representation of one game on one backend. ``storage`` is the type of the numbers between iterations."""

    name: ClassVar[str]
    backend: ClassVar[str] = "cpu"
    storage: str

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Work of an iteration and of an evaluation, for the evaluation schedule."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Further columns of the log: other quantities that the engine counts."""
        return {}

    def memory(self, scheme: Scheme) -> int:
        """Bytes that a solve takes; 0 if the engine does not report them."""
        return 0

    @abstractmethod
    def check(self, scheme: Scheme) -> None:
        """Reject a scheme that this engine cannot iterate."""

    @abstractmethod
    def tables(self, scheme: Scheme) -> Any:
        """Return tables without anything learned yet: strategies are uniform."""

    @abstractmethod
    def iterate(self, tables: Any, scheme: Scheme, iterations: int, stop: Stop = never) -> Any:
        """Run iterations. The arrays of ``tables`` are modified in place and belong to the tables returned.

        The run stops early, at the end of an iteration, if ``stop()`` returns True.
        """

    @abstractmethod
    def profile(self, tables: Any, scheme: Scheme, iterate: str) -> Profile:
        """Return both players' "average" or "current" strategies."""

    @abstractmethod
    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """Number of histories that these iterations enter."""

    @abstractmethod
    def pack(self, tables: Any, scheme: Scheme) -> Tensors:
        """Return the tables as named host arrays, in an order that does not depend on backend or threads."""

    @abstractmethod
    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> Any:
        """Return the tables that were packed. ValueError or KeyError if the arrays do not belong to such tables."""


def packed(leaves: list[tuple[str, Any]]) -> Tensors:
    """Return named leaves as contiguous arrays."""
    return {name: np.ascontiguousarray(leaf) for name, leaf in leaves}
