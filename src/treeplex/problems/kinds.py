"""Kinds of problems by their names in ``run.json``; their modules are imported when needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from treeplex.games.holdem.locks import Lock
from treeplex.problems.games import GameProblem
from treeplex.problems.loading import load, loaded_spot
from treeplex.problems.protocol import EXPLORATION, GAME, GROWTH, SIZES, SPOT, Problem, ProblemRecord
from treeplex.problems.spots import SpotProblem, locked

KINDS: Final = {GAME: "games", SPOT: "spots", GROWTH: "growing", EXPLORATION: "exploring", SIZES: "sizing"}
"""The module of each kind; its ``reopen(record, folder, replacement)`` loads the problem of a run again."""


def solving(source: Any, locks: Sequence[Lock] = (), report: Callable[[int], None] | None = None) -> Problem:
    """Build the problem of solving a game or a hold'em spot."""
    game = load(source, report)
    return locked(GameProblem(game) if loaded_spot(game) is None else SpotProblem(game), locks)


def reopened(record: ProblemRecord, folder: Path, replacement: Any = None) -> Problem:
    """Load the problem of a recorded run again, or build it from the user's own object."""
    return import_module(f"treeplex.problems.{KINDS[record.kind]}").reopen(record, folder, replacement)
