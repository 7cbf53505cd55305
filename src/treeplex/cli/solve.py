"""``treeplex solve`` and ``treeplex resume``: the commands most people run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.algorithms.registry import build, with_traversal
from treeplex.api import DEFAULT_NASH_CONV
from treeplex.api import resume as resume_folder
from treeplex.cli.answer import tell, unused_folder
from treeplex.cli.grow import resume_grow
from treeplex.cli.options import CheckpointSeconds, Iterate, Iterations, NashConv, Nodes, Seconds, Seed, Show
from treeplex.cli.output import AsJson, GameName, load_game
from treeplex.cli.progress import ProgressLine
from treeplex.errors import ParameterError
from treeplex.runs import Limits, Options, solve_game
from treeplex.runs.folder import RunFolder
from treeplex.runs.grown import is_growing_run
from treeplex.runs.grown import request as growing_request

Algorithm = Annotated[str, typer.Option(help="NAME or 'NAME(parameter=value,...)'. See: treeplex list algorithms.")]
Traversal = Annotated[
    str | None,
    typer.Option(
        help="For cfr and cfr+, walk the history tree: full, partial, rbp or zero-reach-br.", show_default=False
    ),
]
Out = Annotated[Path | None, typer.Option(help="The run folder; runs/GAME-ALGORITHM-N if left out.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Leave no run folder.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run folder.", show_default=False)]


def solve(
    game: GameName,
    algorithm: Algorithm = "cfr+",
    traversal: Traversal = None,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    iterate: Iterate = "average",
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 3,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Find an equilibrium and prove how close it is. Without a limit: to NashConv 0.001. Ctrl-C keeps what is done."""
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(nash_conv=DEFAULT_NASH_CONV)
    if out is not None and out.exists() and not out.is_dir():
        raise ParameterError(f"The option --out must name a folder, but {out} is a file.")
    if traversal is not None:
        algorithm = with_traversal(algorithm, traversal)
    build(algorithm)  # a wrong name is said before a large game is compiled
    compiled = load_game(game)
    folder = None if no_save else out or unused_folder(f"{compiled.name}-{algorithm}")
    with ProgressLine(f"{compiled.name}, {algorithm}", limits) as line:
        options = Options(seed, iterate, folder, checkpoint_seconds, line.watch)
        solution = solve_game(compiled, algorithm, limits, options)
    raise tell(solution, limits, folder, show, as_json)


def resume(
    folder: Folder,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 3,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was stopped or killed. Without a limit: to those it had."""
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if is_growing_run(folder):
        name, _, wanted = growing_request(folder)
        raise resume_grow(folder, limits, limits if limits.any else wanted, name, checkpoint_seconds, as_json)
    request = RunFolder.open(folder).request
    target = limits if limits.any else request.limits
    with ProgressLine(f"{request.game}, {request.algorithm}", target) as line:
        solution = resume_folder(
            folder,
            nash_conv=nash_conv,
            seconds=seconds,
            iterations=iterations,
            nodes=nodes,
            checkpoint_seconds=checkpoint_seconds,
            watch=line.watch,
        )
    raise tell(solution, target, folder, show, as_json)
