"""Commands that are imported when they are called: ``treeplex --help`` does not wait for Numba and Arrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from treeplex.spec import unknown

COMMANDS: Final = {
    "list": "List the built-in games and the algorithms.",
    "info": "Show a game's sizes, its memory, and its value if that is known.",
    "solve": "Find an equilibrium and prove how close it is.",
    "resume": "Continue any run that was stopped or killed, or a batch.",
    "compare": "Run algorithms side by side and plot NashConv.",
    "batch": "Solve many games or hold'em spots, on this machine or on a cluster.",
    "grow": "Solve a game or a hold'em spot, and find the bet sizes that matter.",
    "evaluate": "Measure a policy exactly: value, NashConv and best responses.",
    "explore": "Sample a game from its rules, without compiling it; quality is estimated.",
    "merge": "Average policies by reach into one, such as those of several seeds, and measure all of them.",
    "export": "Save a game to a file, or a policy in another format.",
    "reproduce": "Reproduce a figure or table of a paper.",
    "serve": "Look at runs, solve, compare and train in a browser.",
    "mcp": "Serve tools to an assistant over the Model Context Protocol.",
    "upi": "Drive the hold'em solver by PioSOLVER's text protocol (UPI), line by line over stdin and stdout.",
    "holdem": "Texas hold'em subgames: solve a spot, look at the answer, see how large one is.",
}
"""Commands, and what ``treeplex --help`` says of them."""

HOMES: Final = {"list": ("listing", "listing"), "resume": ("solve", "resume")}
"""The file and the function of a command whose name is not that of both."""

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}


class Deferred(TyperCommand):
    """The name and help of a command; the command itself once it is called or asked for its own help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself."""
        return loaded(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """The commands of ``treeplex``, in the order of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What stands for one until it is called."""
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # while a shell completes
                return None
            raise unknown("command", cmd_name, COMMANDS, "treeplex --help")
        return Deferred(cmd_name, callback=None, help=COMMANDS[cmd_name], context_settings=dict(HELP_OPTIONS))


def loaded(name: str) -> Any:
    """The command itself, imported."""
    module, attribute = HOMES.get(name, (name, name))
    function = getattr(import_module(f"treeplex.cli.{module}"), attribute)
    if isinstance(function, typer.Typer):
        return typer.main.get_command(function)
    one = typer.Typer(context_settings=dict(HELP_OPTIONS), add_completion=False, pretty_exceptions_enable=False)
    one.command(name)(function)
    return typer.main.get_command(one)
