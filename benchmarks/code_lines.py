"""Code lines of a source tree: without docstrings, comments and blank lines.

.venv/bin/python benchmarks/code_lines.py src ../other/src
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(path: Path) -> int:
    """Lines on which something other than a comment or a docstring stands."""
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main(folders: list[str]) -> None:
    for folder in folders:
        counts: Counter[str] = Counter()
        files = sorted(Path(folder).rglob("*.py"))
        for path in files:
            parts = path.relative_to(folder).parts
            counts["/".join(parts[1:3]) if len(parts) > 3 else parts[1] if len(parts) > 2 else "top level"] += (
                code_lines(path)
            )
        for room, count in sorted(counts.items()):
            print(f"{count:7,}  {room}")
        print(f"{counts.total():7,}  {folder}: {len(files)} files")


if __name__ == "__main__":
    main(sys.argv[1:] or ["src"])
