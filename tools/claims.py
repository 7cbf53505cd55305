"""Tables of the papers' claims, and what became of them, from benchmarks/papers.json.

    treeplex reproduce rbp-fig1 --json | python tools/claims.py --keep     # store the outcome of a run, and write
    python tools/claims.py                                                 # write all pages again

A page asks for a table by two lines, ``<!-- claims ID -->`` and ``<!-- end of claims -->`` (``tools/figures.py``).
``<!-- claims of all -->`` asks for one line per figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from treeplex.papers.registry import REPRODUCTIONS

ROOT = Path(__file__).parents[1]
OUTCOMES = ROOT / "benchmarks" / "papers.json"
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


def text(name: str) -> str:
    """The table of a figure's claims; ``of all`` is one line per figure."""
    known = outcomes()
    return of_all(known) if name == "of all" else table(name, known[name])


def main() -> None:
    """Store the outcome of a run if asked to; write every page."""
    ran: list[str] = []
    if "--keep" in sys.argv:
        run = json.load(sys.stdin)
        known = outcomes() if OUTCOMES.exists() else {}
        known[run["id"]] = run["claims"]
        OUTCOMES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
        ran = ["--ran", f"papers/{run['id']}"]
    subprocess.run([sys.executable, str(ROOT / "tools" / "figures.py"), *ran], check=True)  # noqa: S603 - our own program


if __name__ == "__main__":
    main()
