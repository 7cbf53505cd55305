"""Jobs: the forms that start them, and their progress."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, create_model

from treeplex.runs import schema
from treeplex.web.schema.common import AnswerModel, Loose, Number, RequestModel, SpotFields, Whole


def _form(name: str, listed: tuple[schema.Field, ...]) -> Any:
    """Build a form with fields of ``runs.schema``; parameters check the limits of JSON numbers later."""
    values: dict[str, Any] = {}
    for each in listed:
        kinds = set(get_args(each.type)) or {each.type}
        text = str if str in kinds else None
        number = None if kinds <= {str, type(None)} else Whole if each.type is int else Number
        kind: Any = text | number if text and number else text or number  # pyright: ignore[reportOperatorIssue]
        values[each.name] = (kind | None if type(None) in kinds else kind, Field(each.default, description=each.help))
    return create_model(name, __base__=RequestModel, **values)


SolveFields: Any = _form("SolveFields", (*schema.JOB, *schema.named("threads")))
GrowFields: Any = _form("GrowFields", (*schema.LIMITS, *schema.named("storage", "threads")))
ResumeFields: Any = _form("ResumeFields", (*schema.LIMITS, *schema.named("threads")))


class Subject(RequestModel):
    """A spot or a game to solve."""

    spot: SpotFields | None = None
    game: str | None = Field(None, description="name(parameter=value,...) of the catalog.")
    algorithm: str | None = None
    name: str | None = Field(None, description="Name of the run folder. Default: the game and a number.")


class SolveJob(Subject, SolveFields):
    """Solve a spot or a game."""

    what: Literal["solve"]
    locks: list[dict[str, Any]] | None = Field(
        None, description="Locked decisions: a line and a strategy by range, {range: {action: probability}}."
    )


class ResumeJob(ResumeFields):
    """Continue a run. The default limits are those of the run."""

    what: Literal["resume"]
    run: str


class GrowJob(Subject, GrowFields):
    """Solve and add the bet sizes that matter."""

    what: Literal["grow"]
    bets: str = Field("", description="Candidates.")
    raises: str = ""
    street: str = ""
    factor: Number = 0
    every: Whole = 0
    per_check: Whole = 0


class SizesJob(RequestModel):
    """Find the bet sizes that matter."""

    what: Literal["sizes"]
    spot: SpotFields
    keep: Whole = 1
    lose: str | Number | None = Field(
        None, description="Find the fewest sizes that lose at most this per cent of the pot."
    )
    player: str = "oop"
    street: str | None = None
    bets: str | None = None
    raises: str | None = None
    restrict: str = "bets"
    per_decision: bool = False
    counts: Whole = Field(3, description="Also find the best menus of 1, 2, ... sizes, up to this number.")
    seconds: Number | None = Field(None, description="Stop after this time, with the bounds proved so far.")
    threads: Whole = 0
    name: str | None = Field(None, description="Name of the run folder. Default: the board and a number.")


JobForm = Annotated[SolveJob | ResumeJob | GrowJob | SizesJob, Field(discriminator="what")]


class JobProgress(AnswerModel):
    """Progress of a job."""

    iteration: int
    seconds: float
    nash_conv: float | None
    percent_of_pot: float | None
    target: float | None = Field(description="NashConv to reach.")
    target_percent_of_pot: float | None
    limits: dict[str, float | None]
    compiling: bool = Field(description="Kernels are being compiled, once on this machine.")
    text: str = Field(description="The current stage in words; empty if numbers show it.")
    rows: list[list[float | None]] = Field(
        description="Iteration, seconds and NashConv of every evaluation; for finished jobs, of the last one."
    )
    additions: list[dict[str, Any]] | None = Field(description="Every size that growth has added.")


class Job(Loose):
    """A job of the queue, which runs in its own process."""

    job: str
    what: Literal["solve", "resume", "grow", "sizes"]
    title: str
    state: Literal["queued", "running", "done", "stopped", "failed", "unconfirmed"] = Field(
        description="unconfirmed: the job came with the folder, and waits for a person to start it."
    )
    stopping: bool = Field(description="A stop was requested and is in progress.")
    game: str | None = Field(description="Name of the game; null for a hold'em spot.")
    run: str | None
    error: str | None
    created: float = Field(description="Unix seconds.")
    progress: JobProgress
    result: dict[str, Any] | None = Field(description="The answer of a search for sizes.")


class JobList(AnswerModel):
    """All jobs of the queue, newest first."""

    jobs: list[Job]


class Removed(AnswerModel):
    """A job that was deleted from the list."""

    job: str
    removed: bool
