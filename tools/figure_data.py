"""What the tools for figures share: stored JSON, and programs whose functions they call."""

from __future__ import annotations

import json
import runpy
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


def data(name: str) -> Any:
    """A JSON file of benchmarks/."""
    return json.loads((BENCHMARKS / name).read_text(encoding="utf-8"))


@cache
def script(path: str) -> dict[str, Any]:
    """The names that a program of benchmarks/ or tools/ defines; neighbours that it imports are forgotten again."""
    folder = str((ROOT / path).parent)
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(str(ROOT / path))
    finally:
        sys.path.remove(folder)
        for name in [name for name, module in sys.modules.items() if name[0] not in "_<" and beside(folder, module)]:
            del sys.modules[name]


def beside(folder: str, module: object) -> bool:
    """Whether a module is a file of this folder."""
    return str(Path(getattr(module, "__file__", None) or "/").parent) == folder
