"""Policies of any game, by infoset: read once, searched often."""

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
MOST_BYTES: Final = 2**28  # of its file
KEPT: Final = 3  # policies in memory
MOST: Final = 500  # infosets in one answer


class Policies:
    """The last few that were asked for; a file that has changed is read again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[Any, Policy]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, folder: Path, run: str) -> Policy:
        """The policy of a run."""
        path = folder / "policy.parquet"
        try:
            found = path.stat()
        except OSError:
            raise ParameterError(
                f"The run {quoted(run)} has no table of infosets: it has no answer yet, or is a hold'em spot."
            ) from None
        stamp = (found.st_mtime_ns, found.st_size)
        with self._lock:
            if path not in self._kept or self._kept[path][0] != stamp:
                self._kept[path] = stamp, _read(path, run)
            self._kept.move_to_end(path)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[path][1]


def infosets(policy: Policy, search: str, player: int | None, offset: int, most: int) -> dict[str, Any]:
    """Those whose label has ``search`` in it, in the order of the table: ``most`` of them from ``offset`` on."""
    word = search.casefold()
    found = [
        (who, label, place)
        for who in ((0, 1) if player is None else (player,))
        for label, place in policy.strategies[who].index.items()
        if word in label.casefold()
    ]
    listed: list[dict[str, Any]] = []
    for who, label, place in found[offset : offset + min(most, MOST)]:
        plays = policy.strategies[who].at(place)
        listed.append({"player": who, "infoset": label, "actions": list(plays), "probabilities": list(plays.values())})
    return {"total": len(found), "infosets": listed}


def _read(path: Path, run: str) -> Policy:
    if path.stat().st_size > MOST_BYTES:
        raise ParameterError(f"The policy of {quoted(run)} has more than {MOST_BYTES:,} bytes, too many to be shown.")
    try:
        return Policy("", gathered(read_parquet(path, TYPES, MOST_ROWS)))
    except (OSError, ValueError, TypeError, LookupError, ArrowError) as error:
        raise ParameterError(f"The policy of {quoted(run)} cannot be shown: {error!s:.120}.") from error
