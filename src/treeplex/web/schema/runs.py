"""Models of runs, their logs, and the server."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from treeplex.web.schema.common import AnswerModel, Count, Loose, RequestModel


class Presets(AnswerModel):
    """Presets of ranges and sizes."""

    ranges: dict[str, str] = Field(description="Text of each range, by name.")
    sizes: dict[str, Any] = Field(description="Sizes by street and player, by name.")


class About(AnswerModel):
    """A description of the server and its machine."""

    version: str
    directory: str = Field(description="Name of the served folder.")
    cores: Count
    memory_free: Count = Field(description="Bytes.")
    presets: Presets
    games: list[str]
    algorithms: list[str]
    spot_algorithms: list[str] = Field(description="Algorithms for hold'em spots, the default first.")
    formats: list[str] = Field(description="Formats of spots that can be imported and exported.")


class Run(Loose):
    """A run folder below the served folder."""

    run: str = Field(description="Path of the run below the served folder.")
    kind: Literal["spot", "game", "growth", "exploration", "sizes"]
    game: str
    algorithm: str
    status: str = Field(
        description="solved, missed, iterations, seconds, nodes, interrupted; running; stopped: without an answer."
    )
    nash_conv: float | None
    percent_of_pot: float | None = Field(description="Exploitability, half of NashConv, in per cent of the pot.")
    iterations: int | None
    seconds: float | None
    nodes: float | None = Field(description="Nodes touched.")
    changed: float = Field(description="Unix seconds.")
    locks: Count = Field(description="Locked decisions.")
    job: str | None = Field(description="The job that works on it.")


class Unreadable(AnswerModel):
    """A folder that treeplex cannot read as a run."""

    run: str
    error: str = Field(description="One sentence with the reason.")


class RunList(AnswerModel):
    """All runs of the folder, newest first."""

    runs: list[Run]
    unreadable: list[Unreadable]


class WholeRun(Run):
    """A run with its request and its result."""

    request: dict[str, Any] | None = Field(description="run.json")
    result: dict[str, Any] | None = Field(description="result.json, once there is an answer.")
    spot: dict[str, Any] | None = Field(description="Fields of the spot, with the sizes that growth has added.")
    files: list[str]


class LogColumns(AnswerModel):
    """Columns of a log, with one entry per evaluation."""

    iteration: list[int]
    nodes: list[int]
    seconds: list[float]
    nash_conv: list[float | None]
    percent_of_pot: list[float | None] | None


class Log(AnswerModel):
    """The log of a run: NashConv by iteration."""

    columns: LogColumns


class OpenRun(RequestModel):
    """A request to open a run."""

    run: str


class OpenState(AnswerModel):
    """Progress of opening a run."""

    run: str
    state: Literal["opening", "open", "failed"]
    passes: list[int] = Field(
        description="Number of passes done, and number of all passes.", min_length=2, max_length=2
    )
    error: str | None = None
