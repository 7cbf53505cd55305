"""``treeplex explore``: learn a game too large to compile from its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.api import rules
from treeplex.cli.options import Iterations, Nodes, Seconds, Seed
from treeplex.cli.output import SOLVED, UNFINISHED, AsJson, GameName, console, print_json, print_table
from treeplex.errors import ParameterError
from treeplex.runs.explore import RESPONSES, Exploration, Moment, explore_game
from treeplex.runs.limits import Limits

Algorithm = Annotated[str, typer.Option(help="pure-mccfr, mccfr-external, or mccfr-outcome for games of many moves.")]
Responses = Annotated[int, typer.Option(help="Walks from which each player's response is learnt, and games it plays.")]
To = Annotated[Path | None, typer.Option("--to", help="Write the policy here: .json or .parquet.")]


def explore(
    game: GameName,
    algorithm: Algorithm = "pure-mccfr",
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    responses: Responses = RESPONSES,
    to: To = None,
    as_json: AsJson = False,
) -> None:
    """Sample a game from its rules, without compiling it; quality is estimated. Without a limit: 60 seconds."""
    if to is not None and to.suffix not in (".json", ".parquet"):
        raise ParameterError(f"The option --to must end in .json or .parquet, got {to}.")
    limits = Limits(seconds=seconds, iterations=iterations, nodes=nodes)
    if not limits.any:
        limits = Limits(seconds=60.0)
    with console.status(f"{game}: exploring", spinner="dots") as status:

        def watch(moment: Moment) -> None:
            status.update(
                f"{game}: {moment.what}, {moment.iteration:,} walks a player, {moment.infosets:,} infosets,"
                f" {moment.seconds:.0f} s"
            )

        found = explore_game(rules(game), algorithm, limits, seed, responses, watch)
    if to is not None:
        try:
            found.policy.save(to)
        except OSError as error:
            raise ParameterError(f"The file {to} cannot be written: {error.strerror}.") from error
    if as_json:
        print_json(found.summary() | ({"file": str(to)} if to else {}))
    else:
        _describe(found, to)
    raise typer.Exit(UNFINISHED if found.status == "interrupted" else SOLVED)


def _describe(found: Exploration, to: Path | None) -> None:
    visited = " + ".join(f"{len(strategy.infosets):,}" for strategy in found.policy.strategies)
    console.print(
        f"{found.game}, {found.algorithm}: {found.iterations:,} iterations, {found.nodes_touched:,} histories,"
        f" {visited} infosets visited, {found.seconds:.1f} s",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    rows = [
        ["value for player 0, sampled", f"{found.value.mean:.4g} ± {1.96 * found.value.error:.2g}"],
        ["NashConv at least, sampled", f"{found.nash_conv_at_least:.4g} ± {found.margin:.2g}"],
    ]
    print_table(["", "95 % interval"], rows)
    if to:
        console.print(f"wrote {to}", highlight=False)
