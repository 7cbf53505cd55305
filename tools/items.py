"""The items of the five papers as a table, from docs/developer/items.csv (``tools/figures.py`` writes the page)."""

from __future__ import annotations

import csv
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ITEMS = ROOT / "docs" / "developer" / "items.csv"
STATES = ("in", "partly", "absent")


def items() -> list[dict[str, str]]:
    """Every item: number, paper, item, state, where, tests, figure."""
    with ITEMS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def figure(identity: str, claims: dict[str, Any]) -> str:
    """A reproduction, with the number of its claims that hold."""
    if not identity:
        return ""
    found = claims["outcomes"]()[identity]
    page = next(page for prefix, page in claims["PAGES"].items() if identity.startswith(prefix))
    return f"[`{identity}`](../theory/{page}#{identity}): {sum(one['holds'] for one in found)} of {len(found)}"


def text() -> str:
    """The number of items by state, and the table."""
    claims = runpy.run_path(str(ROOT / "tools" / "claims.py"))
    rows = items()
    counts = Counter(row["state"] for row in rows)
    lines = [
        f"Of {len(rows)} items {counts['in']} are in, {counts['partly']} partly, and {counts['absent']} not at all.",
        "",
    ]
    lines += ["| # | paper | item | state | where, or why not | tests | figure: claims that hold |", "|" + " --- |" * 7]
    for row in rows:
        state = row["state"] if row["state"] == "in" else f"**{row['state']}**"
        tests = ", ".join(f"`{name}`" for name in row["tests"].split())
        cells = (row["number"], row["paper"], row["item"], state, row["where"], tests, figure(row["figure"], claims))
        lines.append("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")
    return "\n".join(lines)
