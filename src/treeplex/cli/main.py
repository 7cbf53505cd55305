"""``treeplex``: one command per file, errors as one sentence and exit code 2."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import typer

from treeplex import __version__
from treeplex.cli.compare import compare
from treeplex.cli.evaluate import evaluate
from treeplex.cli.explore import explore
from treeplex.cli.export import export
from treeplex.cli.grow import grow
from treeplex.cli.holdem import holdem
from treeplex.cli.info import info
from treeplex.cli.listing import listing
from treeplex.cli.merge import merge
from treeplex.cli.output import SOLVED, UNFINISHED, USAGE_ERROR, console, say
from treeplex.cli.reproduce import reproduce
from treeplex.cli.solve import resume, solve
from treeplex.errors import SolverError, TreeplexError
from treeplex.files import reason

app = typer.Typer(
    name="treeplex",
    help="Find Nash equilibria of two-player zero-sum games of imperfect information, and prove how close they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing)
for command in (info, solve, resume, compare, grow, evaluate, explore, merge, export, reproduce):
    app.command()(command)
app.add_typer(holdem)


@app.callback(invoke_without_command=True)
def about(version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True)) -> None:
    """Find Nash equilibria of two-player zero-sum games of imperfect information, and prove how close they are."""
    if version:
        typer.echo(f"treeplex {__version__}")
        raise typer.Exit


def run() -> None:
    """The command, whose refusals are one sentence; ``treeplex.cli.entry`` calls it."""
    try:
        app()
    except TreeplexError as error:
        _refuse(str(error), UNFINISHED if isinstance(error, SolverError) else USAGE_ERROR)
    except SystemExit as ended:  # typer's answer to a reader that has gone, as in `treeplex list | head`, is 1
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
        _refuse("There is not enough memory for this; a smaller game, or a storage with fewer bits, needs less.")


def _unloaded(error: Exception) -> None:
    """A library that is loaded when it is first needed."""
    words = " ".join(str(error).split())[:150]
    _refuse(f"A library that this needs cannot be loaded, for lack of memory or of a file ({words}).")


def _flushed(code: object) -> None:
    """End, unless what was printed cannot be written after all."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return
    except OSError as error:
        _unwritten(error)
    sys.exit(code)  # pyright: ignore[reportArgumentType]


def _gone() -> None:
    """The reader has seen enough."""
    _to_nowhere()
    sys.exit(SOLVED)


def _unwritten(error: OSError) -> None:
    """Nothing more can be printed; files have sentences of their own."""
    _to_nowhere()
    what = f"The file {error.filename} cannot be read or written" if error.filename else "The output cannot be written"
    _refuse(f"{what}: {reason(error)}.")


def _to_nowhere() -> None:
    """Forget what is still to be printed; Python would try again, and complain, when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(sentence: str, code: int = USAGE_ERROR) -> None:
    console.print("[bold red]error:[/]", end=" ")
    say(sentence)
    sys.exit(code)
