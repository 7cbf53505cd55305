"""The table of the papers' items: complete, with tests and figures that exist."""

from __future__ import annotations

import re
import runpy
from collections import Counter

from docs.pages import ROOT
from treeplex.papers.registry import REPRODUCTIONS

TOOL = runpy.run_path(str(ROOT / "tools" / "items.py"))
ITEMS = TOOL["items"]()
PAPERS = 132  # items of the papers; remarks are numbered S1, S2, ...


def defined(test: str) -> bool:
    """Whether a test file, or a function in it, exists."""
    file, _, function = test.partition("::")
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.exists() else None
    return text is not None and (not function or re.search(rf"^def {function}\(", text, re.MULTILINE) is not None)


def test_every_item_is_there_once() -> None:
    counts = Counter(row["number"] for row in ITEMS)
    assert [counts[str(number)] for number in range(1, PAPERS + 1)] == [1] * PAPERS
    assert all(count == 1 for count in counts.values())


def test_states_are_known_and_what_is_not_in_says_why() -> None:
    assert {row["state"] for row in ITEMS} <= set(TOOL["STATES"])
    assert [row["number"] for row in ITEMS if row["state"] != "in" and not row["where"]] == []


def test_tests_exist() -> None:
    lost = {row["number"]: test for row in ITEMS for test in row["tests"].split() if not defined(test)}
    assert lost == {}
    assert not defined("tests/docs/test_items.py::test_that_is_not_there")
    assert not defined("tests/docs/no_such_file.py")


def test_what_is_in_has_a_test() -> None:
    assert [row["number"] for row in ITEMS if row["state"] == "in" and not row["tests"]] == []


def test_figures_exist() -> None:
    assert {row["figure"] for row in ITEMS if row["figure"]} <= REPRODUCTIONS.keys()
