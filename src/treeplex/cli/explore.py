"""``treeplex explore``: learn a game too large to compile from its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.explore import RESPONSES
from treeplex.cli.answer import say, tell
from treeplex.cli.options import CheckpointSeconds, Iterations, Nodes, Seconds, Seed
from treeplex.cli.output import AsJson, GameName
from treeplex.cli.progress import ProgressLine
from treeplex.errors import ParameterError
from treeplex.runs.limits import Limits

Algorithm = Annotated[str, typer.Option(help="pure-mccfr, mccfr-external, or mccfr-outcome for games of many moves.")]
Responses = Annotated[int, typer.Option(help="Walks from which each player's response is learnt, and games it plays.")]
To = Annotated[Path | None, typer.Option("--to", help="Save the policy here: .json or .parquet.")]
Out = Annotated[Path | None, typer.Option(help="Keep the run in this folder, so that it can be resumed.")]


def explore(
    game: GameName,
    algorithm: Algorithm = "pure-mccfr",
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    responses: Responses = RESPONSES,
    to: To = None,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    as_json: AsJson = False,
) -> None:
    """Sample a game from its rules, without compiling it; quality is estimated. Without a limit: 60 seconds."""
    if to is not None and to.suffix not in (".json", ".parquet"):
        raise ParameterError(f"The option --to must end in .json or .parquet, got {to}.")
    limits = Limits(seconds=seconds, iterations=iterations, nodes=nodes)
    if not limits.any:
        limits = Limits(seconds=api.DEFAULT_SECONDS)
    with ProgressLine(f"{game}, {algorithm}", limits) as line:
        solution = api.explore(
            game,
            algorithm,
            seconds=limits.seconds,
            iterations=iterations,
            nodes=nodes,
            seed=seed,
            responses=responses,
            out=out,
            checkpoint_seconds=checkpoint_seconds,
            watch=line.watch,
        )
    code = tell(solution, limits, out, 0, as_json, {"file": str(to)} if to else None)
    if to is not None:
        try:
            solution.policy.save(to)
        except OSError as error:
            raise ParameterError(f"The file {to} cannot be written: {error.strerror}.") from error
        if not as_json:
            say(f"saved {to}")
    raise code
