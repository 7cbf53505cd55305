"""``treeplex``: one command per file, errors as one sentence and exit code 2."""

from __future__ import annotations

import sys

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
    """Entry point of the ``treeplex`` command."""
    try:
        app()
    except TreeplexError as error:
        console.print("[bold red]error:[/]", end=" ")
        say(str(error))
        sys.exit(UNFINISHED if isinstance(error, SolverError) else USAGE_ERROR)
    except SystemExit as ended:  # typer's answer to a reader that has gone, as in `treeplex list | head`, is 1
        sys.exit(SOLVED if isinstance(ended.__context__, BrokenPipeError) else ended.code)
