"""Jobs: the forms that start them, and their progress."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, create_model

from treeplex.runs import schema
from treeplex.web.schema.common import Asked, Loose, Number, SpotFields, Told, Whole


def _form(name: str, listed: tuple[schema.Field, ...]) -> Any:
    """A form with fields of ``runs.schema``: a JSON number may be anything that a parameter checks later."""
    values: dict[str, Any] = {}
    for each in listed:
        kinds = set(get_args(each.type)) or {each.type}
        text = str if str in kinds else None
        number = None if kinds <= {str, type(None)} else Whole if each.type is int else Number
        kind: Any = text | number if text and number else text or number  # pyright: ignore[reportOperatorIssue]
        values[each.name] = (kind | None if type(None) in kinds else kind, Field(each.default, description=each.help))
    return create_model(name, __base__=Asked, **values)


SolveFields: Any = _form("SolveFields", (*schema.JOB, *schema.named("threads")))
GrowFields: Any = _form("GrowFields", (*schema.LIMITS, *schema.named("storage", "threads")))
ResumeFields: Any = _form("ResumeFields", (*schema.LIMITS, *schema.named("threads")))


class Subject(Asked):
    """A spot or a game to solve."""

    spot: SpotFields | None = None
    game: str | None = Field(None, description="name(parameter=value,...) of the catalog.")
    algorithm: str | None = None
    name: str | None = Field(None, description="Name of the run folder. Default: the game and a number.")


class SolveJob(Subject, SolveFields):
    """Find an equilibrium."""

    what: Literal["solve"]
    locks: list[dict[str, Any]] | None = Field(
        None, description="Locked decisions: a line, and a strategy by range: {range: {action: share}}."
    )


class ResumeJob(ResumeFields):
    """Continue a run. Default limits: those it had."""

    what: Literal["resume"]
    run: str


class GrowJob(Subject, GrowFields):
    """Solve while the bet sizes that matter are found."""

    what: Literal["grow"]
    bets: str = Field("", description="Candidates.")
    raises: str = ""
    street: str = ""
    factor: Number = 0
    every: Whole = 0
    per_check: Whole = 0


class SizesJob(Asked):
    """Which bet sizes matter."""

    what: Literal["sizes"]
    spot: SpotFields
    keep: Whole = 1
    lose: str | Number | None = Field(None, description="Per cent of the pot: the fewest sizes that lose at most this.")
    player: str = "oop"
    street: str | None = None
    bets: str | None = None
    raises: str | None = None
    restrict: str = "bets"
    per_decision: bool = False
    counts: Whole = Field(3, description="Also the best menus of 1, 2, ... up to so many sizes.")
    seconds: Number | None = Field(None, description="Stop after this time, with what is proved by then.")
    threads: Whole = 0
    name: str | None = Field(None, description="Of the run folder; left out: the board and a number.")


JobForm = Annotated[SolveJob | ResumeJob | GrowJob | SizesJob, Field(discriminator="what")]


class JobProgress(Told):
    """How far a job has come."""

    iteration: int
    seconds: float
    nash_conv: float | None
    percent_of_pot: float | None
    target: float | None = Field(description="NashConv to reach.")
    target_percent_of_pot: float | None
    limits: dict[str, float | None]
    compiling: bool = Field(description="Kernels are being compiled, once on this machine.")
    text: str = Field(description="What is being done, in words; empty where numbers say it.")
    rows: list[list[float | None]] = Field(
        description="iteration, seconds and NashConv of every evaluation; of jobs that ended, the last."
    )
    additions: list[dict[str, Any]] | None = Field(description="Of growth: every size that was added.")


class Job(Loose):
    """Something to be computed, in a process of its own."""

    job: str
    what: Literal["solve", "resume", "grow", "sizes"]
    title: str
    state: Literal["queued", "running", "done", "stopped", "failed", "unconfirmed"] = Field(
        description="unconfirmed: it came with the folder, and waits for somebody to start it."
    )
    stopping: bool = Field(description="It was told to stop and will soon.")
    game: str | None = Field(description="Its name; null: a hold'em spot.")
    run: str | None
    error: str | None
    created: float = Field(description="Unix seconds.")
    progress: JobProgress
    result: dict[str, Any] | None = Field(description="Of a search for sizes: the answer.")


class JobList(Told):
    """All jobs, newest first."""

    jobs: list[Job]


class Removed(Told):
    """A job that is no longer listed."""

    job: str
    removed: bool
