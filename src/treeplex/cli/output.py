"""What commands share: consoles, JSON lines, and the bar while a game is compiled."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from treeplex.api import load

SOLVED, UNFINISHED, USAGE_ERROR = 0, 1, 2

console = Console(stderr=True, emoji=False)
"""Words for people."""

GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="NAME or 'NAME(parameter=value,...)', an .efg or .safetensors file, openspiel:NAME. See: treeplex list.",
        show_default=False,
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines on stdout, the last one the result.")]


def print_json(fields: Mapping[str, Any]) -> None:
    """One JSON line on stdout."""
    typer.echo(json.dumps(fields, allow_nan=False))


def print_table(columns: list[str], rows: list[list[str]], title: str | None = None) -> None:
    """A table on stdout, as wide as it needs to be when that is not a terminal."""
    out = Console(emoji=False)
    if not out.is_terminal:
        out.width = 1000
    table = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    out.print(table, markup=False, highlight=False)


def load_game(source: str) -> Any:
    """Compile a game, with a counter on stderr while histories are visited one by one."""
    with console.status("compiling", spinner="dots") as status:

        def report(nodes: int) -> None:
            status.update(f"compiling: {nodes:,} histories so far")

        reporter: Callable[[int], None] = report
        return load(source, reporter)
