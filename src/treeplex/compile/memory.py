"""What is free, and what a game would take: asked before building, not found out by crashing."""

from __future__ import annotations

import os
from pathlib import Path

from treeplex.errors import GameError

GIB = 2**30


def available() -> int:
    """Bytes this process may still take: the machine's, or its container's if that is less."""
    free = _meminfo()
    limit, used = _cgroup("memory.max"), _cgroup("memory.current")
    if limit is None or used is None:
        return free
    return min(free, max(limit - used + _reclaimable(), 0))


def require(name: str, nodes: int, per_node: int, what: str) -> None:
    """Refuse to build a game whose arrays would not fit."""
    need, free = nodes * per_node, available()
    if need > free:
        amount = f"{need / GIB:,.1f} GiB" if need < 10**6 * GIB else "far more memory than there is"
        raise GameError(
            f"{name} has {what} {_count(nodes)} nodes and would take {amount} to compile, but only"
            f" {free / GIB:,.1f} GiB are free; choose smaller parameters or free some memory."
        )


def _count(nodes: int) -> str:
    return f"{nodes:,}" if nodes < 10**15 else f"about 10^{len(str(nodes)) - 1}"


def _meminfo() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return 2**62


def _reclaimable() -> int:
    """File cache that counts as used but is given up on demand."""
    try:
        lines = Path("/sys/fs/cgroup/memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))


def _cgroup(name: str) -> int | None:
    try:
        text = (Path("/sys/fs/cgroup") / name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
