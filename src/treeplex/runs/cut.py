"""Which games can be cut, and what carries out a run over the shards of one."""

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

RETRIES: Final = 5  # failures in a row without a checkpoint between them, after which a run gives up


def cut(solver: Algorithm[Any, Any], request: Request, how: Cutting) -> Cutting:
    """How a run's game is cut into shards; rejected where an algorithm or iterate does not allow it."""
    iterate = request.options.iterate
    if iterate not in ("average", "current"):
        raise ParameterError(f"The 'iterate' parameter must be average or current on a cluster, got {quoted(iterate)}.")
    if getattr(solver, "engine", None) is None:
        raise ParameterError(
            f"On a cluster run algorithms with streams, such as 'pure-mccfr(streams=8)', and {family()}, for which a"
            f" game is cut; got {quoted(request.choice.label)}."
        )
    known = [request.problem.fingerprint, request.choice.name, solver.storage]
    run = hashlib.blake2b(json.dumps(known).encode(), digest_size=8).hexdigest()
    return how._replace(run=run)


def describe(solver: Any, how: Cutting) -> None:
    """Report how the game is cut, if somebody listens."""
    if how.told is not None:
        engine = solver.engine
        how.told(engine.session.describe(engine.parts, engine.predicted_bytes))


class RetryBudget:
    """How often a run may go back to its last checkpoint."""

    def __init__(self, notify: Callable[[str], None] | None) -> None:
        self._notify, self._left, self._began = notify, RETRIES, time.perf_counter()

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
        if self._notify is not None:
            self._notify(f"{error} Going on from the last checkpoint.")
