"""``treeplex solve`` and ``treeplex resume``: the commands most people run."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.registry import build, with_traversal
from treeplex.cli.answer import follow, unused_folder
from treeplex.cli.options import (
    CheckpointSeconds,
    Exploitability,
    Folder,
    Iterate,
    Iterations,
    NashConv,
    Nodes,
    NoSave,
    Out,
    Seconds,
    Seed,
    Show,
    Storage,
    Threads,
)
from treeplex.cli.output import AsJson, GameName, load_game
from treeplex.runs.folder import RunFolder
from treeplex.runs.limits import Limits
from treeplex.runs.request import SPOT
from treeplex.runs.targets import nash_conv_of

Algorithm = Annotated[
    str | None, typer.Option(help="NAME or 'NAME(parameter=value,...)'. See: treeplex list algorithms. Default: cfr+.")
]
Traversal = Annotated[
    str | None,
    typer.Option(
        help="Which nodes cfr and cfr+ visit: full, partial, rbp or zero-reach-br; nothing else changes.",
        show_default=False,
    ),
]


def solve(
    game: GameName,
    algorithm: Algorithm = None,
    traversal: Traversal = None,
    nash_conv: NashConv = None,
    exploitability: Exploitability = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    iterate: Iterate = "average",
    storage: Storage = None,
    threads: Threads = 0,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 3,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Find an equilibrium and prove how close it is. Without a limit: to NashConv 0.001. Ctrl-C keeps what is done."""
    if traversal is not None:
        algorithm = with_traversal(algorithm or api.DEFAULT_ALGORITHM, traversal)
    if algorithm is not None:
        build(algorithm)  # a wrong name is said before a large game is compiled
    loaded = load_game(game)
    pot = float(loaded.spot.pot) if hasattr(loaded, "spot") else None
    limits = api.limits_of(nash_conv, exploitability, seconds, iterations, nodes, pot)
    if not limits.any:
        target = api.DEFAULT_NASH_CONV if pot is None else nash_conv_of(api.DEFAULT_SPOT_TARGET, pot)
        limits = Limits(nash_conv=target)
    wanted = algorithm or (api.DEFAULT_ALGORITHM if pot is None else api.DEFAULT_SPOT_ALGORITHM)
    folder = None if no_save else out or unused_folder(f"{loaded.name.replace(' ', '')}-{wanted}")
    raise follow(
        f"{loaded.name}, {wanted}",
        limits,
        lambda watch: api.solve(
            loaded,
            wanted,
            nash_conv=limits.nash_conv,
            seconds=seconds,
            iterations=iterations,
            nodes=nodes,
            seed=seed,
            iterate=iterate,
            storage=storage,
            threads=threads,
            out=folder,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        ),
        folder,
        show,
        as_json,
        pot,
    )


def resume(
    folder: Folder,
    nash_conv: NashConv = None,
    exploitability: Exploitability = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    threads: Threads = 0,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 3,
    as_json: AsJson = False,
) -> None:
    """Continue any run that was stopped or killed. Without a limit: to those it had."""
    request = RunFolder.open(folder).request
    pot = float(request.source["pot"]) if request.kind == SPOT else None
    limits = api.limits_of(nash_conv, exploitability, seconds, iterations, nodes, pot)
    raise follow(
        f"{request.game}, {request.asked}",
        limits if limits.any else request.limits,
        lambda watch: api.resume(
            folder,
            nash_conv=limits.nash_conv,
            seconds=seconds,
            iterations=iterations,
            nodes=nodes,
            threads=threads,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        ),
        folder,
        show,
        as_json,
        pot,
    )
