"""Every mutant can still be made: the text it changes stands exactly once in its file, and its tests are there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = [
    (path.stem, entry)
    for path in sorted((ROOT / "tests/mutants").glob("*.toml"))
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
]


@pytest.mark.parametrize(("file", "mutant"), MUTANTS, ids=[f"{file}-{entry['name']}" for file, entry in MUTANTS])
def test_it_can_be_made(file: str, mutant: dict[str, Any]) -> None:
    for edit in mutant.get("edits") or [mutant]:
        text = (ROOT / edit["file"]).read_text(encoding="utf-8")
        assert text.count(edit["old"]) == 1, (file, mutant["name"], edit["file"])
        assert edit["new"] != edit["old"]
    for name in (part.split("::")[0] for part in mutant["tests"] if part.startswith("tests/")):
        assert (ROOT / name).exists(), (file, mutant["name"], name)
