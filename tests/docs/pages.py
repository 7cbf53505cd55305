"""The pages of the documentation, as text: code blocks, headings, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
FENCE: Final = re.compile(r"^( *)(```+|~~~+)([^`]*)$")
HEADING: Final = re.compile(r"^#{1,6} +(.+?)\s*$")
LINK: Final = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)*)(?: \"[^\"]*\")?\)")
ANCHOR: Final = re.compile(r'<a (?:id|name)="([^"]+)">')


class Block(NamedTuple):
    """A fenced block: its language, its first line, its text."""

    language: str
    line: int
    text: str


def pages() -> list[Path]:
    """Every page that people read."""
    found = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md")]
    for folder in ("docs", "benchmarks", "examples"):
        found += (ROOT / folder).rglob("*.md")
    return sorted(page for page in found if not {"generated", ".venv"} & set(page.parts))


def name(page: Path) -> str:
    """The page from the repository's root."""
    return page.relative_to(ROOT).as_posix()


def parts(text: str) -> tuple[list[str], list[Block], list[str]]:
    """Lines outside of blocks (blank where a block is), blocks, and what is wrong with fences."""
    prose: list[str] = []
    blocks: list[Block] = []
    wrong: list[str] = []
    fence, language, start, inside = "", "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if not fence and found:
            fence, language, start, inside = found[2], found[3].strip(), number, []
            prose.append("")
        elif fence:
            prose.append("")
            if found and found[2].startswith(fence) and not found[3].strip():
                blocks.append(Block(language, start, "\n".join(inside)))
                fence = ""
            else:
                if found and found[3].strip():
                    wrong.append(f"line {number}: {line.strip()!r} opens a block inside the one of line {start}")
                if HEADING.match(line) and language not in ("sh", "console", "python", "toml", "text", "bash"):
                    wrong.append(f"line {number}: a heading inside the block of line {start}")
                inside.append(line)
        else:
            prose.append(line)
    if fence:
        wrong.append(f"the block of line {start} is never closed")
    return prose, blocks, wrong


def slugs(prose: list[str]) -> set[str]:
    """The anchors of a page: its headings as GitHub names them, and those written as HTML."""
    found: set[str] = set()
    for line in prose:
        found.update(ANCHOR.findall(line))
        if heading := HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower()).replace(" ", "-")
            number = sum(1 for each in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", each))
            found.add(f"{slug}-{number}" if slug in found else slug)
    return found


def links(prose: list[str]) -> Iterator[tuple[int, str]]:
    """Links and pictures with their lines; what is written as code is none."""
    for number, line in enumerate(prose, 1):
        for target in LINK.findall(re.sub(r"(?<!\[)`[^`]*`(?!\])", "", line)):
            yield number, target
