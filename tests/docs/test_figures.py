"""Figures on pages: those of their data, of this minor version or with their version in the text, and none by hand."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from docs.pages import ROOT, name, pages, parts

FIGURES = runpy.run_path(str(ROOT / "tools" / "figures.py"))
PAGES = FIGURES["pages"]()
WHOLE = FIGURES["WHOLE"]
BLOCK = FIGURES["BLOCK"]
NUMBER = re.compile(r"\s*[<>÷~]?\s*\d")
NUMBERS = 2  # cells that begin with a digit, from which on a table counts as one of numbers

NOT_MEASURED = {  # tables of numbers that are no measurements: page and the beginning of their head
    "docs/developer/design.md": ("| to add |", "| to change |", "| change"),
    "docs/developer/open.md": ("| | measured | aim |", "| `auto`"),  # what other pages measure, beside its aims
    "docs/how-to/bet-sizes.md": ("| option | default |",),
    "docs/reference/cli.md": ("| option ",),
    "docs/reference/games.md": ("| game",),  # sizes of games, which tests count
    "docs/theory/abstraction.md": ("| | becomes |",),
    "docs/theory/algorithms.md": ("| name |", "| | d+ |", "| member | fraction", "| storage | bytes"),
    "docs/theory/notation.md": ("| | passes",),
    "docs/theory/scale.md": ("| | |",),
}


@pytest.fixture(scope="module")
def tables() -> dict[str, list[str]]:
    """By page: the heads of tables of numbers that are outside of blocks."""
    return {name(page): heads(page.read_text(encoding="utf-8")) for page in pages()}


def heads(text: str) -> list[str]:
    """The heads of tables of numbers outside of blocks of figures and of code."""
    lines, found = parts(BLOCK.sub("", text))[0], list[str]()
    for number, line in enumerate(lines[:-1]):
        if line.startswith("|") and lines[number + 1].startswith("| -") and set(lines[number + 1]) <= set("|-: "):
            body = []
            for row in lines[number + 2 :]:
                if not row.startswith("|"):
                    break
                body += row.strip("|").split("|")[1:]
            if sum(NUMBER.match(cell) is not None for cell in body) >= NUMBERS:
                found.append(line)
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_figures_are_those_of_the_data(page: Path) -> None:
    """``python tools/figures.py`` would change nothing."""
    text = page.read_text(encoding="utf-8")
    assert FIGURES["written"](text) == text


@pytest.mark.parametrize("page", WHOLE)
def test_pages_of_benchmarks_are_those_of_the_data(page: str) -> None:
    assert FIGURES["whole"](page) == (ROOT / page).read_text(encoding="utf-8")
    assert not FIGURES["runs"]()[WHOLE[page].run].stale


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_figures_are_of_this_minor_version_or_say_theirs(page: Path) -> None:
    assert list(FIGURES["problems"](page)) == []


def test_tables_of_numbers_are_written_from_data(tables) -> None:
    """Whoever types a table of measurements moves it to benchmarks/tables, with its run in benchmarks/runs.json."""
    typed = {
        page: [head for head in found if not head.startswith(NOT_MEASURED.get(page, ("nothing",)))]
        for page, found in tables.items()
        if page not in WHOLE and not page.endswith("CHANGELOG.md")
    }
    assert {page: found for page, found in typed.items() if found} == {}


def test_every_stored_table_is_on_a_page_and_has_a_run() -> None:
    shown = {figure.name for page in PAGES for figure in FIGURES["figures"](page)}
    stored = {path.stem for path in FIGURES["TABLES"].glob("*.csv")}
    assert {f"table {each}" for each in stored} <= shown
    assert {f"tables/{each}" for each in stored} <= FIGURES["runs"]().keys()


def test_a_typed_number_is_noticed() -> None:
    text = (ROOT / "docs/theory/algorithms.md").read_text(encoding="utf-8")
    marker = "<!-- figures rules leduc dcfr 1e-05 -->"
    true = text.split(marker)[1].split("<!--")[0]
    wrong = text.replace(f"{marker}{true}", f"{marker}9,999")
    assert wrong != text
    assert FIGURES["written"](wrong) == text
    assert heads("# A\n\n| a | b |\n| --- | ---: |\n| x | 1.5 |\n| y | 2 |\n") == ["| a | b |"]


def test_old_data_is_noticed() -> None:
    run = FIGURES["Run"]("make x", "0.0.9", "2020-01-01", "one core", 3.0)
    figure = FIGURES["Figure"](Path("x.md"), "table x", "| 1 |", "", False)
    assert run.stale
    assert not run._replace(version=FIGURES["package_version"]()).stale
    assert "takes 3 minutes" in next(FIGURES["old"](figure, run))
    long = run._replace(minutes=None)
    assert "must say treeplex 0.0" in next(FIGURES["old"](figure, long))
    assert list(FIGURES["old"](figure._replace(text=f"| 1 |\n\n{long.line()}"), long)) == []
    inline = figure._replace(inline=True)
    assert list(FIGURES["old"](inline, long)) != []
    assert list(FIGURES["old"](inline._replace(paragraph="With treeplex 0.0.9 it is 1."), long)) == []


def test_runs_have_all_fields() -> None:
    for each, fields in json.loads(FIGURES["RUNS"].read_text(encoding="utf-8")).items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", fields["date"]), each
        assert re.match(r"\d+\.\d+", fields["version"]), each
        assert fields["command"], each
        assert fields["machine"], each
