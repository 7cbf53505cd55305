"""``treeplex solve`` and ``treeplex resume``: the commands most people run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from treeplex import api
from treeplex.algorithms.registry import build, with_traversal
from treeplex.cli import complete, options
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.output import loaded
from treeplex.errors import ParameterError
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.spot import DEFAULT_MENU
from treeplex.runs.asking import DEFAULT_ALGORITHM, default_limits, pot_of
from treeplex.runs.folder import RunFolder

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
        help="Which nodes cfr and cfr+ visit: full, partial, rbp, nested-rbp or zero-reach-br; nothing else changes.",
        show_default=False,
    ),
]

ALONE = options.Over()


@options.grouped
def solve(
    *,
    game: options.GameName,
    algorithm: Algorithm = None,
    traversal: Traversal = None,
    goal: options.Goal,
    carrying: options.Carrying,
    over: options.Over,
    saving: options.Saving,
    show: options.Show = 3,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Find an equilibrium and prove how close it is. Without a limit: to NashConv 0.001. Ctrl-C keeps what is done."""
    if traversal is not None:
        algorithm = with_traversal(algorithm or "cfr+", traversal)
    if algorithm is not None:
        build(algorithm)  # a wrong name is said before a large game is compiled
    raise solved(loaded(api.load, game), algorithm, goal, carrying, saving, show, as_json, over=over)


def solved(
    game: Any,
    algorithm: str | None,
    goal: options.Goal,
    carrying: options.Carrying,
    saving: options.Saving,
    show: int,
    as_json: bool,
    locks: Sequence[Lock] = (),
    over: options.Over = ALONE,
) -> typer.Exit:
    """Solve a game that is loaded, or a hold'em spot; returns the exit code to raise."""
    pot = pot_of(game)
    wanted = algorithm or api.default_algorithm(game)
    limits = goal.limits(pot).otherwise(default_limits(game, wanted))
    defaults = pot is not None and game.spot.has_default_sizes
    note = f"sizes: {DEFAULT_MENU}, the default menu" if defaults else ""
    with saving.folder(f"{game.name.replace(' ', '')}-{wanted}") as folder:
        start = partial(
            api.solve,
            game,
            wanted,
            **options.as_arguments(limits, carrying, over),
            locks=locks,
            out=folder,
            checkpoint_seconds=saving.checkpoint_seconds,
        )
        screen = Screen(folder, as_json, show, goal.big_blind, note=note)
        return exit_code(limits, follow(f"{game.name}, {wanted}", limits, screen, start, pot))


@options.grouped
def resume(
    *,
    folder: options.Folder,
    goal: options.Goal,
    threads: options.Threads = 0,
    backend: options.Backend = "auto",
    device: options.Device = 0,
    over: options.Over,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    show: options.Show = 3,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Continue any run that was stopped or killed, or a batch. Without a limit: to those it had."""
    if api.is_batch(folder):
        if goal.limits(1.0).any:
            raise ParameterError("The jobs of a batch have limits of their own: run it again with other jobs.")
        from treeplex.cli.batch import resumed  # noqa: PLC0415 - seldom needed

        raise resumed(folder, over.cluster, checkpoint_seconds, as_json)
    request = RunFolder.open(folder).request
    pot = float(request.source["pot"]) if request.is_spot else None
    limits = goal.limits(pot)
    start = partial(
        api.resume,
        folder,
        **options.as_arguments(limits, over),
        threads=threads,
        backend=backend,
        device=device,
        checkpoint_seconds=checkpoint_seconds,
    )
    screen, wanted = Screen(folder, as_json, show, goal.big_blind), limits.otherwise(request.limits)
    raise exit_code(wanted, follow(f"{request.game}, {request.asked}", wanted, screen, start, pot))
