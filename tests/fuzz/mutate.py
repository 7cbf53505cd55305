"""Broken input from whole input: a few random edits of a text, of bytes, or of a tree of lists and tables."""

from __future__ import annotations

import json
import random
from typing import Any

SNIPPETS = (
    *"()[]{}<>,;:=+-*/%#'\"\\ \t\n\r\0",
    *("0", "-1", "1e3", "1e400", "-1e-400", "nan", "inf", "0x10", "1_000", "½", "٣", "99999999999999999999", "0.1"),
    *("true", "null", "None", "[]", "{}", "()", "''", '""', "..", "~", "$HOME", "`id`", "%s", "{0}", "\\u0000"),
    *("é", "♠", "\u202e", "\ufeff", "\ud800", "🂡", "a" * 300, "[" * 200, "9" * 400),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3.5, 1e300, -1e-300, float("nan"), float("inf"), 10**30, "", "x", "1", "é" * 90),
    *([], {}, [[]], [None], {"": None}, ["a", 1], {"a": {"a": {}}}, "\ud800", "a\nb", "\0"),
)


def text(draw: random.Random, whole: str) -> str:
    """One to three edits, seldom none: cut, repeat, swap, or put something in."""
    for _ in range(draw.choice((0, 1, 1, 1, 1, 1, 2, 2, 3))):
        at, end = sorted(draw.randrange(len(whole) + 1) for _ in range(2))
        end = min(end, at + draw.choice((1, 2, 8, 40)))
        edit = draw.randrange(5)
        if edit == 0:
            whole = whole[:at] + whole[end:]
        elif edit == 1:
            whole = whole[:end] + whole[at:end] + whole[end:]
        elif edit == 2:
            whole = whole[:at] + draw.choice(SNIPPETS) + whole[end:]
        elif edit == 3:
            whole = whole[:at] + draw.choice(SNIPPETS) + whole[at:]
        else:
            whole = whole[:at] + whole[at:end].swapcase()[::-1] + whole[end:]
    return whole


def data(draw: random.Random, whole: bytes) -> bytes:
    """One to four edits of bytes."""
    broken = bytearray(whole)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(broken) + 1)
        if draw.random() < 0.5 and at < len(broken):
            broken[at] = draw.randrange(256)
        elif draw.random() < 0.5:
            del broken[at : at + draw.choice((1, 4, 64, 4096))]
        else:
            broken[at:at] = draw.randbytes(draw.choice((1, 4, 64)))
    return bytes(broken)


def tree(draw: random.Random, whole: Any) -> Any:
    """One to three entries of nested lists and tables replaced, removed, renamed or repeated."""
    whole = json.loads(json.dumps(whole))
    for _ in range(draw.randint(1, 3)):
        whole = _edited(draw, whole)
    return whole


def _edited(draw: random.Random, node: Any) -> Any:
    if draw.random() < 0.25 or not isinstance(node, dict | list) or not node:
        if isinstance(node, str) and draw.random() < 0.7:
            return text(draw, node)
        return draw.choice(VALUES)
    if isinstance(node, list):
        at = draw.randrange(len(node))
        return [*node[:at], _edited(draw, node[at]), *node[at + draw.randrange(2) :]]
    key = draw.choice(list(node))
    changed = dict(node)
    edit = draw.randrange(6)
    if edit == 0:
        del changed[key]
    elif edit == 1:
        changed[text(draw, str(key))] = changed.pop(key)
    elif edit == 2:
        changed[draw.choice(("extra", "", "rake_cap", "seed"))] = draw.choice(VALUES)
    else:
        changed[key] = _edited(draw, node[key])
    return changed
