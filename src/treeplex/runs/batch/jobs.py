"""Read the jobs of a batch and check them before anything runs; errors name the line."""

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
    """One requested run, described so that any machine can load it."""

    id: str
    fields: dict[str, Any]  # as in the file, except that a spot's fields are complete and paths are absolute

    @property
    def text(self) -> str:
        """The whole job as text; equal jobs have equal texts."""
        return json.dumps(self.fields, sort_keys=True)

    @property
    def spot(self) -> Spot | None:
        """The hold'em spot, or None for other games."""
        return make_spot(self.fields["spot"]) if "spot" in self.fields else None

    @property
    def limits(self) -> Limits:
        """Limits of the run; none if the job sets none."""
        pot = float(self.fields["spot"]["pot"]) if "spot" in self.fields else None
        return Options(**self.options).limits(pot)

    @property
    def source(self) -> Any:
        """The game or spot in the form that ``solve`` accepts."""
        return self.fields["spot"] if "spot" in self.fields else self.fields["game"]

    @property
    def options(self) -> dict[str, Any]:
        """Limits and options, named as the parameters of ``solve``."""
        return {field.name: self.fields[field.name] for field in JOB if field.name in self.fields}

    @property
    def targeted(self) -> bool:
        """Whether the job has a target NashConv, even if only the default."""
        return not self.limits.any or self.limits.nash_conv is not None

    def same_run(self, other: BatchJob) -> bool:
        """Whether the job would continue in the other's folder. Limits may differ."""
        limits = {field.name for field in LIMITS}
        ours, theirs = ({k: v for k, v in job.fields.items() if k not in limits} for job in (self, other))
        return ours == theirs


def jobs_of(jobs: Any) -> list[BatchJob]:
    """Read jobs from a file of JSON lines or a list of dictionaries; raise at the first that is not a job."""
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
                raise ParameterError(
                    f"The id {quoted(job.id)} is used twice; ids are names of folders and must differ."
                )
            by_id[job.id.lower()] = job
    if not by_id:
        raise ParameterError("There are no jobs.")
    return list(by_id.values())


def job_of(fields: Any) -> BatchJob:
    """Check one job, or raise; games that are not hold'em spots are not loaded here."""
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
            f" are a legal file name on every system, got {quoted(name)}."
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
    """Return the field of a game so that it is found from any folder."""
    if not isinstance(source, str):
        raise ParameterError(f"The 'game' of a job must be a name or a file, got {quoted(source)}.")
    if source.lower().endswith(FILES):
        return {"game": str(Path(source).absolute())}
    if spot_of(source) is not None:
        raise ParameterError(f"{quoted(source)} is a hold'em spot: give it as 'spot'.")
    rules_of(source)
    return {"game": source}


def _check_spot(values: dict[str, Any], choice: Choice) -> None:
    """Complete a spot's fields; raise if hold'em spots cannot be solved with the job's options."""
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
    """Return the position and the fields of each job of a file."""
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
    """Put the position of a job before any error about it."""
    try:
        yield
    except TreeplexError as error:
        raise ParameterError(f"{position}: {error}") from error
