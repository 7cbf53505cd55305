"""``treeplex list``: list games and algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from shutil import get_terminal_size
from textwrap import wrap
from typing import Annotated, Any

import typer

from treeplex.algorithms.registry import ALGORITHMS, AlgorithmEntry
from treeplex.cli.options import AsJson
from treeplex.cli.output import print_json, tell
from treeplex.games.catalog import CATALOG


class ListKind(StrEnum):
    """Kinds of things that can be listed."""

    GAMES = "games"
    ALGORITHMS = "algorithms"


def listing(
    kind: Annotated[
        ListKind | None, typer.Argument(help="What to list: games or algorithms. Default: both.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List all algorithms by paper, with their parameters.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the built-in games and the algorithms."""
    if as_json:
        tables = {str(ListKind.GAMES): _games(), str(ListKind.ALGORITHMS): _algorithms()}
        print_json(tables if kind is None else {str(kind): tables[kind]})
        return
    if kind in (None, ListKind.GAMES):
        tell("games:", *_described(_games()), "")
    if kind in (None, ListKind.ALGORITHMS):
        tell("algorithms:", *(_by_paper() if every else _first()), "")
    if kind in (None, ListKind.GAMES):
        tell(
            "A game can also be a Gambit .efg file, a hold'em spot (.json or .toml), or",
            "openspiel:NAME. Parameters go in brackets: 'leduc(suits=true)'.",
        )


def _games() -> list[dict[str, Any]]:
    return [
        {"name": entry.usage, "summary": entry.summary, "source": entry.source, "values": dict(entry.values)}
        for entry in CATALOG.values()
    ]


def _algorithms() -> list[dict[str, Any]]:
    return [{"name": entry.usage, "summary": entry.summary, "source": entry.source} for entry in ALGORITHMS.values()]


def _first() -> Iterator[str]:
    """Yield a line for each core algorithm, and how to see the others."""
    core = [entry for entry in ALGORITHMS.values() if entry.core]
    yield from _rows([(entry.name, entry.summary, "") for entry in core])
    yield f"  {len(ALGORITHMS) - len(core)} more, with parameters: treeplex list algorithms --all"


def _by_paper() -> Iterator[str]:
    """Yield all algorithms, each below its paper, with its parameters."""
    papers: dict[str, list[AlgorithmEntry]] = {}
    for entry in ALGORITHMS.values():
        papers.setdefault(entry.paper, []).append(entry)
    indent = max(map(len, ALGORITHMS)) + 4
    for paper, entries in papers.items():
        yield f"  {paper}:"
        rows = [(f"  {one.name}", one.summary, one.usage.removeprefix(one.name)) for one in entries]
        yield from _rows(rows, indent + 2)


def _described(entries: list[dict[str, Any]]) -> Iterator[str]:
    """Yield name, summary, source and parameters of each entry."""
    names = [str(entry["name"]).partition("(")[0] for entry in entries]
    abouts = [f"{entry['summary']} ({entry['source']})" for entry in entries]
    usages = [str(entry["name"]).removeprefix(name) for name, entry in zip(names, entries, strict=True)]
    yield from _rows(list(zip(names, abouts, usages, strict=True)))


def _rows(rows: list[tuple[str, str, str]], indent: int = 0) -> Iterator[str]:
    """Yield names, descriptions, and parameters below, as wide as the terminal (COLUMNS, or 80)."""
    width = max(get_terminal_size().columns, 60)
    indent = indent or max(len(name) for name, _, _ in rows) + 4
    for name, about, usage in rows:
        first, *rest = wrap(about, width - indent, break_on_hyphens=False)
        yield f"  {name:<{indent - 2}}{first}"
        parameters = usage.strip("()").replace(",", ", ").replace(";", "; ")
        for line in [*rest, *wrap(parameters, width - indent, break_on_hyphens=False)]:
            yield " " * indent + line
