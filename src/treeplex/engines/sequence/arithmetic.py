"""How full-width CFR is computed: the storage of its numbers, and how many threads share the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import numba
import numpy as np

from treeplex.compile.game import CompiledGame, Operator
from treeplex.engines.sequence.arrays import Steps
from treeplex.engines.sequence.cpu.cfr import cfr_iterations
from treeplex.engines.sequence.cpu.cfr_compact import compact_iterations
from treeplex.engines.sequence.cpu.cfr_threads import cfr_iterations_threads
from treeplex.engines.sequence.learners import compact_newborns, newborns, scratch
from treeplex.engines.sequence.partition import Partition, partition
from treeplex.errors import ParameterError, non_negative
from treeplex.system import cores

STORAGE: Final = ("float64", "float32", "int16")
THREADS_FROM: Final = 64 * 2**20  # bytes touched in an iteration from which threads pay for their meetings


class Arithmetic(Protocol):
    """Starts learners and runs iterations."""

    @property
    def storage(self) -> str:
        """The type of the numbers that are kept."""
        ...

    def newborns(self, game: CompiledGame) -> Any:
        """Both players' learners before the first iteration."""
        ...

    def iterate(self, game: CompiledGame, learners: Any, steps: Steps, predict: float, turns: int) -> None:
        """Run ``steps``; ``learners`` are modified in place."""
        ...


@dataclass(frozen=True)
class FloatArithmetic:
    """Everything in float64 or float32, sums in float64.

    ``threads``: how many share the work; 0 means all cores for large games and one for others. The bits of the answer
    do not depend on it.
    """

    storage: str = "float64"
    threads: int = 0

    def newborns(self, game: CompiledGame) -> Any:
        """As ``Arithmetic``."""
        return newborns(game, np.dtype(self.storage))

    def iterate(self, game: CompiledGame, learners: Any, steps: Steps, predict: float, turns: int) -> None:
        """As ``Arithmetic``."""
        operator, values = _operator(game, self.storage), scratch(game, np.dtype(self.storage))
        threads = self._workers(game)
        if threads == 1:
            cfr_iterations(game.treeplexes, operator, learners, values, steps, predict, turns)
            return
        numba.set_num_threads(threads)
        worth = (np.empty(game.treeplexes[0].infosets), np.empty(game.treeplexes[1].infosets))  # float64: it is a sum
        cuts = _cuts(game, threads)
        cfr_iterations_threads(game.treeplexes, operator, cuts, learners, values, worth, steps, predict, turns)

    def _workers(self, game: CompiledGame) -> int:
        work = game.operator.nbytes + 40 * sum(treeplex.sequences for treeplex in game.treeplexes)
        wanted = self.threads or (cores() if work >= THREADS_FROM else 1)
        return min(wanted, numba.config.NUMBA_NUM_THREADS)  # pyright: ignore


@dataclass(frozen=True)
class CompactArithmetic:
    """Regrets as 16-bit integers with one scale per infoset, the rest in float64."""

    storage: str = "int16"

    def newborns(self, game: CompiledGame) -> Any:
        """As ``Arithmetic``."""
        return compact_newborns(game)

    def iterate(self, game: CompiledGame, learners: Any, steps: Steps, predict: float, turns: int) -> None:
        """As ``Arithmetic``; no prediction."""
        compact_iterations(game.treeplexes, game.operator, learners, scratch(game), steps, turns)


def arithmetic(storage: object, threads: object, *, predictive: bool = False) -> Arithmetic:
    """The arithmetic with this storage and number of threads."""
    legal = STORAGE[:2] if predictive else STORAGE
    storage = STORAGE[0] if storage is None else storage
    if not isinstance(storage, str) or storage not in legal:
        raise ParameterError(f"The 'storage' parameter must be one of {', '.join(legal)}, got {storage!r}.")
    workers = non_negative("threads", threads)
    if storage != "int16":
        return FloatArithmetic(storage, workers)
    if workers > 1:
        raise ParameterError(f"The 'threads' parameter must be 0 or 1 with storage int16, got {threads!r}.")
    return CompactArithmetic()


_PREPARED: WeakKeyDictionary[CompiledGame, dict[object, Any]] = WeakKeyDictionary()
"""What was derived from a game for one kind of arithmetic; goes when the game goes."""


def _operator(game: CompiledGame, dtype: str) -> Operator:
    """The payoff operator with its numbers in ``dtype``."""
    if dtype == "float64":
        return game.operator
    known = _PREPARED.setdefault(game, {})
    if dtype not in known:
        sides: list[Any] = [
            side._replace(
                **{key: array.astype(dtype) for key, array in side._asdict().items() if array.dtype == np.float64}
            )
            for side in game.operator
        ]
        known[dtype] = type(game.operator)(*sides)
    return known[dtype]


def _cuts(game: CompiledGame, threads: int) -> tuple[Partition, Partition]:
    known = _PREPARED.setdefault(game, {})
    if threads not in known:
        known[threads] = tuple(
            partition(treeplex, side.start, threads)
            for treeplex, side in zip(game.treeplexes, game.operator, strict=True)
        )
    return known[threads]
