"""``treeplex``: one command per file, errors as one sentence and exit code 2."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

from treeplex.cli import SOLVED, UNFINISHED, USAGE_ERROR, answers
from treeplex.cli.lazy import HELP_OPTIONS, Commands
from treeplex.errors import SolverError, TreeplexError
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
def about(version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True)) -> None:
    """Find Nash equilibria of two-player zero-sum games of imperfect information, and prove how close they are."""
    if version:
        typer.echo(f"treeplex {__version__}")
        raise typer.Exit


def run() -> None:
    """Entry point of the ``treeplex`` command."""
    answers.clear()
    try:
        sys.exit(app(prog_name="treeplex", standalone_mode=False) or SOLVED)
    except TreeplexError as error:
        refuse(str(error))
        sys.exit(UNFINISHED if isinstance(error, SolverError) else USAGE_ERROR)
    except SystemExit as ended:  # typer's answer to a reader that has gone, as in `treeplex list | head`, is 1
        sys.exit(SOLVED if isinstance(ended.__context__, BrokenPipeError) else ended.code)
    except Exception as error:
        message = usage_message(error)
        if message is None:
            raise
        if message:
            refuse(message)
        sys.exit(USAGE_ERROR)


def refuse(sentence: str) -> None:
    """One line on stderr; with ``--json`` also on stdout, unless the answer is there already."""
    if "--json" in sys.argv and not answers:
        typer.echo(json.dumps({"status": "error", "error": sentence}))
    typer.secho("error:", fg="red", bold=True, nl=False, err=True)
    typer.echo(f" {sentence}", err=True)


def usage_message(error: Any) -> str | None:
    """What typer says of options it does not understand, in our form; None if the error is not typer's."""
    if not hasattr(error, "format_message"):
        return None
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return ""
    said = " ".join(str(error.format_message()).split()).rstrip(".")
    path = getattr(getattr(error, "ctx", None), "command_path", "treeplex")
    return f"{said}. See: {path} --help."
