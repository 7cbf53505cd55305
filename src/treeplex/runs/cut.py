"""Which games can be cut, and what carries out a run over the shards of one."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.cut.session import Cutting
from treeplex.algorithms.cut.shards import LostError, Shards
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import family
from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError, quoted
from treeplex.runs.request import Request

Answer = TypeVar("Answer")

RETRIES: Final = 5  # failures in a row without a checkpoint between them, after which a run gives up


class Sharding(NamedTuple):
    """Over how many workers a game is cut, and who carries calls to them."""

    shards: Shards
    workers: int
    threads: int = 1  # of each worker
    memory: int | None = None  # bytes that each may take; None: whatever it needs
    told: Callable[[str], None] | None = None  # called with a sentence about what is done


def cut(game: Any, solver: Algorithm[Any, Any], request: Request, how: Sharding, folder: str | None) -> Any:
    """The algorithm that carries out the same run over shards; refused where a game or algorithm cannot be cut."""
    if request.iterate not in ("average", "current"):
        raise ParameterError(
            f"The 'iterate' parameter must be average or current on a cluster, got {quoted(request.iterate)}."
        )
    known = [request.fingerprint, request.algorithm, solver.stored_as]
    run = hashlib.blake2b(json.dumps(known).encode(), digest_size=8).hexdigest()
    kept = None if folder is None else Path(folder)
    cutting = Cutting(how.shards, how.workers, how.threads, how.memory, request.algorithm)
    made: Any = _cut(game, solver, request, cutting, run, kept)
    if how.told is not None:
        how.told(made.described(game))
    return made


def _cut(game: Any, solver: Any, request: Request, cutting: Cutting, run: str, folder: Path | None) -> Any:
    if not isinstance(game, CompiledGame):
        from treeplex.algorithms.cut.boards import cut_spot  # noqa: PLC0415 - its kernels take time to load

        return cut_spot(game, solver, cutting, run, folder)
    if not isinstance(solver, CFR):
        raise ParameterError(
            f"On a cluster run algorithms with streams, such as 'pure-mccfr(streams=8)', and {family()}, for which a"
            f" game is cut; got {quoted(request.asked)}."
        )
    from treeplex.algorithms.cut.sequences import cut_game  # noqa: PLC0415

    return cut_game(game, solver, cutting, run, folder)


class Patience:
    """How often a run may go back to its last checkpoint."""

    def __init__(self, told: Callable[[str], None] | None) -> None:
        self._told, self._left, self._began = told, RETRIES, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the run began here."""
        return time.perf_counter() - self._began

    def renewed(self) -> None:
        """There is a new checkpoint."""
        self._left = RETRIES

    def after(self, error: LostError) -> None:
        """Go back once more, or give up."""
        if self._left == 0:
            raise error
        self._left -= 1
        if self._told is not None:
            self._told(f"{error} Going on from the last checkpoint.")
