"""``treeplex serve``: the explorer, a web page over run folders."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex.cli.output import say, tell
from treeplex.errors import MissingExtraError, quoted

PORT = 8765
LOOPBACK = "127.0.0.1"


def serve(
    directory: Annotated[str, typer.Argument(metavar="[DIR]", help="Folder that contains the run folders.")] = "runs",
    port: Annotated[int, typer.Option(help="Port to listen on (0 = any free port).")] = PORT,
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on, so that other machines can connect. Default: this machine only."),
    ] = None,
) -> None:
    """View runs, solve, compare and train in a browser. Prints the link to open. Ctrl-C stops and saves."""
    try:
        from treeplex.web.server import serve as run  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise MissingExtraError(str(error.name), "web", "The explorer") from None
        raise
    if host is not None:
        say(f"listening on {quoted(host)}: anyone with the link can read these runs and start solves on this machine")
    run(directory, host or LOOPBACK, port, tell)
