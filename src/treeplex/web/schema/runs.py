"""Runs, their logs, and what the server is."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from treeplex.web.schema.common import Asked, Count, Loose, Told


class Presets(Told):
    """Ranges and sizes to start with."""

    ranges: dict[str, str] = Field(description="Name to the text of a range.")
    sizes: dict[str, Any] = Field(description="Name to sizes by street and player.")


class About(Told):
    """What this server is and has."""

    version: str
    directory: str = Field(description="The name of the folder that is served.")
    cores: Count
    memory_free: Count = Field(description="Bytes.")
    presets: Presets
    games: list[str]
    algorithms: list[str]
    spot_algorithms: list[str] = Field(description="Those that solve hold'em spots, the default first.")
    formats: list[str] = Field(description="Formats of spots that can be imported and exported.")


class Run(Loose):
    """A run folder below the folder that is served."""

    run: str = Field(description="Its path below the folder that is served.")
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


class Unreadable(Told):
    """A folder that is not a run treeplex can read."""

    run: str
    error: str = Field(description="One sentence: why.")


class RunList(Told):
    """All runs, newest first."""

    runs: list[Run]
    unreadable: list[Unreadable]


class WholeRun(Run):
    """A run, with what was asked and answered."""

    request: dict[str, Any] | None = Field(description="run.json")
    result: dict[str, Any] | None = Field(description="result.json, once there is an answer.")
    spot: dict[str, Any] | None = Field(description="Fields of the spot, with the sizes that growth has found.")
    files: list[str]


class LogColumns(Told):
    """One entry per evaluation."""

    iteration: list[int]
    nodes: list[int]
    seconds: list[float]
    nash_conv: list[float | None]
    percent_of_pot: list[float | None] | None


class Log(Told):
    """How NashConv fell."""

    columns: LogColumns


class OpenRun(Asked):
    """Which run to open."""

    run: str


class OpenState(Told):
    """How far opening a run has come."""

    run: str
    state: Literal["opening", "open", "failed"]
    passes: list[int] = Field(description="Passes done, and all.", min_length=2, max_length=2)
    error: str | None = None
