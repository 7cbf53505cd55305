"""Completions that a shell offers after TAB: games, game files, and algorithms."""

from __future__ import annotations

from glob import escape
from pathlib import Path
from typing import Final

GAME_FILES: Final = (".efg", ".json", ".toml", ".safetensors")


def games(incomplete: str) -> list[str]:
    """Return games, files and folders that begin with ``incomplete``."""
    from treeplex.games.catalog import CATALOG  # noqa: PLC0415 - slow, and only needed here

    folder, _, start = incomplete.rpartition("/")
    inside = Path(folder or ("/" if incomplete.startswith("/") else "."))
    paths = sorted(path for path in inside.glob(f"{escape(start)}*")) if incomplete and inside.is_dir() else []
    files = [str(path) for path in paths if path.suffix.lower() in GAME_FILES]
    folders = [f"{path}/" for path in paths if path.is_dir()]
    return [name for name in CATALOG if name.startswith(incomplete)] + files + folders


def algorithms(incomplete: str) -> list[str]:
    """Return algorithms that begin with ``incomplete``."""
    from treeplex.algorithms.registry import ALGORITHMS  # noqa: PLC0415 - slow, and only needed here

    return [name for name in ALGORITHMS if name.startswith(incomplete)]
