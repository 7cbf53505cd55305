"""``treeplex list``: what there is."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from shutil import get_terminal_size
from textwrap import wrap
from typing import Annotated, Any

import typer

from treeplex.algorithms.registry import ALGORITHMS
from treeplex.cli.options import AsJson
from treeplex.cli.output import print_json, tell
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
        tell(f"{key}:", *_described(entries), "")
    if kind in (None, Kind.GAMES):
        tell(
            "Also: a Gambit .efg file, a hold'em spot (.json or .toml), or openspiel:NAME",
            "for a game of OpenSpiel. Parameters in brackets: 'leduc(suits=true)'.",
        )


def _described(entries: list[dict[str, Any]]) -> Iterator[str]:
    """Name, summary and source of each, and its parameters below, as wide as the terminal (COLUMNS, or 80)."""
    width = max(get_terminal_size().columns, 60)
    names = [str(entry["name"]).partition("(")[0] for entry in entries]
    indent = max(map(len, names)) + 4
    for name, entry in zip(names, entries, strict=True):
        about = f"{entry['summary']} ({entry['source']})"
        first, *rest = wrap(about, width - indent)
        yield f"  {name:<{indent - 2}}{first}"
        given = str(entry["name"]).removeprefix(name).strip("()").replace(",", ", ").replace(";", "; ")
        for line in [*rest, *wrap(given, width - indent)]:
            yield " " * indent + line
