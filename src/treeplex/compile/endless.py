"""Games without an end, found by depth and by bytes before they take all memory, not by counting histories alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from treeplex.compile.memory import GIB, used
from treeplex.errors import GameError
from treeplex.games.protocol import History

DEEPEST: Final = 500_000
"""Moves of one line of play."""

DEEP: Final = 1_000
"""Moves beyond which a game that takes far more memory than its histories should is taken for endless."""

LONGEST_LINE: Final = GIB
"""Bytes of all the histories of one line of play."""

ALLOWANCE: Final = GIB // 2
"""Bytes that rules may take for tables of their own."""

BYTES_PER_HISTORY: Final = 1_000
"""What a history, its label and its place in the arrays may take on average before it is worth a look at the depth."""

CONTAINERS: Final = (tuple, list, dict, set, frozenset, str, bytes)

_FIX: Final = "it is too large or has no end: end every line with TERMINAL, and keep histories and labels small."


class Watch:
    """Looks after the walk of a game."""

    def __init__(self, name: str) -> None:
        self.name, self.before = name, used()

    def glance(self, nodes: int, depth: Callable[[], int]) -> None:
        """Refuse a game whose memory grows much faster than its number of histories, deep down a line of play."""
        grown = used() - self.before
        if grown > ALLOWANCE + BYTES_PER_HISTORY * nodes and (moves := depth()) > DEEP:
            raise GameError(
                f"{self.name} has taken {grown / GIB:.1f} GiB for {nodes + 1:,} histories, and a line of play goes on"
                f" after {moves:,} moves; {_FIX}"
            )

    def look(self, depth: int, history: History, deepest: int = DEEPEST) -> None:
        """Refuse lines of play without end, or with histories that grow too long."""
        if depth > deepest or depth * weight(history) > LONGEST_LINE:
            raise GameError(f"{self.name} has a line of play that goes on after {depth:,} moves; {_FIX}")


def weight(history: History) -> int:
    """Bytes of a history: its own and those of texts and containers in it, without what these contain."""
    parts: list[Any] = list(getattr(history, "__dict__", {}).values())
    if isinstance(history, tuple | list):
        parts += _few(history)
    counted: list[object] = [history, *(part for part in parts if isinstance(part, CONTAINERS))]
    return sum(map(sys.getsizeof, counted))


def _few(history: History) -> list[Any]:
    """The parts of a record; a long list is one part itself."""
    return list(history) if len(history) <= 100 else []
