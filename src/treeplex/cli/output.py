"""What commands share: consoles, JSON lines, files, and the bar while a game is compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table

from treeplex.errors import ParameterError

SOLVED, UNFINISHED, USAGE_ERROR = 0, 1, 2
SILENCE: Final = 2.0  # seconds after which a word is due where no bar is shown
POLICY_FILES: Final = (".json", ".parquet")

console = Console(stderr=True, emoji=False)
"""Words for people."""


def say(*lines: str) -> None:
    """Words for people, on stderr."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """One JSON line on stdout."""
    typer.echo(json.dumps(fields, allow_nan=False))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """A table on stdout, as wide as it needs to be when that is not a terminal."""
    out = Console(emoji=False)
    if not out.is_terminal:
        out.width = 1000
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    out.print(table, markup=False, highlight=False)


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Say in a sentence that a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise ParameterError(f"The file {path} cannot be written: {error.strerror or error}.") from error


def check_policy_file(path: Path | None) -> None:
    """Refuse what policies are not written to, before anything is computed."""
    if path is not None and path.suffix not in POLICY_FILES:
        raise ParameterError(f"The option --to must end in {' or '.join(POLICY_FILES)}, got {path}.")


def unused_folder(name: str) -> Path:
    """The first of runs/name-1, runs/name-2, ... that is free."""
    parent = Path("runs")
    stem = re.sub(r"[^\w+.=,-]+", "_", name).strip("_")
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def byte_count(size: int) -> str:
    """A number of bytes for people."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB")):
        if size >= unit / 10:
            return f"{size / unit:,.2f} {name}"
    return f"{size / 2**10:,.1f} KiB"


def loaded(load: Callable[[Any, Callable[[int], None]], Any], source: str) -> Any:
    """A game, with a counter on stderr while histories are visited one by one."""
    late = Timer(SILENCE, lambda: None if console.is_terminal else say("compiling the game; Ctrl-C stops it"))
    late.daemon = True
    late.start()
    try:
        with console.status("compiling", spinner="dots") as status:
            return load(source, lambda nodes: status.update(f"compiling: {nodes:,} histories so far"))
    finally:
        late.cancel()
