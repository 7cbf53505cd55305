"""Write the table of algorithms into ``docs/reference/algorithms.md``, from the registry, between two marked lines.

python tools/algorithms.py
"""

from __future__ import annotations

import re
from pathlib import Path

from treeplex.algorithms.registry import ALGORITHMS, AlgorithmEntry

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "algorithms.md"
BLOCK = re.compile(r"(<!-- algorithms -->\n).*?(<!-- end of algorithms -->)", re.S)


def row(entry: AlgorithmEntry) -> str:
    """A line of the table; the name is bold if the algorithm is on the first screen of ``treeplex list``."""
    name = f"**`{entry.name}`**" if entry.core else f"`{entry.name}`"
    about = entry.summary if entry.source == "treeplex" else f"{entry.summary} ({entry.source})"
    pairs = re.split(r',(?=\w+=)(?=(?:[^"]*"[^"]*")*[^"]*$)', entry.usage.removeprefix(entry.name).strip("()"))
    parameters = ", ".join(f"`{pair}`" for pair in pairs if pair)
    return f"| {name} | {about} | {parameters} |"


def written(text: str) -> str:
    """The page with the table of today's registry."""
    lines = ["| name | what it is | parameters |", "| --- | --- | --- |", *map(row, ALGORITHMS.values())]
    return BLOCK.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
