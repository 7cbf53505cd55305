"""Entry point of ``treeplex``: set up signals and streams before anything heavy is imported."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final, cast

from treeplex.system import COMMAND, Interrupted, address_space

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LEAST: Final = 2**30  # bytes of address space; libraries alone take 0.7 GB, and abort or retry forever if they get less


def main() -> None:
    """Run the command. Any signal, at any time, leads to a sentence on stderr and exit code 1."""
    COMMAND.take_over()
    _streams()
    # Nothing here calls BLAS in a loop, and OpenBLAS allocates 32 MB per thread when it is loaded. Without that memory
    # it retries forever, or sends its own process SIGINT.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code: object = 0
    exhausted = False
    try:
        _command()
    except SystemExit as ended:
        code, exhausted = ended.code, isinstance(ended.__context__, MemoryError)
    except Interrupted:
        code = 1
    if COMMAND.received:
        _say(COMMAND.sentence())
        code = code or 1
    COMMAND.hand_back()
    if exhausted:  # libraries may crash when they clean up without memory
        sys.stdout.flush()
        os._exit(2)
    sys.exit(code)  # pyright: ignore[reportArgumentType]


def _command() -> None:
    if (limit := address_space()) < LEAST:
        here = f"{limit // 2**20} MB"
        _say(
            f"error: treeplex needs 1 GB of address space, but the limit of this process is {here}. See `ulimit -v`.\n"
        )
        sys.exit(2)
    try:
        from treeplex.cli.main import run  # noqa: PLC0415 - takes a second or two
    except Exception as error:  # any error of a library without memory, or with a broken file
        words = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        _say(f"error: treeplex cannot be loaded; memory or a library is missing ({words}).\n")
        sys.exit(2)
    run()


def _streams() -> None:
    """Make streams robust: replace characters that cannot be encoded, and ignore failed writes to stderr."""
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # if a stream was closed before, the next opened file would take its number
    os.close(free)
    stdout: Any = sys.stdout  # None if it was closed
    if stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8")
    else:
        stdout.reconfigure(errors="replace")
    forgiving: Any = io.BufferedWriter(cast(Any, _Forgiving(2, "w", closefd=False)))
    encoding = getattr(sys.stderr, "encoding", "utf-8")
    sys.stderr = io.TextIOWrapper(forgiving, encoding, errors="replace", line_buffering=True)


class _Forgiving(io.FileIO):
    """A file that ignores failed writes: a terminal that is gone must not end a run."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _say(words: str) -> None:
    sys.stderr.write(words)
    sys.stderr.flush()
