"""Run one call of a tool in a process of its own: JSON on stdin, JSON on stdout.

The process limits its own memory, so that a game that is too large ends this call and nothing else.
"""

from __future__ import annotations

import json
import math
import os
import sys
from contextlib import redirect_stdout
from typing import Any

from treeplex.system import limit_memory


def main() -> int:
    """Read ``{"tool", "arguments", "memory"}`` and print ``{"result"}`` or ``{"error"}``."""
    call = json.loads(sys.stdin.read())
    limit_memory(call["memory"])
    from treeplex.errors import TreeplexError  # noqa: PLC0415 - what it imports counts towards the limit
    from treeplex.mcp.tools import TOOLS  # noqa: PLC0415

    with redirect_stdout(sys.stderr):
        try:
            answer: dict[str, Any] = {"result": _plain(TOOLS[call["tool"]](**call["arguments"]))}
        except TreeplexError as error:
            answer = {"error": str(error)}
        except (MemoryError, OverflowError):
            answer = {"error": "The call needs more memory than this server allows; give a smaller game, or storage."}
    print(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # threads that wait for more work do not matter any more


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, and ``None`` for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    main()
