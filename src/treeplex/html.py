"""HTML tables and pictures for notebooks."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with a title; every text is escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_picture(png: bytes, about: str) -> str:
    """Return an HTML image with the picture embedded in the page."""
    return f'<img alt="{escape(about)}" style="max-width: 100%" src="data:image/png;base64,{b64encode(png).decode()}">'
