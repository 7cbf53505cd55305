"""Turn a doctested Markdown page into a notebook without outputs: python tools/notebook.py [PAGE.md...].

Text becomes Markdown cells, examples become code cells: one for everything up to an answer that the page prints, so
that a notebook prints it, too. An example that shows a refusal is a cell that may fail.
"""

from __future__ import annotations

import doctest
import json
import re
import sys
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```\n?", re.S | re.M)
TUTORIALS = ("ten-minutes", "regret-matching")


def notebook(page: str) -> dict[str, Any]:
    """In nbformat 4.5."""
    cells: list[dict[str, Any]] = []

    def add(kind: str, text: str, **metadata: Any) -> None:
        if text.strip():
            code = {"outputs": [], "execution_count": None} if kind == "code" else {}
            cell = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": metadata}
            cells.append(cell | {"source": text.strip("\n").splitlines(keepends=True)} | code)

    for place, part in enumerate(FENCE.split(page)):
        if place % 2 == 0:
            add("markdown", part)
            continue
        source = ""
        for example in doctest.DocTestParser().get_examples(part):
            source += re.sub(r" *# doctest:.*", "", example.source)
            if example.exc_msg is not None:
                add("code", source, tags=["raises-exception"])
                source = ""
            elif example.want:
                add("code", source)
                source = ""
        add("code", source)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def written(page: Path) -> str:
    """The notebook of a page, as a file."""
    return json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "docs" / "tutorial"
    for path in map(Path, sys.argv[1:] or [folder / f"{name}.md" for name in TUTORIALS]):
        path.with_suffix(".ipynb").write_text(written(path), encoding="utf-8")
        print(path.with_suffix(".ipynb"))
