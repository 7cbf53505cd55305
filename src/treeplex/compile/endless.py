"""Detection of endless games by depth and by bytes, before they use all memory; counting histories is not enough."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from treeplex.compile.memory import GIB, used
from treeplex.errors import GameError
from treeplex.games.protocol import History

DEEPEST: Final = 500_000
"""Largest number of moves of one line of play."""

DEEP: Final = 1_000
"""Moves beyond which a game that uses far more memory than its histories should is considered endless."""

LONGEST_LINE: Final = GIB
"""Largest number of bytes of all histories of one line of play."""

ALLOWANCE: Final = GIB // 2
"""Bytes that the rules may use for their own tables."""

BYTES_PER_HISTORY: Final = 1_000
"""Average bytes of a history, its label and its array entries above which the depth is checked."""

CONTAINERS: Final = (tuple, list, dict, set, frozenset, str, bytes)

_FIX: Final = "it is too large or endless. End every line with TERMINAL, and keep histories and labels small."


class Watch:
    """Watches depth and memory during the walk of a game."""

    def __init__(self, name: str) -> None:
        self.name, self.before = name, used()

    def check_memory(self, nodes: int, depth: Callable[[], int]) -> None:
        """Raise GameError if memory grows much faster than the number of histories, deep down a line of play."""
        grown = used() - self.before
        if grown > ALLOWANCE + BYTES_PER_HISTORY * nodes and (moves := depth()) > DEEP:
            raise GameError(
                f"{self.name} has used {grown / GIB:.1f} GiB for {nodes + 1:,} histories, and a line of play goes on"
                f" after {moves:,} moves; {_FIX}"
            )

    def check_line(self, depth: int, history: History, deepest: int = DEEPEST) -> None:
        """Raise GameError for an endless line of play, or one whose histories grow too long."""
        if depth > deepest or depth * weight(history) > LONGEST_LINE:
            raise GameError(f"{self.name} has a line of play that goes on after {depth:,} moves; {_FIX}")


def weight(history: History) -> int:
    """Bytes of a history and of the texts and containers in it, without the contents of these."""
    parts: list[Any] = list(getattr(history, "__dict__", {}).values())
    if isinstance(history, tuple | list):
        parts += _few(history)
    counted: list[object] = [history, *(part for part in parts if isinstance(part, CONTAINERS))]
    return sum(map(sys.getsizeof, counted))


def _few(history: History) -> list[Any]:
    """Return the parts of a record; a long list counts as one part."""
    return list(history) if len(history) <= 100 else []
