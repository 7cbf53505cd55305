"""``treeplex mcp``: tools for assistants, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.errors import MissingExtraError, ParameterError


def mcp(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder of runs and of files to read.")] = Path(
        "runs"
    ),
    seconds: Annotated[float, typer.Option(min=1.0, help="Time limit per call, in seconds.")] = 300.0,
    memory: Annotated[float, typer.Option(min=0.5, help="Memory limit per call, in GB.")] = 4.0,
) -> None:
    """Serve tools to an assistant over the Model Context Protocol. It talks over stdin and stdout."""
    try:
        from treeplex.mcp.server import serve  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "mcp":
            raise MissingExtraError(str(error.name), "mcp", "The MCP server") from None
        raise
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"The folder {directory} cannot be made: {error.strerror}.") from error
    serve(directory.resolve(), seconds, int(1e9 * memory))
