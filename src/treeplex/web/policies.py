"""Policies of any game by infoset, cached for searches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Final

from treeplex.arrow import ArrowError, read_parquet
from treeplex.errors import ParameterError, quoted
from treeplex.policies.policy import Policy
from treeplex.policies.strategy import TYPES, gathered

MOST_ROWS: Final = 4_000_000
MOST_BYTES: Final = 2**28  # bytes of a policy's file
CACHED: Final = 3  # policies in memory
MOST: Final = 500  # infosets in one answer


class Policies:
    """A cache of the last few policies; a file that has changed is read again."""

    def __init__(self) -> None:
        self._cache: OrderedDict[Path, tuple[Any, Policy]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, folder: Path, run: str) -> Policy:
        """Return the policy of a run."""
        path = folder / "policy.parquet"
        try:
            status = path.stat()
        except OSError:
            raise ParameterError(
                f"The run {quoted(run)} has no table of infosets, because it has no answer yet or is a hold'em spot."
            ) from None
        stamp = (status.st_mtime_ns, status.st_size)
        with self._lock:
            if path not in self._cache or self._cache[path][0] != stamp:
                self._cache[path] = stamp, _read(path, run)
            self._cache.move_to_end(path)
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
            return self._cache[path][1]


def infosets(policy: Policy, search: str, player: int | None, offset: int, most: int) -> dict[str, Any]:
    """Return ``most`` infosets from ``offset`` on, in the table's order, whose labels contain ``search``."""
    word = search.casefold()
    matches = [
        (who, label, index)
        for who in ((0, 1) if player is None else (player,))
        for label, index in policy.strategies[who].index.items()
        if word in label.casefold()
    ]
    listed: list[dict[str, Any]] = []
    for who, label, index in matches[offset : offset + min(most, MOST)]:
        plays = policy.strategies[who].at(index)
        listed.append({"player": who, "infoset": label, "actions": list(plays), "probabilities": list(plays.values())})
    return {"total": len(matches), "infosets": listed}


def _read(path: Path, run: str) -> Policy:
    if path.stat().st_size > MOST_BYTES:
        raise ParameterError(
            f"The policy of {quoted(run)} has more than {MOST_BYTES:,} bytes, which is too large to show."
        )
    try:
        return Policy("", gathered(read_parquet(path, TYPES, MOST_ROWS)))
    except (OSError, ValueError, TypeError, LookupError, ArrowError) as error:
        raise ParameterError(f"The policy of {quoted(run)} cannot be shown: {error!s:.120}.") from error
