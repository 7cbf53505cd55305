"""On the site the gallery shows the code of its examples; on GitHub it links to them."""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r"^\[Code\]\((\.\./examples/\w+\.py)\).*$", re.MULTILINE)


def setup(app: Any) -> dict[str, bool]:
    """Add the code below each link as the page is read."""
    app.connect("source-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add(_: Any, docname: str, source: list[str]) -> None:
    if docname == "docs/gallery":
        source[0] = LINK.sub(r"\g<0>\n\n```{literalinclude} \1\n:language: python\n```\n", source[0])
