"""Options that several commands share, named as in the Python API: one by one, and in groups."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from treeplex import api
from treeplex.cli import complete
from treeplex.cli.output import console, new_folder
from treeplex.errors import quoted, within
from treeplex.runs.claim import folder_of
from treeplex.runs.limits import Limits


def hush(quiet: bool) -> bool:
    """No progress and no words beside the answer."""
    console.quiet = quiet
    return quiet


GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="NAME or 'NAME(parameter=value,...)', an .efg or .safetensors file, a hold'em spot (.json or .toml),"
        " openspiel:NAME. See: treeplex list.",
        show_default=False,
        autocompletion=complete.games,
    ),
]


def _folder(text: str | Path) -> Path:
    """As typed; an empty name would be the current folder."""
    return folder_of(text)


FOLDER: Any = {"parser": _folder, "metavar": "FOLDER"}
Folder = Annotated[Path, typer.Argument(help="A run folder.", show_default=False, **FOLDER)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines on stdout, the last one the result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=hush, help="Nothing on stderr but errors.")]
Seconds = Annotated[float | None, typer.Option(help="Time limit in seconds.")]


def whole(text: str) -> int:
    """A whole number, also such as 1e6."""
    try:
        return int(text)
    except ValueError:
        number = real_number(text)
    if number is None or number % 1:  # or not finite
        raise typer.BadParameter(f"{quoted(text)} is not a whole number")
    return int(number)


def real_number(text: str) -> float | None:
    """A number, or None."""
    try:
        return float(text)
    except ValueError:
        return None


Iterations = Annotated[
    int | None, typer.Option(parser=whole, metavar="INTEGER", help="Limit on iterations, such as 1000 or 1e6.")
]
Nodes = Annotated[int | None, typer.Option(parser=whole, metavar="INTEGER", help="Limit on nodes touched.")]
Seed = Annotated[int, typer.Option(help="For algorithms that draw random numbers.")]
Show = Annotated[int, typer.Option(min=0, help="How many infosets per player, or sizes found, to print.")]
Threads = Annotated[int, typer.Option(help="Threads; 0: as many as pay. Does not change the answer.")]
Backend = Annotated[str, typer.Option(help="cpu, cuda (a GPU), or auto: the faster one.")]
Device = Annotated[int, typer.Option(help="Which GPU, counted from 0.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Carry it out on a Ray cluster: auto (the one this machine is of) or its address.",
        metavar="auto|ADDRESS",
        show_default=False,
    ),
]
CheckpointSeconds = Annotated[float, typer.Option(help="Seconds between two checkpoints; more if writing takes long.")]
To = Annotated[Path | None, typer.Option("--to", help="Save the policy here: .json or .parquet.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are already there.")]


@dataclass(frozen=True)
class Goal:
    """When to stop."""

    nash_conv: Annotated[
        float | None, typer.Option(help="Target NashConv: the sum of both players' best-response gains.")
    ] = None
    exploitability: Annotated[
        str | None,
        typer.Option(
            "--exploitability",
            help="Target exploitability, half of NashConv; for a hold'em spot also such as 0.3%pot or 5mbb.",
        ),
    ] = None
    big_blind: Annotated[
        float | None, typer.Option(help="Chips of a big blind, to count in thousandths of it (mbb).")
    ] = None
    seconds: Seconds = None
    iterations: Iterations = None
    nodes: Nodes = None

    def limits(self, pot: float | None = None) -> Limits:
        """As the Python API has them; ``pot``: of a hold'em spot."""
        if self.big_blind is not None:
            within(float, "big_blind", self.big_blind, "a number of chips > 0", 1e-9, 1e9)
        given = Limits(self.nash_conv, self.seconds, self.iterations, self.nodes)
        return api.limits_of(given, self.exploitability, pot, self.big_blind)


@dataclass(frozen=True)
class Carrying:
    """How a run is carried out."""

    seed: Seed = 0
    iterate: Annotated[str, typer.Option(help="Report the average, the current or the best strategies so far.")] = (
        "average"
    )
    storage: Annotated[
        str | None, typer.Option(help="float64, float32 or int16; the engine's own default if left out.")
    ] = None
    threads: Threads = 0
    backend: Backend = "auto"
    device: Device = 0


@dataclass(frozen=True)
class Over:
    """Over which machines a run is carried out."""

    cluster: Cluster = None
    workers: Annotated[
        int | None, typer.Option(help="Of the cluster, each with --threads of its own. Default: all CPUs, or GPUs.")
    ] = None
    worker_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="What each worker may take, such as 8GB.")
    ] = None


@dataclass(frozen=True)
class Saving:
    """Where a run is kept."""

    out: Annotated[Path | None, typer.Option(help="The run folder; runs/GAME-ALGORITHM-N if left out.", **FOLDER)] = (
        None
    )
    checkpoint_seconds: CheckpointSeconds = 30.0
    no_save: Annotated[bool, typer.Option("--no-save", help="Do not save the run.")] = False

    def folder(self, name: str) -> AbstractContextManager[Path | None]:
        """The one asked for, or the first of runs/name-1, runs/name-2, ... that is free."""
        return nullcontext(self.out) if self.no_save or self.out else new_folder(name)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as options: a parameter that is a dataclass is put together again."""
    hints, listed = get_type_hints(command, include_extras=True), list[Parameter]()
    groups = {name: hints[name] for name in signature(command).parameters if is_dataclass(hints[name])}
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            own = get_type_hints(groups[name], include_extras=True)
            listed += [
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=own[field.name])
                for field in fields(groups[name])
            ]
        else:
            listed.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @wraps(command)
    def called(**given: Any) -> None:
        parts = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **parts)

    called.__dict__["__signature__"] = Signature(listed)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return called


def as_arguments(*groups: Limits | Carrying | Over) -> dict[str, Any]:
    """Limits and options by the names that the Python API gives them."""
    return {name: value for group in groups for name, value in asdict(group).items()}
