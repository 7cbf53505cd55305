"""What was asked for: which run this is, and how it is to be carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from treeplex.algorithms.protocol import ITERATES
from treeplex.errors import ParameterError, quoted, real, within
from treeplex.runs.limits import Limits
from treeplex.version import __version__

GAME, SPOT, GROWTH, EXPLORATION, SIZES = "game", "spot", "growth", "exploration", "sizes"
KINDS: Final = (GAME, SPOT, GROWTH, EXPLORATION, SIZES)
UNTARGETED: Final = {
    EXPLORATION: "explore: it is only estimated",
    SIZES: "sizes: every menu has a game of its own; give seconds",
}
"""Kinds of runs that have no target NashConv, and why."""
IDENTITY: Final = ("kind", "game", "fingerprint", "algorithm", "seed", "storage", "iterate", "options")
"""What makes a run this run. Limits, threads, backend and version are recorded beside it and may change."""


@dataclass(frozen=True)
class Request:
    """A run, as ``run.json`` records it."""

    kind: str  # of game: see KINDS
    game: str  # its name
    source: Any  # how to load it again: a name, a spot's fields; None: from game.safetensors in the folder
    fingerprint: str
    algorithm: str  # with every parameter
    asked: str  # the algorithm as the user wrote it
    seed: int = 0
    storage: str | None = None
    iterate: str = "average"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # locks of a spot, how an abstraction grows
    limits: Limits = field(default_factory=Limits)
    threads: int = 0
    backend: str = "cpu"
    version: str = __version__

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"The kind of a run must be one of {', '.join(KINDS)}, got {quoted(self.kind)}.")
        object.__setattr__(self, "seed", seed_of(self.seed))

    @property
    def is_spot(self) -> bool:
        """Is it about a hold'em spot, whether that is solved or grows?"""
        return self.kind == SPOT or isinstance(self.source, dict)

    @property
    def identity(self) -> dict[str, Any]:
        """Two requests with the same identity are the same run."""
        every = asdict(self)
        return json.loads(json.dumps({name: every[name] for name in IDENTITY}))

    @staticmethod
    def of(record: Mapping[str, Any]) -> Request:
        """From the fields of ``run.json``; ValueError, KeyError or TypeError if they are not a request's."""
        json.dumps(record, ensure_ascii=False).encode()  # half a character cannot be written down again
        known = {entry.name for entry in fields(Request)}
        strange = set(record) - known
        if strange:
            raise ValueError(f"{min(strange)!r} is not a field of a run")
        given: dict[str, Any] = dict(record)
        given["limits"] = Limits(**record["limits"])
        request = Request(**given)
        if not isinstance(request.options, dict):
            raise ValueError("options must be a table")
        words: list[Any] = [request.game, request.algorithm, request.asked, request.fingerprint]
        if not all(isinstance(word, str) for word in words):
            raise ValueError("game, algorithm and fingerprint must be text")
        if not isinstance(request.options.get("locks", []), list):
            raise ValueError("locks must be a list")
        if request.is_spot and not (real(request.source["pot"]) or 0.0) > 0.0:
            raise ValueError("the pot of a spot must be a number > 0")
        return request


def seed_of(seed: Any) -> int:
    """A seed, or a refusal."""
    return within(int, "seed", seed, "an integer >= 0", 0, 2**63 - 1)


def check_iterate(iterate: Any, legal: tuple[str, ...] = ITERATES) -> None:
    """Refuse what is not one of an algorithm's iterates."""
    if iterate not in legal:
        names = ", ".join(f'"{name}"' for name in legal)
        raise ParameterError(f"The 'iterate' parameter must be one of {names}, got {quoted(iterate)}.")
