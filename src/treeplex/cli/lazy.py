"""Commands that are imported only when called, so that ``treeplex --help`` does not load Numba and Arrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from treeplex.spec import unknown

COMMANDS: Final = {
    "list": "List the built-in games and the algorithms.",
    "info": "Show the size, memory and, if known, the value of a game.",
    "solve": "Find an equilibrium and prove how close it is.",
    "resume": "Continue a batch or any run that was stopped or killed.",
    "compare": "Run algorithms side by side and plot NashConv.",
    "batch": "Solve many games or hold'em spots, on this machine or on a cluster.",
    "grow": "Solve a game or a hold'em spot, and find the bet sizes or actions that matter.",
    "evaluate": "Measure a policy exactly: value, NashConv and best responses.",
    "explore": "Sample a game from its rules without compiling it, and estimate the quality.",
    "merge": "Average policies by reach into one, such as those of several seeds, and measure all of them.",
    "export": "Save a game to a file, or a policy in another format.",
    "reproduce": "Reproduce a figure or table of a paper.",
    "serve": "View runs, solve, compare and train in a browser.",
    "mcp": "Serve tools to an assistant over the Model Context Protocol.",
    "upi": "Control the hold'em solver with PioSOLVER's text protocol (UPI) on stdin and stdout.",
    "holdem": "Texas hold'em subgames: solve spots, show solutions, estimate sizes.",
}
"""Commands, with the text that ``treeplex --help`` shows for each."""

HOMES: Final = {"list": ("listing", "listing"), "resume": ("solve", "resume")}
"""File and function of each command whose name differs from theirs."""

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}


class Deferred(TyperCommand):
    """Name and help of a command; it becomes the command itself when called or asked for its own help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the command itself."""
        return loaded(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """Commands of ``treeplex``, in the order of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the stand-in of a command, which imports it when called."""
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # while a shell completes
                return None
            raise unknown("command", cmd_name, COMMANDS, "treeplex --help")
        return Deferred(cmd_name, callback=None, help=COMMANDS[cmd_name], context_settings=dict(HELP_OPTIONS))


def loaded(name: str) -> Any:
    """Import a command and return it."""
    module, attribute = HOMES.get(name, (name, name))
    function = getattr(import_module(f"treeplex.cli.{module}"), attribute)
    if isinstance(function, typer.Typer):
        return typer.main.get_command(function)
    one = typer.Typer(context_settings=dict(HELP_OPTIONS), add_completion=False, pretty_exceptions_enable=False)
    one.command(name)(function)
    return typer.main.get_command(one)
