"""Runs a benchmark where some of treeplex's packages are missing, as long as it does not use them.

    python benchmarks/bare.py benchmarks/gpu/check.py --no-times

A machine with a GPU may come without packages for tables, files and terminals. What is missing is stood in for by
modules whose names are all exceptions that nobody raises; whatever is there is used.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import runpy
import sys
import types
from pathlib import Path
from typing import Any

NAMES = ("highspy", "matplotlib", "pyarrow", "rich", "safetensors", "scipy", "typer")


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds packages that are missing; asked last."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        wanted = fullname.partition(".")[0] in NAMES
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if wanted else None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__getattr__ = self.made
        return module

    @staticmethod
    def made(name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def main() -> None:
    import numba  # noqa: F401 - looks for scipy itself

    sys.meta_path.append(Absent())
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
