"""``treeplex serve``: the explorer, a page over run folders."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex.cli.output import say, tell
from treeplex.errors import MissingExtraError, quoted

PORT = 8765
LOOPBACK = "127.0.0.1"


def serve(
    directory: Annotated[str, typer.Argument(metavar="[DIR]", help="The folder with run folders.")] = "runs",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = PORT,
    host: Annotated[
        str | None,
        typer.Option(help="Listen on this address, too reachable by others; left out: this machine only."),
    ] = None,
) -> None:
    """Look at runs, solve, compare and train in a browser. Prints the link to open; Ctrl-C ends it and keeps all."""
    try:
        from treeplex.web.server import serve as run  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise MissingExtraError(str(error.name), "web", "The explorer") from None
        raise
    if host is not None:
        say(f"listening on {quoted(host)}: whoever has the link can read these runs and start solves on this machine")
    run(directory, host or LOOPBACK, port, tell)
