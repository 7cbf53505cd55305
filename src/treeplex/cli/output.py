"""Output helpers of commands: consoles, JSON lines, files, and the spinner while a game is compiled."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from treeplex.cli import answers
from treeplex.errors import ParameterError
from treeplex.files import reason, refuse_special
from treeplex.system import tidied

EVERY: Final = 2.0  # seconds between two lines of progress if there is no terminal
POLICY_FILES: Final = (".json", ".parquet")

console = Console(stderr=True, emoji=False)
"""Console for text beside the result, on stderr."""


def say(*lines: str) -> None:
    """Print lines beside the result, on stderr."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def tell(*lines: str) -> None:
    """Print lines of the result on stdout, at once and in the encoding of that stream, unlike typer's echo."""
    for line in lines:
        print(line, flush=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one JSON line on stdout."""
    answers.append(json.dumps(fields, allow_nan=False))
    tell(answers[-1])


def print_table(columns: list[str], rows: list[list[str]], right: Iterable[int] = ()) -> None:
    """Print a table on stdout, without a width limit unless it is a terminal; align columns ``right`` right."""
    out = Console(emoji=False)
    if not out.is_terminal:
        out.width = 1000
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for column in right:
        table.columns[column].justify = "right"
    for row in rows:
        table.add_row(*row)
    out.print(table, markup=False, highlight=False)


def check_new(*paths: Path | None, force: bool) -> None:
    """Raise before anything is computed if a file exists; with ``force`` only if it is not a plain file."""
    for path in paths:
        if path is None:
            continue
        refuse_special(path)
        if not force and path.exists():
            raise ParameterError(f"The file {path} already exists; give --force to replace it, or another name.")


def check_files(*, force: bool, **paths: Path | None) -> None:
    """Check files to be saved, by option: each ends in the option's name and is new unless ``force``."""
    for option, path in paths.items():
        if path is not None and path.suffix.lower() != f".{option}":
            raise ParameterError(f"The option --{option} must end in .{option}, got {str(path)!r:.80}.")
    check_new(*paths.values(), force=force)


def check_policy_file(path: Path | None) -> None:
    """Raise before anything is computed if policies cannot be written to this kind of file."""
    if path is not None and path.suffix not in POLICY_FILES:
        raise ParameterError(f"The option --to must end in {' or '.join(POLICY_FILES)}, got {path}.")


@contextmanager
def new_folder(name: str) -> Generator[Path]:
    """Create the first free folder of runs/name-1, runs/name-2, ..., so that no other process uses it.

    The folder is removed again if nothing is written into it.
    """
    parent, number = Path("runs"), 1
    stem = re.sub(r"[^\w+.=,-]+", "_", name).strip("_")
    try:
        parent.mkdir(exist_ok=True)
        while True:
            try:
                (parent / f"{stem}-{number}").mkdir()
                break
            except FileExistsError:
                number += 1
    except OSError as error:
        raise ParameterError(f"The folder {parent} cannot be written: {reason(error)}; give --out FOLDER.") from error
    folder = parent / f"{stem}-{number}"
    with tidied(lambda: _remove_empty(folder, parent)):
        yield folder


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):  # it is not empty
            folder.rmdir()


def byte_count(size: int) -> str:
    """Format a number of bytes as KiB, MiB or GiB."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB")):
        if size >= unit / 10:
            return f"{size / unit:,.2f} {name}"
    return f"{size / 2**10:,.1f} KiB"


def chips(ev: float | None) -> str:
    """Format an EV, without a minus sign before zero."""
    return "unknown" if ev is None else f"{ev:z.2f}"


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """Show a spinner on a terminal, else a line every two seconds; yield a function that updates the text."""
    from treeplex.kernels.jit import announced_compilation  # noqa: PLC0415 - Numba takes time to load

    due = time.monotonic() + EVERY

    def more(line: str) -> None:
        nonlocal due
        status.update(line)
        if not console.is_terminal and time.monotonic() >= due:
            due = time.monotonic() + EVERY
            say(line)

    def compiling(kernels: int) -> None:
        if kernels == 1:
            from treeplex.runs.progress import COMPILING  # noqa: PLC0415 - takes time to load

            say(f"{what}: {COMPILING}")

    late = Timer(EVERY, lambda: None if console.is_terminal else say(what))  # for work that reports no counts
    late.daemon = True
    late.start()
    try:
        with console.status(what, spinner="dots") as status, announced_compilation(compiling):
            yield more
    finally:
        late.cancel()


def loaded(load: Callable[[Any, Callable[[int], None]], Any], source: str) -> Any:
    """Load a game, with a counter on stderr while histories are visited one by one."""
    with working(f"loading {source}") as more:
        return load(source, lambda nodes: more(f"loading {source}: {nodes:,} histories so far"))
