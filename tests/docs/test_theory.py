"""The pages of theory: functions and files that exist, claims that are those of the data, tables made from them."""

from __future__ import annotations

import importlib
import json
import re
import runpy
from importlib import resources
from pathlib import Path

import pytest

from docs.pages import ROOT
from treeplex.papers.registry import REPRODUCTIONS

PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
PAPERS = ("cfr-plus", "regret-based-pruning", "dynamic-thresholding", "pure-mccfr", "abstraction")
NAME = re.compile(r"`(treeplex(?:\.\w+)+)`")
FILE = re.compile(r"`((?:src/treeplex|tests|benchmarks|tools)/[\w/.-]*\w)[` ]")


@pytest.fixture(scope="module")
def claims() -> dict:
    return runpy.run_path(str(ROOT / "tools" / "claims.py"))


def found(name: str) -> bool:
    """Is there such a module, or such a thing in a module?"""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def test_what_is_no_name_is_noticed() -> None:
    assert found("treeplex.algorithms.cfr.cfr_plus")
    assert not found("treeplex.algorithms.cfr.cfr_minus")
    assert not found("treeplex.algorithm.cfr")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_and_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in set(NAME.findall(text)) if not found(name)] == []
    assert [path for path in set(FILE.findall(text)) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAPERS)
def test_a_paper_has_a_page_with_its_parts(page: str) -> None:
    text = (ROOT / "docs" / "theory" / f"{page}.md").read_text(encoding="utf-8")
    assert "## What it says" in text
    assert re.search(r"^#+ Differs from the paper in|\*Differs from the paper in\*", text, re.MULTILINE)
    assert len(NAME.findall(text)) >= 8
    assert "$$" in text
    assert "<!-- claims " in text


@pytest.mark.parametrize("identity", REPRODUCTIONS)
def test_outcomes_are_of_the_claims_as_they_are(identity, claims) -> None:
    """What is remembered of a run has the claims of ``expected/ID.json``, judged by its bounds."""
    path = resources.files("treeplex.papers").joinpath(f"expected/{identity}.json")
    expected = json.loads(path.read_text(encoding="utf-8"))["claims"]
    known = claims["outcomes"]()[identity]
    assert [(one["claim"], one["paper"]) for one in known] == [(one["claim"], one["paper"]) for one in expected]
    for one, bounds in zip(known, expected, strict=True):
        inside = bounds.get("at_least", -float("inf")) <= one["ours"] <= bounds.get("at_most", float("inf"))
        assert one["holds"] == inside


@pytest.mark.parametrize("identity", REPRODUCTIONS)
def test_every_figure_stands_on_one_page_with_its_claims(identity) -> None:
    texts = [(ROOT / "docs" / "theory" / f"{page}.md").read_text(encoding="utf-8") for page in PAPERS]
    assert sum(f"<!-- claims {identity} -->" in text and f'<a id="{identity}"></a>' in text for text in texts) == 1
