"""``treeplex grow``: which sizes matter here? Solve a game while they are found."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.growth.options import Growth
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.options import AsJson, GameName, Goal, Quiet, Saving, Show, as_arguments, grouped
from treeplex.runs.games import sized_game
from treeplex.runs.limits import Limits

Method = Annotated[str, typer.Option(help="How a size is added: by a recovery game or by regret transfer.")]
Factor = Annotated[
    float,
    typer.Option(
        help="Multiple of the threshold of proposition 1 that a new size must exceed; inf: never add; 0: 1.01 with cfr,"
        " 1 with cfr+."
    ),
]
Every = Annotated[int, typer.Option("--check-every", "--every", help="Iterations between two checks for new actions.")]
Estimate = Annotated[str, typer.Option(help="How regrets of missing sizes are estimated: transfer or best-response.")]
Discount = Annotated[
    str,
    typer.Option(
        help="How the past is weighted: recommended (22), its root, or by the bound (8). Default: recommended with cfr,"
        " root with cfr+."
    ),
]
PerCheck = Annotated[
    int, typer.Option(help="Sizes that a check adds at most; 0: one with cfr, all that pay with cfr+.")
]
Algorithm = Annotated[str, typer.Option(help="cfr or cfr+.")]
Archive = Annotated[int, typer.Option(help="Move subtrees with zero reach for this many checks to disk; 0: never.")]

Remove = Annotated[
    str,
    typer.Option(
        help="Take sizes out again: never; current: those that the current strategies, which are then the answer, do"
        " not play (cfr+ only); discard: early iterations, and sizes chosen only in them."
    ),
]


@grouped
def grow(
    *,
    game: GameName,
    goal: Goal,
    method: Method = "recovery",
    factor: Factor = 0.0,
    every: Every = 5,
    estimate: Estimate = "transfer",
    discount: Discount = "",
    algorithm: Algorithm = "cfr",
    archive: Archive = 0,
    remove: Remove = "never",
    per_check: PerCheck = 0,
    saving: Saving,
    show: Show = 12,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve a game while the bet sizes that matter are found. Without a limit: for ten seconds. Ctrl-C keeps all."""
    limits = goal.limits().otherwise(Limits(seconds=api.DEFAULT_GROWTH_SECONDS))
    growth = Growth(method, factor, every, estimate, discount, algorithm, archive, remove, per_check)
    start = sized_game(game)
    with saving.folder(f"{start.rules.name}-grow") as folder:
        running = partial(
            api.grow,
            game,
            **as_arguments(limits),
            growth=growth,
            out=folder,
            checkpoint_seconds=saving.checkpoint_seconds,
        )
        raise exit_code(limits, follow(start.name, limits, Screen(folder, as_json, show), running))
