"""Options of a run, each defined once. Commands, jobs of a batch and web forms are built from them.

``api`` has explicit signatures, which a test compares with these fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints

from treeplex.algorithms import options as algorithm_options
from treeplex.engines.open import AUTO, check_backend
from treeplex.errors import ParameterError, non_negative, quoted, within
from treeplex.limits import Limits, nash_conv_of
from treeplex.runs.folder_lock import folder_of

LIMIT, UNIT, IDENTITY, EXECUTION = "limit", "unit", "identity", "execution"
CLUSTER, OUTPUT = "cluster", "output"
"""Scopes: limits; their unit; what identifies a run; how it runs; on a cluster; what is written."""


class Field(NamedTuple):
    """An option, with the name that it has everywhere."""

    name: str
    type: Any
    default: Any
    help: str
    scope: str
    values: str = ""  # form of its values, as --help shows it


def _option(default: Any, help: str, scope: str, values: str = "") -> Any:
    return field(default=default, metadata={"help": help, "scope": scope, "values": values})


@dataclass(frozen=True)
class Options:
    """Every option of a run, as the user set it. Those of scope "identity" decide which run it is."""

    nash_conv: float | None = _option(None, "Target NashConv: the sum of both players' best-response gains.", LIMIT)
    exploitability: float | str | None = _option(
        None, "Target exploitability, which is half of NashConv. Hold'em spots also take 0.3%pot or 5mbb.", LIMIT
    )
    seconds: float | None = _option(None, "Time limit in seconds, not counting compilation.", LIMIT)
    iterations: int | None = _option(None, "Limit on iterations, such as 1000 or 1e6.", LIMIT, "INTEGER")
    nodes: int | None = _option(None, "Limit on nodes touched (histories entered).", LIMIT, "INTEGER")
    big_blind: float | None = _option(None, "Chips per big blind, for targets and results in mbb.", UNIT)
    seed: int = _option(0, "Seed of algorithms that draw random numbers.", IDENTITY)
    start: str = _option("uniform", "Initial strategies of the CFR family: uniform, or random by the seed.", IDENTITY)
    iterate: str = _option("average", "Strategies to report: average, current, or the best of both so far.", IDENTITY)
    storage: str | None = _option(
        None,
        "Number format: float64, float32, int16; hold'em also compressed. Default: float64 (hold'em: float32).",
        IDENTITY,
    )
    threads: int = _option(0, "Number of threads (0 = automatic). Results do not depend on it.", EXECUTION)
    backend: str = _option(AUTO, "Backend: cpu, cuda (a GPU), or auto (the faster one for this game).", EXECUTION)
    device: int = _option(0, "Index of the GPU to use, counted from 0.", EXECUTION)
    cluster: str | None = _option(
        None, "Run on a Ray cluster: auto for the local one, or an address.", CLUSTER, "auto|ADDRESS"
    )
    workers: int | None = _option(
        None, "Number of cluster workers, each with --threads threads. Default: all CPUs (or GPUs).", CLUSTER
    )
    worker_memory: str | int | None = _option(None, "Memory limit per worker, such as 8GB.", CLUSTER, "SIZE")
    out: str | Path | None = _option(None, "Folder of the run. Default: runs/GAME-ALGORITHM-N.", OUTPUT, "FOLDER")  # noqa: RUF009
    checkpoint_seconds: float = _option(30.0, "Seconds between checkpoints; longer if writing one takes long.", OUTPUT)
    watch: Callable[[Any], None] | None = None  # called a few times per second with the progress
    answer: Callable[[Any], None] | None = None  # called with the solution before it is written
    picture: bool = True  # plot NashConv, which takes longer than solving a small spot

    def __post_init__(self) -> None:
        """Check each option; errors name it."""
        Limits(self.nash_conv, self.seconds, self.iterations, self.nodes)  # checks them
        if self.big_blind is not None:
            within(float, "big_blind", self.big_blind, "a number of chips > 0", 1e-9, 1e9)
        if self.out is not None:
            object.__setattr__(self, "out", folder_of(self.out, "out"))
        object.__setattr__(self, "seed", within(int, "seed", self.seed, "an integer >= 0", 0, 2**63 - 1))
        seconds = within(float, "checkpoint_seconds", self.checkpoint_seconds, "a number >= 0", 0)
        object.__setattr__(self, "checkpoint_seconds", seconds)
        for name in ("threads", "device"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        check_backend(self.backend)
        algorithm_options.named("start", self.start, algorithm_options.STARTS)
        for name in ("workers", "worker_memory"):
            if self.cluster is None and getattr(self, name) is not None:
                raise ParameterError(f"The '{name}' parameter is only for runs on a cluster; also give 'cluster'.")
        for name in ("watch", "answer"):
            called: object = getattr(self, name)
            if called is not None and not callable(called):
                raise ParameterError(f"The '{name}' parameter must be a function, got {quoted(called)}.")

    def limits(self, pot: float | None = None) -> Limits:
        """Return the limits in payoffs, with ``exploitability`` converted to NashConv."""
        nash_conv = self.nash_conv
        if self.exploitability is not None:
            if nash_conv is not None:
                raise ParameterError("Give 'nash_conv' or 'exploitability', not both: one is twice the other.")
            nash_conv = nash_conv_of(self.exploitability, pot, self.big_blind)
        return Limits(nash_conv, self.seconds, self.iterations, self.nodes)

    def limited(self, limits: Limits) -> Options:
        """Return these options with other limits, in payoffs."""
        return replace(
            self,
            nash_conv=limits.nash_conv,
            exploitability=None,
            seconds=limits.seconds,
            iterations=limits.iterations,
            nodes=limits.nodes,
        )


def _fields_of(carrier: type) -> tuple[Field, ...]:
    hints = get_type_hints(carrier)
    return tuple(
        Field(each.name, hints[each.name], each.default, **each.metadata) for each in fields(carrier) if each.metadata
    )


OPTIONS: Final = _fields_of(Options)


def of(*scopes: str) -> tuple[Field, ...]:
    """Return the fields of these scopes."""
    return tuple(each for each in OPTIONS if each.scope in scopes)


def named(*names: str) -> tuple[Field, ...]:
    """Return the fields with these names."""
    return tuple(each for each in OPTIONS if each.name in names)


LIMITS: Final = of(LIMIT)
BIG_BLIND: Final = named("big_blind")[0]
SOLVE: Final = tuple(each for each in OPTIONS if each != BIG_BLIND)


def with_unit(listed: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields of a command whose targets may be in big blinds."""
    return tuple(each for each in OPTIONS if each in (*listed, BIG_BLIND))


RESUME: Final = (*of(LIMIT, EXECUTION, CLUSTER), *named("checkpoint_seconds"))
GROW: Final = (*LIMITS, *named("storage", "threads", "out", "checkpoint_seconds"))
OUT: Final = named("out")[0]._replace(help="Save the run in this folder, so that it can be resumed.")
EXPLORE: Final = (*named("seconds", "iterations", "nodes", "seed"), OUT, *named("checkpoint_seconds"))
SIZES: Final = (*named("seconds", "threads"), OUT, *named("checkpoint_seconds"))
JOB: Final = of(LIMIT, IDENTITY)
"""Options that a job of a batch may have besides its game and algorithm."""
