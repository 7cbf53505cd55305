"""What is free, and what a game would take: asked before building, not found out by crashing."""

from __future__ import annotations

import os
import re
from pathlib import Path

from treeplex.errors import GameError

GIB = 2**30
CGROUP = Path("/sys/fs/cgroup")
STATM = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def available() -> int:
    """Bytes this process may still take: the machine's, or its container's if that is less."""
    free = _number(Path("/proc/meminfo"), "MemAvailable:")
    free = _physical() if free is None else 1024 * free
    limit, used = _number(CGROUP / "memory.max"), _number(CGROUP / "memory.current")
    if limit is None or used is None:
        return free
    cache = _number(CGROUP / "memory.stat", "inactive_file ") or 0  # counts as used but is given up on demand
    return min(free, max(limit - used + cache, 0))


def used() -> int:
    """Bytes of memory this process holds; 0 where the system does not say."""
    try:
        with STATM.open("rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def require(name: str, nodes: int, per_node: int, what: str) -> None:
    """Refuse to build a game whose arrays would not fit."""
    need, free = nodes * per_node, available()
    if need > free:
        count = f"{nodes:,}" if nodes < 10**15 else f"about 10^{len(str(nodes)) - 1}"
        amount = f"{need / GIB:,.1f} GiB" if need < 10**6 * GIB else "far more memory than there is"
        raise GameError(
            f"{name} has {what} {count} nodes and would take {amount} to compile, but only"
            f" {free / GIB:,.1f} GiB are free; choose smaller parameters or free some memory."
        )


def _number(path: Path, name: str = "") -> int | None:
    """The number behind ``name`` in a file of the system; None if there is no such file or number."""
    try:
        found = re.search(rf"^{name}\s*([0-9]+)", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return 2**62
