"""``treeplex solve`` and ``treeplex resume``: start or continue a run."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Annotated, Any

import typer

from treeplex import api
from treeplex.algorithms.registry import with_traversal
from treeplex.cli import complete, options
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.output import loaded, new_folder
from treeplex.runs.request import Request
from treeplex.runs.requests import DEFAULT_ALGORITHM, resuming, solving
from treeplex.runs.schema import RESUME, SOLVE, with_unit

Algorithm = Annotated[
    str | None,
    typer.Option(
        help=f"NAME or 'NAME(parameter=value,...)'. See: treeplex list algorithms. Default: {DEFAULT_ALGORITHM}.",
        show_default=False,
        autocompletion=complete.algorithms,
    ),
]
Traversal = Annotated[
    str | None,
    typer.Option(
        help="Nodes that cfr and cfr+ visit: full, partial, rbp, nested-rbp or zero-reach-br. The rule stays the same.",
        show_default=False,
    ),
]


@options.grouped
def solve(
    *,
    game: options.GameName,
    algorithm: Algorithm = None,
    traversal: Traversal = None,
    values: Annotated[options.Values, with_unit(SOLVE)],
    no_save: options.NoSave = False,
    show: options.Show = 3,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Find an equilibrium and prove how close it is. Default target: NashConv 0.001. Ctrl-C stops and saves."""
    if traversal is not None:
        algorithm = with_traversal(algorithm or "cfr+", traversal)
    request = loaded(lambda source, report: solving(source, algorithm, report=report, **values), game)
    raise run(request, no_save, show, as_json)


def run(request: Request, no_save: bool, show: int, as_json: bool) -> typer.Exit:
    """Execute a request, in the folder it names or in a new one; return the exit code to raise."""
    with _folder(request, no_save) as folder:
        request = replace(request, options=replace(request.options, out=folder))
        return exit_code(request.limits, follow(request, Screen(folder, as_json, show)))


def _folder(request: Request, no_save: bool) -> AbstractContextManager[Any]:
    out = request.options.out
    return nullcontext(out) if no_save or out is not None else new_folder(request.stem)


@options.grouped
def resume(
    *,
    folder: options.Folder,
    values: Annotated[options.Values, with_unit(RESUME)],
    show: options.Show = 3,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Continue a batch or any run that was stopped or killed. By default it keeps its limits."""
    if api.is_batch(folder, values):
        from treeplex.cli.batch import resumed  # noqa: PLC0415 - seldom needed

        raise resumed(folder, values["cluster"], values["checkpoint_seconds"], as_json)
    request = resuming(folder, **values)
    raise exit_code(request.limits, follow(request, Screen(folder, as_json, show)))
