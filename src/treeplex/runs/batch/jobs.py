"""Jobs of a batch, read and checked before anything runs: whatever is wrong is said with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from treeplex.algorithms.registry import Choice, choose
from treeplex.compile.source import rules_of
from treeplex.errors import ParameterError, TreeplexError, brief, quoted
from treeplex.files import parse_json
from treeplex.games.holdem.spot import Spot, make_spot
from treeplex.limits import Limits
from treeplex.problems.loading import spot_of
from treeplex.problems.spots import fit_spot
from treeplex.runs.request import check_iterate
from treeplex.runs.requests import DEFAULT_ALGORITHM
from treeplex.runs.schema import JOB, LIMITS, Options
from treeplex.spec import unknown
from treeplex.updates.storage import STORAGES

FIELDS: Final = ("id", "game", "spot", "algorithm", *(field.name for field in JOB))
ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+.=,-]{0,79}(?<!\.)")
RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # names of devices on Windows
FILES: Final = (".efg", ".safetensors")


class BatchJob(NamedTuple):
    """One run that is asked for, in words that any machine understands."""

    id: str
    fields: dict[str, Any]  # as in the file, but for a spot's fields, which are whole, and paths, which are absolute

    @property
    def text(self) -> str:
        """All of it, the same for the same job."""
        return json.dumps(self.fields, sort_keys=True)

    @property
    def spot(self) -> Spot | None:
        """The hold'em spot, if it is one."""
        return make_spot(self.fields["spot"]) if "spot" in self.fields else None

    @property
    def limits(self) -> Limits:
        """When to stop; nothing if the job does not say so."""
        pot = float(self.fields["spot"]["pot"]) if "spot" in self.fields else None
        return Options(**self.options).limits(pot)

    @property
    def source(self) -> Any:
        """The game or spot, as ``solve`` takes it."""
        return self.fields["spot"] if "spot" in self.fields else self.fields["game"]

    @property
    def options(self) -> dict[str, Any]:
        """Limits and options by the names that ``solve`` has for them."""
        return {field.name: self.fields[field.name] for field in JOB if field.name in self.fields}

    @property
    def targeted(self) -> bool:
        """Has it a target NashConv, be it the default?"""
        return not self.limits.any or self.limits.nash_conv is not None

    def same_run(self, other: BatchJob) -> bool:
        """Would it go on in the other's folder? Limits may change."""
        limits = {field.name for field in LIMITS}
        ours, theirs = ({k: v for k, v in job.fields.items() if k not in limits} for job in (self, other))
        return ours == theirs


def jobs_of(jobs: Any) -> list[BatchJob]:
    """Jobs from a file of JSON lines, or from a list of dictionaries; refuses the first that is not one."""
    if isinstance(jobs, str | Path):
        named = _lines(Path(jobs))
    elif isinstance(jobs, Iterable) and not isinstance(jobs, Mapping):
        named = [(f"job {i}", fields) for i, fields in enumerate(cast(Iterable[Any], jobs), 1)]
    else:
        raise ParameterError(
            f"The 'jobs' parameter must be a file or a list of jobs, got {quoted(cast(object, jobs))}."
        )
    by_id: dict[str, BatchJob] = {}
    for position, fields in named:
        with errors_at(position):
            job = job_of(fields)
            if job.id.lower() in by_id:
                raise ParameterError(f"The id {quoted(job.id)} is there already; ids are names of folders.")
            by_id[job.id.lower()] = job
    if not by_id:
        raise ParameterError("There are no jobs.")
    return list(by_id.values())


def job_of(fields: Any) -> BatchJob:
    """One job, or a refusal; games that are not hold'em spots are not loaded here."""
    if not isinstance(fields, Mapping):
        raise ParameterError(f"A job must be a JSON object, got {quoted(fields)}.")
    values = {str(k): v for k, v in cast(Mapping[Any, Any], fields).items() if v is not None}
    for name in values:
        if name not in FIELDS:
            raise unknown("field of a job", name, FIELDS, "docs/how-to/cluster.md")
    name = values.get("id")
    if not isinstance(name, str) or not ID.fullmatch(name) or RESERVED.fullmatch(name):
        raise ParameterError(
            "The 'id' of a job must be 1 to 80 letters, digits and _ + . = , - that begin with a letter or digit and"
            f" are the name of a file anywhere, got {quoted(name)}."
        )
    if ("game" in values) == ("spot" in values):
        raise ParameterError("A job must have either a 'game' or a 'spot'.")
    algorithm = values.get("algorithm", DEFAULT_ALGORITHM)
    if not isinstance(algorithm, str):
        raise ParameterError(f"The 'algorithm' parameter must be a name, got {quoted(algorithm)}.")
    choice = choose(algorithm)
    Options(seed=values.get("seed", 0))
    check_iterate(values.get("iterate", "average"), choice.algorithm.iterates)
    if "game" in values:
        values |= _game(values["game"])
    if "spot" in values:
        _check_spot(values, choice)
    job = BatchJob(name, values)
    _ = job.text, job.limits
    return job


def _game(source: Any) -> dict[str, Any]:
    """A game by what finds it from any folder."""
    if not isinstance(source, str):
        raise ParameterError(f"The 'game' of a job must be a name or a file, got {quoted(source)}.")
    if source.lower().endswith(FILES):
        return {"game": str(Path(source).absolute())}
    if spot_of(source) is not None:
        raise ParameterError(f"{quoted(source)} is a hold'em spot: give it as 'spot'.")
    rules_of(source)
    return {"game": source}


def _check_spot(values: dict[str, Any], choice: Choice) -> None:
    """Make a spot's fields whole; refuse what hold'em spots are not solved by."""
    spot = spot_of(values["spot"])
    if spot is None:
        raise ParameterError(f"The 'spot' of a job must be its fields or a file, got {quoted(values['spot'])}.")
    values["spot"] = json.loads(json.dumps(spot.summary()))
    storage = values.get("storage")
    if storage is not None and storage not in STORAGES:
        raise ParameterError(f"The 'storage' parameter must be one of {', '.join(STORAGES)}, got {quoted(storage)}.")
    scheme: Any = getattr(fit_spot(choice).algorithm, "scheme", None)
    if scheme is not None:
        from treeplex.engines.boards.tables import check_scheme  # noqa: PLC0415 - its kernels take time to load

        check_scheme(scheme, storage or "float32")


def _lines(path: Path) -> list[tuple[str, Any]]:
    """Where each job of a file is, and its fields."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or brief(str(error))
        raise ParameterError(f"The file of jobs {quoted(path)} cannot be read: {words}.") from error
    lines: list[tuple[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            position = f"{path}, line {number}"
            with errors_at(position):
                try:
                    lines.append((position, parse_json(line)))
                except ValueError as error:
                    raise ParameterError(f"not JSON ({brief(str(error))}).") from error
    return lines


@contextmanager
def errors_at(position: str) -> Generator[None]:
    """Whatever is wrong with a job is told with its place."""
    try:
        yield
    except TreeplexError as error:
        raise ParameterError(f"{position}: {error}") from error
