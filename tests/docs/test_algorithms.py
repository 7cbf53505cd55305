"""Tables of algorithms in the docs: they have what the registry has."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from treeplex.algorithms.registry import ALGORITHMS

ROOT = Path(__file__).parents[2]


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("algorithms", ROOT / "tools" / "algorithms.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_reference_is_what_the_tool_writes() -> None:
    page = (ROOT / "docs" / "reference" / "algorithms.md").read_text(encoding="utf-8")
    assert tool().written(page) == page, "run python tools/algorithms.py"
    assert [name for name in ALGORITHMS if f"`{name}`" not in page] == []


def test_the_table_of_the_theory_has_every_algorithm_once_and_its_source() -> None:
    page = (ROOT / "docs" / "theory" / "algorithms.md").read_text(encoding="utf-8")
    table = page.partition("| --- |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines()[1:]]
    names = [name for first, *_ in rows for name in re.findall(r"`(.+?)`", first)]
    assert sorted(names) == sorted(ALGORITHMS)
    for first, _, source, *_ in rows:
        for name in re.findall(r"`(.+?)`", first):
            assert source.strip() in ALGORITHMS[name].source, name
