"""The outcome of a reproduction: each claim, the paper's number, our number, and whether the claim holds."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.files import replacing

Tell = Callable[[str], None]
"""Called with a line of text about the progress."""


class Claim(NamedTuple):
    """A claim of a paper, and our measurement."""

    claim: str
    paper: str
    ours: float
    holds: bool


class PaperReport(NamedTuple):
    """The outcome of a reproduction: claims and files."""

    id: str
    claims: list[Claim]
    files: list[Path]

    def summary(self) -> dict[str, object]:
        """Return the JSON that ``treeplex reproduce --json`` prints."""
        claims = [claim._asdict() for claim in self.claims]
        return {"id": self.id, "claims": claims, "files": [str(path) for path in self.files]}


class Table(NamedTuple):
    """A table of results as CSV."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def write(self, path: Path) -> Path:
        """Write the table as CSV."""
        with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.columns, *self.rows])
        return path


def report(
    identity: str,
    folder: Path,
    measured: Mapping[str, float],
    table: Table,
    draw: Callable[[Path], None],
    ratios: Table | None = None,
) -> PaperReport:
    """Compare our measurements with the paper's claims; write one or two tables and a figure."""
    files, figure = [table.write(folder / f"{identity}.csv")], folder / f"{identity}.png"
    if ratios is not None:
        files.append(ratios.write(folder / f"{identity}-ratios.csv"))
    draw(figure)
    return PaperReport(identity, judge(identity, measured), [*files, figure])


def judge(identity: str, measured: Mapping[str, float]) -> list[Claim]:
    """Compare our measurements with the claims of ``expected/ID.json``, whose bounds are not fitted to them."""
    text = resources.files("treeplex.papers").joinpath(f"expected/{identity}.json").read_text(encoding="utf-8")
    expected: list[dict[str, Any]] = json.loads(text)["claims"]
    claims: list[Claim] = []
    for entry in expected:
        ours = float(measured[entry["measure"]])
        holds = entry.get("at_least", -float("inf")) <= ours <= entry.get("at_most", float("inf"))
        claims.append(Claim(entry["claim"], entry["paper"], ours, holds))
    return claims
