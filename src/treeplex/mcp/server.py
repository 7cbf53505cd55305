"""The server: lists the tools, and runs each call in a process of its own with limits on time and memory."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, get_origin

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from treeplex.mcp.tools import TIMED, TOOLS, signature
from treeplex.version import __version__

INSTRUCTIONS: Final = (
    "treeplex finds Nash equilibria of two-player zero-sum games with hidden information, and proves how close they"
    " are. Call info first to see how large a game is. Every solution comes with its NashConv, the sum of both players'"
    " best-response gains. Give run= to keep a solution, to look at it with node and to measure it with evaluate."
)
MARGIN: Final = 0.8
"""The fraction of the time limit that a solve may take; the rest is for loading, compiling and saving."""


@dataclass(frozen=True)
class CallLimits:
    """Limits on each call: its folder, time and memory."""

    folder: Path  # where runs are saved and files are read
    seconds: float
    memory: int  # bytes


def serve(folder: Path, seconds: float, memory: int) -> None:
    """Serve over stdin and stdout until the client closes them."""
    make_server(CallLimits(folder, seconds, memory)).run("stdio")


def make_server(limits: CallLimits) -> MCPServer:
    """Build the server with all tools."""
    server = MCPServer("treeplex", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    for name in TOOLS:
        server.add_tool(_tool(name, limits), description=TOOLS[name].__doc__)
    return server


def _tool(name: str, limits: CallLimits) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    async def call(**arguments: Any) -> dict[str, Any]:
        if name in TIMED and arguments.get("seconds") is None:
            arguments["seconds"] = MARGIN * limits.seconds
        return await run_call(name, arguments, limits)

    call.__name__ = name
    call.__signature__ = _described(signature(name))  # pyright: ignore[reportFunctionMemberAccess]
    return call


def _described(plain: inspect.Signature) -> inspect.Signature:
    """The signature with the text beside each type as the description of a field."""
    parameters = [
        each.replace(
            annotation=Annotated[each.annotation.__origin__, Field(description=each.annotation.__metadata__[0])]
        )
        if get_origin(each.annotation) is Annotated
        else each
        for each in plain.parameters.values()
    ]
    return plain.replace(parameters=parameters)


async def run_call(name: str, arguments: dict[str, Any], limits: CallLimits) -> dict[str, Any]:
    """Run a tool in a new process; it is killed when its time is over, or when the client cancels the call."""
    command = [sys.executable, "-m", "treeplex.mcp.worker"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, cwd=limits.folder, stdin=pipe, stdout=pipe, stderr=pipe)
    request = json.dumps({"tool": name, "arguments": arguments, "memory": limits.memory})
    try:
        output, _ = await asyncio.wait_for(process.communicate(request.encode()), limits.seconds)
    except TimeoutError:
        raise ToolError(
            f"The call took more than {limits.seconds:g} s, the limit of this server; give a smaller game, a smaller"
            " 'seconds', or start treeplex mcp with a larger --seconds."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:
        raise ToolError("The call ended without an answer; it may have needed too much memory.") from None
    if "error" in answer:
        raise ToolError(answer["error"])
    return answer["result"]
