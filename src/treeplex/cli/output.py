"""What commands share: consoles, JSON lines, files, and the bar while a game is compiled."""

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

EVERY: Final = 2.0  # seconds between two lines of progress where there is no terminal
POLICY_FILES: Final = (".json", ".parquet")

console = Console(stderr=True, emoji=False)
"""Words for people."""


def say(*lines: str) -> None:
    """Words beside the answer, on stderr."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def tell(*lines: str) -> None:
    """The answer in words, on stdout, at once and in the encoding of that stream, which typer's own echo overrules."""
    for line in lines:
        print(line, flush=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """One JSON line on stdout."""
    answers.append(json.dumps(fields, allow_nan=False))
    tell(answers[-1])


def print_table(columns: list[str], rows: list[list[str]], right: Iterable[int] = ()) -> None:
    """A table on stdout, as wide as it needs to be when that is not a terminal; columns ``right`` end flush."""
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
    """Refuse a file that is already there, before anything is computed; ``force``: one that is no plain file."""
    for path in paths:
        if path is None:
            continue
        refuse_special(path)
        if not force and path.exists():
            raise ParameterError(f"The file {path} is already there; give --force to replace it, or another name.")


def check_files(*, force: bool, **paths: Path | None) -> None:
    """Files to be saved, by option: each must end in the option's name, and must be new unless ``force``."""
    for option, path in paths.items():
        if path is not None and path.suffix.lower() != f".{option}":
            raise ParameterError(f"The option --{option} must end in .{option}, got {str(path)!r:.80}.")
    check_new(*paths.values(), force=force)


def check_policy_file(path: Path | None) -> None:
    """Refuse what policies are not written to, before anything is computed."""
    if path is not None and path.suffix not in POLICY_FILES:
        raise ParameterError(f"The option --to must end in {' or '.join(POLICY_FILES)}, got {path}.")


@contextmanager
def new_folder(name: str) -> Generator[Path]:
    """The first of runs/name-1, runs/name-2, ... that is free, made at once so that no other process takes it.

    If nothing is written into it, it is removed.
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
    """A number of bytes for people."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB")):
        if size >= unit / 10:
            return f"{size / unit:,.2f} {name}"
    return f"{size / 2**10:,.1f} KiB"


def chips(ev: float | None) -> str:
    """An EV for people; no minus before a zero."""
    return "unknown" if ev is None else f"{ev:z.2f}"


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """Say what is being done: a spinner on a terminal; elsewhere a line every two seconds. Yields how to say more."""
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

    late = Timer(EVERY, lambda: None if console.is_terminal else say(what))  # for what counts nothing on its way
    late.daemon = True
    late.start()
    try:
        with console.status(what, spinner="dots") as status, announced_compilation(compiling):
            yield more
    finally:
        late.cancel()


def loaded(load: Callable[[Any, Callable[[int], None]], Any], source: str) -> Any:
    """A game, with a counter on stderr while histories are visited one by one."""
    with working(f"loading {source}") as more:
        return load(source, lambda nodes: more(f"loading {source}: {nodes:,} histories so far"))
