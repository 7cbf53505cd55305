"""Free memory, and a check before building that a game fits into it."""

from __future__ import annotations

from treeplex.errors import GameError
from treeplex.system import available, used

__all__ = ["GIB", "available", "require", "used"]

GIB = 2**30


def require(name: str, nodes: int, per_node: int, what: str) -> None:
    """Raise GameError if the arrays of a game would not fit in free memory."""
    need, free = nodes * per_node, available()
    if need > free:
        count = f"{nodes:,}" if nodes < 10**15 else f"about 10^{len(str(nodes)) - 1}"
        amount = f"{need / GIB:,.1f} GiB" if need < 10**6 * GIB else "far more memory than there is"
        raise GameError(
            f"{name} has {what} {count} nodes and would take {amount} to compile, but only"
            f" {free / GIB:,.1f} GiB are free; choose smaller parameters or free some memory."
        )
