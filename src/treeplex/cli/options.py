"""Options shared by several commands, singly and in groups, with the names of the Python API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import typer

from treeplex.cli import complete
from treeplex.cli.output import console
from treeplex.errors import quoted
from treeplex.runs.folder_lock import folder_of
from treeplex.runs.schema import LIMIT, Field


def hush(quiet: bool) -> bool:
    """Suppress progress and all other text on stderr except errors."""
    console.quiet = quiet
    return quiet


GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="NAME or 'NAME(parameter=value,...)', an .efg or .safetensors file, a hold'em spot (.json or .toml), or"
        " openspiel:NAME. See: treeplex list.",
        show_default=False,
        autocompletion=complete.games,
    ),
]


FOLDER: Any = {"parser": folder_of, "metavar": "FOLDER"}
Folder = Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False, **FOLDER)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines on stdout; the last one is the result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=hush, help="Print only errors on stderr.")]


def whole(text: str) -> int:
    """Parse a whole number, also in forms such as 1e6."""
    try:
        return int(text)
    except ValueError:
        number = real_number(text)
    if number is None or number % 1:  # or not finite
        raise typer.BadParameter(f"{quoted(text)} is not a whole number")
    return int(number)


def real_number(text: str) -> float | None:
    """Parse a number; None if it is not one."""
    try:
        return float(text)
    except ValueError:
        return None


Show = Annotated[int, typer.Option(min=0, help="Number of infosets per player, or of bet sizes, to print.")]
To = Annotated[Path | None, typer.Option("--to", help="Save the policy to this .json or .parquet file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


NoSave = Annotated[bool, typer.Option("--no-save", help="Do not save the run.")]

Values = dict[str, Any]
"""Options by name. A ``grouped`` command replaces a parameter ``Annotated[Values, FIELDS]`` by its fields."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with one option per field, where a parameter has fields or is a dataclass of options.

    The command itself receives a dictionary of the fields' values, or the dataclass built from its values.
    """
    hints, listed = get_type_hints(command, include_extras=True), list[Parameter]()
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for name, parameter in signature(command).parameters.items():
        own = _group(hints[name])
        if own is None:
            listed.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))
        else:
            groups[name] = (dict if get_origin(hints[name]) else hints[name], [each.name for each in own])
            listed += own

    @wraps(command)
    def called(**values: Any) -> None:
        made = {name: make(**{key: values.pop(key) for key in keys}) for name, (make, keys) in groups.items()}
        command(**values, **made)

    called.__dict__["__signature__"] = Signature(listed)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return called


def _group(hint: object) -> list[Parameter] | None:
    """Return the options that a parameter stands for; None if it is one itself."""
    if is_dataclass(hint):
        own = get_type_hints(hint, include_extras=True)
        return [_parameter(each.name, each.default, own[each.name]) for each in fields(hint)]
    listed = getattr(hint, "__metadata__", ((),))[0]
    if not isinstance(listed, tuple):
        return None
    return [_parameter(each.name, each.default, _annotated(each)) for each in cast(tuple[Field, ...], listed)] or None


def _parameter(name: str, default: object, annotation: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotated(each: Field) -> Any:
    """Return the type of an option in typer's form."""
    kinds = set(get_args(each.type)) or {each.type}
    legal: dict[str, Any] = {"metavar": each.values or None}
    if Path in kinds:
        legal, kind = FOLDER, Path
    elif each.type == int | None and each.scope == LIMIT:
        legal, kind = legal | {"parser": whole}, int
    else:
        kind = str if str in kinds else float if float in kinds else int
    option = typer.Option(help=each.help, **legal)
    return Annotated[kind | None if type(None) in kinds else kind, option]
