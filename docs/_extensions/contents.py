"""The contents of the site, as ``docs/index.md`` tells them: a section's list of links is a part of the sidebar.

So the page needs no syntax of Sphinx, and a page that it leaves out is a warning.
"""

from __future__ import annotations

import re
from typing import Any

ENTRY = re.compile(r"\]\(([^)#:]+)\.md\)")
GENERATED = {"Reference": ["reference/generated/python", "reference/generated/holdem", "reference/generated/commands"]}


def setup(app: Any) -> dict[str, bool]:
    """Add hidden tables of contents to the first page as it is read."""
    app.connect("source-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add(app: Any, docname: str, source: list[str]) -> None:
    if docname == app.config.root_doc:
        parts = re.split(r"^## (.+)$", source[0], flags=re.MULTILINE)
        source[0] += "".join(map(_toctree, parts[1::2], parts[2::2]))


def _toctree(caption: str, text: str) -> str:
    pages = ENTRY.findall(text) + GENERATED.get(caption, [])
    if not pages:
        return ""
    return "\n".join(["\n\n```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```\n"])
