"""Requests and their records: a ``Request`` goes to the run loop, and its ``Record`` into ``run.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, cast

from treeplex.algorithms.protocol import ITERATES, Algorithm
from treeplex.algorithms.registry import Choice
from treeplex.engines.open import CPU
from treeplex.engines.sharded.session import Cutting
from treeplex.errors import ParameterError, quoted, real
from treeplex.limits import Limits
from treeplex.problems.kinds import KINDS
from treeplex.problems.protocol import SIZES, SPOT, Problem
from treeplex.problems.spots import named_on_spots
from treeplex.runs.schema import IDENTITY as CHOSEN
from treeplex.runs.schema import Options, of
from treeplex.version import __version__

IDENTITY: Final = ("kind", "game", "fingerprint", "algorithm", "seed", "storage", "iterate", "options")
"""Fields that identify a run. Limits, threads, backend and version are recorded, but may change."""


@dataclass(frozen=True)
class Record:
    """A run as recorded in ``run.json``."""

    kind: str  # of problem: see ``problems.kinds``
    game: str  # the problem's name
    source: Any  # how to load it again: a name, fields of a spot or spots; None: from game.safetensors in the folder
    fingerprint: str
    algorithm: str  # with every parameter
    asked: str  # the algorithm as the user wrote it
    seed: int = 0
    storage: str | None = None
    iterate: str = "average"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # locks of a spot, options of growth
    limits: Limits = field(default_factory=Limits)
    threads: int = 0
    backend: str = CPU
    version: str = __version__

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"The kind of a run must be one of {', '.join(KINDS)}, got {quoted(self.kind)}.")
        object.__setattr__(self, "seed", Options(seed=self.seed).seed)

    @property
    def spot(self) -> dict[str, Any] | None:
        """Fields of the hold'em spot that was solved or grown; None for other games."""
        source: Any = self.source
        return cast(dict[str, Any], source) if isinstance(source, dict) else None

    @property
    def pot(self) -> float | None:
        """Chips in the pot of the spot; None for other games."""
        return None if self.spot is None else float(self.spot["pot"])

    @property
    def has_strategies(self) -> bool:
        """Whether the run saves strategies of one game. A search for bet sizes solves one game per menu."""
        return self.kind != SIZES

    @property
    def title(self) -> str:
        """Game and algorithm, as users wrote them."""
        return f"{self.game}, {self.asked}"

    @property
    def chosen(self) -> dict[str, Any]:
        """Options that are part of the identity, by name."""
        further = {each.name: self.options.get(each.name, each.default) for each in FURTHER}
        return {"seed": self.seed, "storage": self.storage, "iterate": self.iterate, **further}

    @property
    def identity(self) -> dict[str, Any]:
        """Fields that identify the run: records with equal identity describe the same run."""
        every = asdict(self)
        return json.loads(json.dumps({name: every[name] for name in IDENTITY}))

    @staticmethod
    def of(table: Mapping[str, Any]) -> Record:
        """Build a record from the fields of ``run.json``; raise ValueError, KeyError or TypeError if they are wrong."""
        json.dumps(table, ensure_ascii=False).encode()  # a lone surrogate could not be written again
        strange = set(table) - {entry.name for entry in fields(Record)}
        if strange:
            raise ValueError(f"{min(strange)!r} is not a field of a run")
        values: dict[str, Any] = dict(table)
        values["limits"] = Limits(**table["limits"])
        values["algorithm"] = identified(table)["algorithm"]
        record = Record(**values)
        if not isinstance(record.options, dict):
            raise ValueError("options must be a table")
        words: list[Any] = [record.game, record.algorithm, record.asked, record.fingerprint]
        if not all(isinstance(word, str) for word in words):
            raise ValueError("game, algorithm and fingerprint must be text")
        if not isinstance(record.options.get("locks", []), list):
            raise ValueError("locks must be a list")
        if record.kind == SPOT and record.spot is None:
            raise ValueError("the source of a spot must be its fields")
        if record.spot is not None and not (real(record.spot["pot"]) or 0.0) > 0.0:
            raise ValueError("the pot of a spot must be a number > 0")
        return record


FURTHER: Final = tuple(each for each in of(CHOSEN) if each.name not in Record.__dataclass_fields__)
"""Options of the identity without a field of their own; ``Record.options`` has those that are not default."""


def identified(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a run with the current name of its algorithm."""
    known = dict(table)
    if known["kind"] == SPOT and isinstance(known["algorithm"], str):
        known["algorithm"] = named_on_spots(known["algorithm"])
    return known


@dataclass(frozen=True)
class Request:
    """A run to start or to continue; nothing is computed yet."""

    problem: Problem
    choice: Choice  # the algorithm and its names
    options: Options  # with limits in payoffs
    record: Record | None = None  # of the run in ``options.out``, if it is resumed
    renewed: bool = True  # whether the limits are new, not those of the record
    cutting: Cutting | None = None  # how the game is cut over the workers of a cluster

    @property
    def title(self) -> str:
        """Game and algorithm, as users wrote them."""
        return f"{self.problem.name}, {self.choice.label}"

    @property
    def limits(self) -> Limits:
        """Limits of the run."""
        return self.options.limits()

    @property
    def stem(self) -> str:
        """Name of the run folder, to which a number is added."""
        name, noun = self.problem.name.replace(" ", ""), self.problem.noun
        return f"{name.partition('(')[0]}-{noun}" if noun else f"{name}-{self.choice.label}"

    def recorded(self, solver: Algorithm[Any, Any]) -> Record:
        """Build the record for ``run.json``; ``solver``: the algorithm as it was opened."""
        problem, options = self.problem, self.options
        values = {each.name: getattr(options, each.name) for each in FURTHER}
        further = {each.name: values[each.name] for each in FURTHER if values[each.name] != each.default}
        return Record(
            kind=problem.kind,
            game=problem.name,
            source=problem.source,
            fingerprint=problem.fingerprint,
            algorithm=self.choice.name,
            asked=self.choice.label,
            seed=options.seed,
            storage=solver.storage,
            iterate=options.iterate,
            options=problem.options | further,
            limits=self.limits,
            threads=options.threads,
            backend=solver.backend,
        )

    def watched_by(self, **listeners: Any) -> Request:
        """Return this request with other ``watch`` and ``answer`` callbacks."""
        return replace(self, options=replace(self.options, **listeners))


def check_iterate(iterate: Any, legal: tuple[str, ...] = ITERATES) -> None:
    """Raise ``ParameterError`` unless ``iterate`` is one of the algorithm's iterates."""
    if iterate not in legal:
        names = ", ".join(f'"{name}"' for name in legal)
        raise ParameterError(f"The 'iterate' parameter must be one of {names}, got {quoted(iterate)}.")
