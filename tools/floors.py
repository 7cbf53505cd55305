"""The lowest version of every dependency that pyproject.toml allows, as a constraints file: ``make test-floors``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("web", "pandas")


def main() -> None:
    """Print ``name==floor`` for each of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + [each for extra in EXTRAS for each in project["optional-dependencies"][extra]]
    for each in wanted:
        name, floor = re.match(r"([\w-]+)>=([\w.]+)", each).groups()
        print(f"{name}=={floor}")


if __name__ == "__main__":
    main()
