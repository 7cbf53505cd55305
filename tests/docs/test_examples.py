"""The gallery: every script runs, draws its picture and says what the page says; every picture is small."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import treeplex as tp
from docs.pages import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
LARGEST = 100_000  # bytes of a picture


def test_ten_examples_each_on_the_page() -> None:
    assert len(SCRIPTS) == 10
    assert sorted(re.findall(r"\[Code\]\(\.\./examples/(\w+)\.py\)", PAGE)) == [script.stem for script in SCRIPTS]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_its_picture_is_shown_and_small(script: Path) -> None:
    picture = ROOT / "docs" / "images" / f"gallery-{script.stem.replace('_', '-')}.png"
    assert f"(images/{picture.name})" in PAGE
    assert picture.stat().st_size < LARGEST


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs(script: Path, tmp_path, capsys) -> None:
    if script.stem == "batch" and not hasattr(tp, "batch"):
        pytest.skip("there is no tp.batch in this version")
    found = runpy.run_path(str(script))["main"](tmp_path / "picture.png")
    said = capsys.readouterr().out
    if script.stem == "gpu" and found is None:
        assert said.startswith("No GPU can be used here: ")
        return
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    CHECKS[script.stem](found)


def _exact(found) -> None:
    (low, high), brackets = found
    assert high - low < 1e-9
    assert all(below <= low + 1e-12 and above >= high - 1e-12 for below, above in brackets)


def _pruning(found) -> None:
    nodes = [solution.nodes_touched for solution in found.values()]
    assert nodes == sorted(nodes, reverse=True)
    assert nodes[0] > 50 * nodes[-1]


def _sizes(found) -> None:
    few, grown, every = found
    assert abs(grown.value - every.value) < 0.1 * abs(few.value - every.value)


CHECKS = {
    "own_game": lambda found: pytest.approx(1 / 13) == found.value or pytest.fail(),
    "own_minimizer": lambda found: max(one.nash_conv for one in found.values()) < 0.2 or pytest.fail(),
    "compare_algorithms": lambda found: found.ranking[0] in ("pcfr+", "cfr+-restarted") or pytest.fail(),
    "exact": _exact,
    "pruning": _pruning,
    "warm_start": lambda found: 50 * found["warm-start"].nodes_touched < found["cfr+"].nodes_touched or pytest.fail(),
    "own_sizes": _sizes,
    "river_spot": lambda found: (
        (found.percent_of_pot < 0.3 and sum(found.ev) == pytest.approx(100, abs=0.1)) or pytest.fail()
    ),
    "batch": lambda found: all(row.status == "solved" for row in found.rows) or pytest.fail(),
    "gpu": lambda rates: all(rate > 0 for pair in rates.values() for rate in pair) or pytest.fail(),
}
