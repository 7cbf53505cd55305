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
"""Called now and then by long computations: should they end early?"""


def never() -> bool:
    """Do not end early."""
    return False


class Cost(NamedTuple):
    """Work of one iteration and of one evaluation, in numbers read from memory: about a nanosecond each."""

    iteration: float
    evaluation: float


class Execution(NamedTuple):
    """How a run is executed, which does not change what is computed."""

    backend: str = "cpu"  # or "cuda", or "auto": the faster of those that this machine has
    storage: str | None = None  # None: the engine's default
    threads: int = 0  # 0: as many as pay
    folder: str | None = None  # where an algorithm may put what does not fit into memory
    device: int = 0  # which GPU
    limits: Limits = Limits()  # of the run: for algorithms that choose between others, or stop by themselves
    iterate: str = "average"  # what the run reports: for the same
    shards: Any = None  # ``engines.sharded.session.Cutting``: workers over which the game is cut


PLAYED, FACED, NEXT = range(3)
"""Which strategies iteration t adds to the averages: those played before the update, whose regret it measures; those
that opponents learn against (player 0's new one if updates alternate); or both players' new ones."""


class Scheme(NamedTuple):
    """What iterations do: a rule for every infoset, averaging weights, turns, and which strategies are averaged."""

    rule: Minimizer | Rule
    weight: Schedule
    turns: int
    order: int = PLAYED

    def adds_new(self, player: int, alternating: int) -> bool:
        """Whether an iteration adds the new strategy of this player to its average."""
        return self.order == NEXT or (self.order == FACED and self.turns == alternating and player == 0)


class Profile(ABC):
    """Both players' strategies, where an engine has them; valid until the tables are iterated again."""

    @abstractmethod
    def evaluate(self, threads: int = 0) -> Evaluation:
        """Value, best responses and NashConv, exact for the strategies as they are stored."""

    @abstractmethod
    def host(self) -> Profile:
        """Copy the strategies to arrays of this machine, which later iterations leave alone."""

    @property
    def arrays(self) -> Any:
        """Both players' strategies as host arrays; a view where they are there already."""
        return self.host().arrays

    def replace(self, arrays: Any) -> Profile:
        """Return a profile of the same kind with other host arrays."""
        raise NotImplementedError(type(self).__name__)


class Engine(ABC):
    """One representation of one game on one backend. ``storage``: the type of the numbers kept between iterations."""

    name: ClassVar[str]
    backend: ClassVar[str] = "cpu"
    storage: str

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Work of an iteration and of an evaluation, for the evaluation schedule."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Further columns of the log: what else the engine has counted."""
        return {}

    def memory(self, scheme: Scheme) -> int:
        """Bytes that a solve takes; 0 where nobody asks."""
        return 0

    @abstractmethod
    def check(self, scheme: Scheme) -> None:
        """Reject a scheme that this engine cannot iterate."""

    @abstractmethod
    def tables(self, scheme: Scheme) -> Any:
        """Nothing learned yet, uniform strategies."""

    @abstractmethod
    def iterate(self, tables: Any, scheme: Scheme, iterations: int, stop: Stop = never) -> Any:
        """Iterate; the arrays of ``tables`` are modified in place and belong to the tables returned.

        It may end early, at an iteration's end, when ``stop()`` says so.
        """

    @abstractmethod
    def profile(self, tables: Any, scheme: Scheme, iterate: str) -> Profile:
        """Both players' "average" or "current" strategies."""

    @abstractmethod
    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """Histories entered by so many iterations."""

    @abstractmethod
    def pack(self, tables: Any, scheme: Scheme) -> Tensors:
        """The tables as named host arrays, in an order that does not depend on backend or threads."""

    @abstractmethod
    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> Any:
        """The tables that were packed; ValueError or KeyError if the arrays are not those of such tables."""


def packed(leaves: list[tuple[str, Any]]) -> Tensors:
    """Named leaves as contiguous arrays."""
    return {name: np.ascontiguousarray(leaf) for name, leaf in leaves}
