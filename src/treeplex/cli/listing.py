"""``treeplex list``: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from treeplex.algorithms.registry import ALGORITHMS
from treeplex.cli.options import AsJson
from treeplex.cli.output import print_json, print_table
from treeplex.games.catalog import CATALOG


class Kind(StrEnum):
    """What can be listed."""

    GAMES = "games"
    ALGORITHMS = "algorithms"


def listing(
    kind: Annotated[
        Kind | None, typer.Argument(help="games or algorithms; both if left out.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the built-in games and the algorithms."""
    games = [
        {"name": entry.usage, "summary": entry.summary, "source": entry.source, "values": dict(entry.values)}
        for entry in CATALOG.values()
    ]
    algorithms = [
        {"name": entry.usage, "summary": entry.summary, "source": entry.source} for entry in ALGORITHMS.values()
    ]
    shown = {Kind.GAMES: games, Kind.ALGORITHMS: algorithms}
    if kind is not None:
        shown = {kind: shown[kind]}
    if as_json:
        print_json({str(key): entries for key, entries in shown.items()})
        return
    for key, entries in shown.items():
        rows = [[str(entry["name"]), str(entry["summary"]), str(entry["source"])] for entry in entries]
        print_table([str(key), "", "from"], rows)
        typer.echo()
    if kind in (None, Kind.GAMES):
        typer.echo(
            "Also: a Gambit .efg file, a hold'em spot (.json or .toml), or openspiel:NAME for a game of OpenSpiel."
        )
