"""Every page: fences closed, links and anchors that lead somewhere, pictures with the command that makes them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from docs.pages import ROOT, links, name, pages, parts, slugs

IMAGES = ROOT / "docs" / "images"
COMMAND = re.compile(r"(`|\$ )(treeplex |make |\.venv/bin/python |python )\S*")


@cache
def _read(page: Path) -> tuple[list[str], list[str]]:
    prose, _, wrong = parts(page.read_text(encoding="utf-8"))
    return prose, wrong


@pytest.mark.parametrize("page", pages(), ids=name)
def test_fences_are_closed(page: Path) -> None:
    assert _read(page)[1] == []


def test_a_stray_fence_is_noticed() -> None:
    page = "# A\n\n```python\n>>> 1\n1\n```\n```\n\n## B\n\n```console\n$ x\n```\n"
    assert parts(page)[2]
    assert not parts(page.replace("```\n```\n", "```\n"))[2]


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    prose = _read(page)[0]
    lost: list[str] = []
    for line, target in links(prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or not other.is_relative_to(ROOT):
            lost.append(f"line {line}: {target}")
        elif anchor and other.suffix == ".md" and anchor not in slugs(_read(other)[0]):
            lost.append(f"line {line}: no heading for {target}")
    assert lost == []


def _section(lines: list[str], prose: list[str], at: int) -> str:
    """The part of a page under the heading above a line, and the beginning of the page."""
    headings = [number for number, line in enumerate(prose) if re.match("##+ ", line)] + [len(lines)]
    after = next(number for number in headings if number >= at)
    before = max((number for number in headings if number < at), default=0)
    return "\n".join(lines[: headings[0]] + lines[before:after])


def test_pictures_are_shown_and_their_commands_named() -> None:
    """Each picture of docs/images is on a page, and the section that shows it names the command that makes it."""
    shown: dict[str, list[str]] = {}
    bare: list[str] = []
    for page in pages():
        lines = page.read_text(encoding="utf-8").splitlines()
        for line, target in links(_read(page)[0]):
            if not target.endswith((".png", ".svg")) or "images/" not in target:
                continue
            shown.setdefault(Path(target).name, []).append(name(page))
            if not COMMAND.search(_section(lines, _read(page)[0], line)):
                bare.append(f"{name(page)}: {target}")
    assert bare == []
    missing = {path.name for path in IMAGES.iterdir()} - shown.keys()
    assert missing == set()
    assert all((IMAGES / picture).exists() for picture in shown)


def test_contents_name_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    named = {(index.parent / target).resolve() for _, target in links(_read(index)[0])}
    expected = {page for page in pages() if page.is_relative_to(ROOT / "docs")} - {index}
    assert {name(page) for page in expected - named} == set()
