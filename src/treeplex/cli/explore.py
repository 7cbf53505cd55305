"""``treeplex explore``: learn a game too large to compile from its rules."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.explore import RESPONSES
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.options import (
    FOLDER,
    AsJson,
    CheckpointSeconds,
    Force,
    GameName,
    Iterations,
    Nodes,
    Quiet,
    Seconds,
    Seed,
    To,
    as_arguments,
)
from treeplex.cli.output import check_new, check_policy_file, say
from treeplex.runs.limits import Limits
from treeplex.system import answering

Algorithm = Annotated[str, typer.Option(help="pure-mccfr, mccfr-external, or mccfr-outcome for games of many moves.")]
Responses = Annotated[int, typer.Option(help="Walks from which each player's response is learnt, and games it plays.")]
Out = Annotated[Path | None, typer.Option(help="Keep the run in this folder, so that it can be resumed.", **FOLDER)]


def explore(
    game: GameName,
    algorithm: Algorithm = "pure-mccfr",
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    responses: Responses = RESPONSES,
    to: To = None,
    force: Force = False,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Sample a game from its rules, without compiling it; quality is estimated. Without a limit: 60 seconds."""
    check_policy_file(to)
    check_new(to, force=force)
    limits = Limits(None, seconds, iterations, nodes).otherwise(Limits(seconds=api.DEFAULT_SECONDS))
    limited = {name: value for name, value in as_arguments(limits).items() if name != "nash_conv"}
    running = partial(
        api.explore,
        game,
        algorithm,
        **limited,
        seed=seed,
        responses=responses,
        out=out,
        checkpoint_seconds=checkpoint_seconds,
    )
    screen = Screen(out, as_json, more={"file": str(to)} if to else {})
    with answering():  # what was learnt goes to the file, too, if a signal ends the run
        solution = follow(f"{game}, {algorithm}", limits, screen, running)
        if to is not None:
            solution.policy.save(to)
    if to is not None and not as_json:
        say(f"saved {to}")
    raise exit_code(limits, solution)
