"""``treeplex``: one command per file; an error is one line on stderr, with exit code 2."""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress
from typing import Any

import typer

from treeplex.cli import SOLVED, UNFINISHED, USAGE_ERROR, answers
from treeplex.cli.lazy import HELP_OPTIONS, Commands
from treeplex.errors import Note, SolverError, TreeplexError
from treeplex.files import reason
from treeplex.version import __version__

app = typer.Typer(
    name="treeplex",
    help="Find Nash equilibria of two-player zero-sum games of imperfect information, and prove how close they are.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=dict(HELP_OPTIONS),
)


@app.callback(invoke_without_command=True)
def about(version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True)) -> None:
    """Find Nash equilibria of two-player zero-sum games of imperfect information, and prove how close they are."""
    if version:
        typer.echo(f"treeplex {__version__}")
        raise typer.Exit


def run() -> None:
    """Run the command, and turn errors into one line; ``treeplex.cli.entry`` calls it."""
    answers.clear()
    _show_notes()
    try:
        sys.exit(app(prog_name="treeplex", standalone_mode=False) or SOLVED)
    except TreeplexError as error:
        _refuse(str(error), UNFINISHED if isinstance(error, SolverError) else USAGE_ERROR)
    except SystemExit as ended:  # typer exits with 1 if the reader is gone, as in `treeplex list | head`
        if not isinstance(ended.__context__, BrokenPipeError):
            _flushed(ended.code)
        _gone()
    except BrokenPipeError:
        _gone()
    except ImportError as error:
        _unloaded(error)
    except OSError as error:
        _unwritten(error) if error.errno else _unloaded(error)
    except MemoryError:
        _refuse("There is not enough memory. Try a smaller game, or a storage with fewer bits.")
    except Exception as error:
        message = _usage_message(error)
        if message is None:
            raise
        _refuse(message) if message else sys.exit(USAGE_ERROR)


def _show_notes() -> None:
    """Print notes as lines on stderr; other warnings are shown as usual."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, Note):
            others(message, category, *where, **more)
            return
        from treeplex.cli.output import say  # noqa: PLC0415 - takes time to load

        say(f"note: {message}")

    warnings.simplefilter("always", Note)
    warnings.showwarning = show


def _usage_message(error: Any) -> str | None:
    """Return typer's message about wrong options in our form; None if the error is not typer's."""
    if not hasattr(error, "format_message"):
        return None
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return ""
    text = " ".join(str(error.format_message()).split()).rstrip(".").replace("Value error, ", "")
    path = getattr(getattr(error, "ctx", None), "command_path", "treeplex")
    return f"{text}. See: {path} --help."


def _unloaded(error: Exception) -> None:
    """Report a library that cannot be loaded."""
    words = " ".join(str(error).split())[:150]
    _refuse(f"A required library cannot be loaded; memory or a file is missing ({words}).")


def _flushed(code: object) -> None:
    """Flush stdout and exit; report an error if the output cannot be written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return
    except OSError as error:
        _unwritten(error)
    sys.exit(code)  # pyright: ignore[reportArgumentType]


def _gone() -> None:
    """Exit successfully: the reader of the output has closed it."""
    _to_nowhere()
    sys.exit(SOLVED)


def _unwritten(error: OSError) -> None:
    """Report output that cannot be written; errors of files have their own messages."""
    _to_nowhere()
    what = f"The file {error.filename} cannot be read or written" if error.filename else "The output cannot be written"
    _refuse(f"{what}: {reason(error)}.")


def _to_nowhere() -> None:
    """Discard buffered output; Python would otherwise try to write it on exit, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(sentence: str, code: int = USAGE_ERROR) -> None:
    """Print an error on stderr; with ``--json`` also on stdout, unless the result is already there."""
    if "--json" in sys.argv and not answers:
        with suppress(OSError):
            typer.echo(json.dumps({"status": "error", "error": sentence}))
    typer.secho("error:", fg="red", bold=True, nl=False, err=True)
    typer.echo(f" {sentence}", err=True)
    sys.exit(code)
