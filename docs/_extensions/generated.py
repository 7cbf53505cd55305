"""Pages that are made while the site is built: the public names from their docstrings, commands from their own help."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
HOME = Path("docs/reference/generated")
PYTHON = """# `{module}`, from its docstrings

Made from the code. The [same names with examples]({readable}).

"""
COMMANDS = """# Commands, from their own help

What `treeplex COMMAND --help` says of every command. [With examples, JSON fields and exit codes](../cli.md).

"""


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for files; a public name without docstring is a warning."""
    app.connect("builder-inited", _write_all)
    app.connect("autodoc-process-docstring", _documented)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_all(app: Any) -> None:
    folder = Path(app.srcdir) / HOME
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "python.md": names("treeplex", "../api.md"),
        "holdem.md": names("treeplex.holdem", "../../how-to/holdem.md"),
        "commands.md": COMMANDS + "\n".join(commands()),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def names(module: str, readable: str) -> str:
    """A page of all public names of a module."""
    lines = [PYTHON.format(module=module, readable=readable), "```{eval-rst}", f".. automodule:: {module}", ""]
    here, above = import_module(module), import_module("treeplex")
    for name in sorted(here.__all__, key=lambda each: (each[0].isupper(), each)):
        thing = getattr(here, name)
        if here is not above and getattr(above, name, None) is thing:
            continue  # told once
        kind = "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
        if isinstance(thing, type) and issubclass(thing, Exception):
            kind = "exception"
        lines += [f".. auto{kind}:: {module}.{name}"]
        lines += ["   :members:", ""] if kind == "class" else [""]
    return "\n".join([*lines, "```", ""])


def commands() -> Iterator[str]:
    """Every command: how it is used, what it does, its options."""
    from treeplex.cli.lazy import COMMANDS as NAMES  # noqa: PLC0415
    from treeplex.cli.lazy import loaded  # noqa: PLC0415

    for name in NAMES:
        command = loaded(name)
        subcommands = getattr(command, "commands", {})
        yield from _command(command, f"treeplex {name}")
        for inner, subcommand in subcommands.items():
            yield from _command(subcommand, f"treeplex {name} {inner}")


def _command(command: Any, name: str) -> Iterator[str]:
    context = type(command).context_class(command, info_name=name)
    yield f"## `{name}`\n"
    yield f"```text\n{name} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    yield f"{_plain(command.help or '')}\n"
    if not command.help:
        LOGGER.warning("command %s has no help", name)
    records = [(each, each.get_help_record(context)) for each in command.params if not getattr(each, "hidden", False)]
    if any(record for _, record in records):
        yield "| | |\n| --- | --- |"
        for each, record in records:
            flags, text = record or (each.name, "")
            if not text and each.param_type_name == "option":
                LOGGER.warning("parameter %s of %s has no help", each.name, name)
            yield f"| `{str(flags).replace('|', '/')}` | {_plain(text)} |"
        yield ""


def _plain(text: str) -> str:
    """Help as Markdown: nothing in it is markup, but for the bars of a table."""
    text = text.replace("\b", "").replace("\\", "\\\\")
    for sign in "|*_<$[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _documented(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if not any(lines) and what in ("module", "class", "function", "method", "exception"):
        LOGGER.warning("%s %s has no docstring", what, name, type="autodoc")
