"""Write what became of the papers' claims into the documentation: from benchmarks/papers.json, between marked lines.

    treeplex reproduce rbp-fig1 --json | python tools/claims.py --keep     # remember the outcome of a run, and write
    python tools/claims.py                                                 # write all tables again

A page asks for a table by two lines, ``<!-- claims ID -->`` and ``<!-- end of claims -->``; what stands between them is
replaced. ``<!-- claims of all -->`` asks for one line per figure.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from treeplex.papers.registry import REPRODUCTIONS

ROOT = Path(__file__).parents[1]
OUTCOMES = ROOT / "benchmarks" / "papers.json"
BLOCK = re.compile(r"(<!-- claims (.+?) -->\n).*?(<!-- end of claims -->)", re.S)
PAGES = {  # where the figures of a paper are
    "cfr-plus": "cfr-plus.md",
    "rbp": "regret-based-pruning.md",
    "saef": "abstraction.md",
    "pmccfr": "pure-mccfr.md",
    "dt": "dynamic-thresholding.md",
}


def outcomes() -> dict[str, list[dict[str, Any]]]:
    """By id: the claims as ``treeplex reproduce ID --json`` printed them last."""
    return json.loads(OUTCOMES.read_text(encoding="utf-8"))


def number(x: float) -> str:
    """Three digits, or a whole number."""
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def table(identity: str, claims: list[dict[str, Any]]) -> str:
    """Every claim of a figure: the paper's number, ours, and whether it holds."""
    rows = [f"`treeplex reproduce {identity}`:", "", "| claim | paper | ours | |", "| --- | --- | ---: | --- |"]
    for one in claims:
        held = "holds" if one["holds"] else "**does not hold**"
        rows.append(f"| {one['claim']} | {one['paper']} | {number(one['ours'])} | {held} |")
    return "\n".join(rows)


def of_all(known: dict[str, list[dict[str, Any]]]) -> str:
    """One line per figure."""
    rows = ["| id | paper | claims that hold | where |", "| --- | --- | --- | --- |"]
    for identity, one in REPRODUCTIONS.items():
        claims = known.get(identity, [])
        page = next(page for prefix, page in PAGES.items() if identity.startswith(prefix))
        held = f"{sum(claim['holds'] for claim in claims)} of {len(claims)}"
        rows.append(f"| `{identity}` | {one.paper} | {held} | [page](../theory/{page}#{identity}) |")
    return "\n".join(rows)


def written(text: str) -> str:
    """A page with its tables as they should be."""

    def fill(found: re.Match[str]) -> str:
        known = outcomes()
        if found[2] == "of all":
            return f"{found[1]}\n{of_all(known)}\n\n{found[3]}"
        return f"{found[1]}\n{table(found[2], known[found[2]])}\n\n{found[3]}" if found[2] in known else found[0]

    return BLOCK.sub(fill, text)


def main() -> None:
    """Remember an outcome if asked to; write every page."""
    if "--keep" in sys.argv:
        run = json.load(sys.stdin)
        known = outcomes() if OUTCOMES.exists() else {}
        known[run["id"]] = run["claims"]
        OUTCOMES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
