"""``treeplex grow``: which sizes matter here? Solve a game while they are found."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.growth.options import Growth
from treeplex.cli.answer import follow, unused_folder
from treeplex.cli.options import (
    CheckpointSeconds,
    Exploitability,
    Iterations,
    NashConv,
    Nodes,
    NoSave,
    Out,
    Seconds,
    Show,
)
from treeplex.cli.output import AsJson, GameName
from treeplex.runs.games import sized_game
from treeplex.runs.limits import Limits

Method = Annotated[str, typer.Option(help="How a size is added: by a recovery game or by regret transfer.")]
Factor = Annotated[
    float, typer.Option(help="Multiple of the threshold of proposition 1 that a new size must exceed; inf: never add.")
]
Every = Annotated[int, typer.Option("--check-every", "--every", help="Iterations between two checks for new actions.")]
Estimate = Annotated[str, typer.Option(help="How regrets of missing sizes are estimated: transfer or best-response.")]
Discount = Annotated[str, typer.Option(help="How the past is weighted: recommended (22) or by the bound (8).")]
Algorithm = Annotated[str, typer.Option(help="cfr or cfr+.")]
Archive = Annotated[int, typer.Option(help="Move subtrees with zero reach for this many checks to disk; 0: never.")]


def grow(
    game: GameName,
    nash_conv: NashConv = None,
    exploitability: Exploitability = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    method: Method = "recovery",
    factor: Factor = 1.01,
    every: Every = 5,
    estimate: Estimate = "transfer",
    discount: Discount = "recommended",
    algorithm: Algorithm = "cfr",
    archive: Archive = 0,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 12,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Solve a game while the bet sizes that matter are found. Without a limit: for ten seconds. Ctrl-C keeps all."""
    limits = api.limits_of(nash_conv, exploitability, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(seconds=api.DEFAULT_GROWTH_SECONDS)
    growth = Growth(method, factor, every, estimate, discount, algorithm, archive)
    start = sized_game(game)
    folder = None if no_save else out or unused_folder(f"{start.rules.name}-grow")
    raise follow(
        start.name,
        limits,
        lambda watch: api.grow(
            game,
            nash_conv=limits.nash_conv,
            seconds=limits.seconds,
            iterations=iterations,
            nodes=nodes,
            growth=growth,
            out=folder,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        ),
        folder,
        show,
        as_json,
    )
