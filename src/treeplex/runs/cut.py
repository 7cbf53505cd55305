"""Decide how the game of a run is cut into shards, and how often a run over shards is retried."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import family
from treeplex.engines.sharded.session import Cutting
from treeplex.engines.sharded.shards import LostError
from treeplex.errors import ParameterError, quoted

if TYPE_CHECKING:
    from treeplex.runs.request import Request

RETRIES: Final = 5  # failures in a row, without a new checkpoint, after which a run gives up


def cut(solver: Algorithm[Any, Any], request: Request, how: Cutting) -> Cutting:
    """Return how a run's game is cut into shards; raise if the algorithm or iterate does not allow it."""
    iterate = request.options.iterate
    if iterate not in ("average", "current"):
        raise ParameterError(f"The 'iterate' parameter must be average or current on a cluster, got {quoted(iterate)}.")
    if getattr(solver, "engine", None) is None:
        raise ParameterError(
            f"On a cluster, the algorithm must have streams, such as 'pure-mccfr(streams=8)', or be one of {family()};"
            f" got {quoted(request.choice.label)}."
        )
    known = [request.problem.fingerprint, request.choice.name, solver.storage]
    run = hashlib.blake2b(json.dumps(known).encode(), digest_size=8).hexdigest()
    return how._replace(run=run)


def describe(solver: Any, how: Cutting) -> None:
    """Report how the game is cut, if a callback is set."""
    if how.report is not None:
        engine = solver.engine
        how.report(engine.session.describe(engine.parts, engine.predicted_bytes))


class RetryBudget:
    """Number of times that a run may still return to its last checkpoint."""

    def __init__(self, notify: Callable[[str], None] | None) -> None:
        self._notify, self._left, self._began = notify, RETRIES, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the run began in this process."""
        return time.perf_counter() - self._began

    def renewed(self) -> None:
        """Refill the budget after a new checkpoint."""
        self._left = RETRIES

    def after(self, error: LostError) -> None:
        """Spend one retry, or raise ``error`` if none is left."""
        if self._left == 0:
            raise error
        self._left -= 1
        if self._notify is not None:
            self._notify(f"{error} Continuing from the last checkpoint.")
