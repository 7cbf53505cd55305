"""Spots and ranges in other programs' formats."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any, Final

from treeplex.errors import FormatError, ParameterError
from treeplex.games.holdem.spot import make_spot

REGISTRY: Final = "treeplex.games.holdem.formats.registry"
OURS: Final = "treeplex"
ENDINGS: Final = {"treeplex": "json", "desktop": "json", "wasm": "json", "wasm-ranges": "json"}


def names() -> list[str]:
    """Of all formats."""
    try:
        return list(_registry().FORMATS)
    except ParameterError:
        return [OURS]


def imported(text: str, form: str | None) -> dict[str, Any]:
    """The spot, or the ranges, that a text holds."""
    registry = _registry()
    form = form or str(registry.detect(text))
    if form == OURS:
        return _told(make_spot(_json(text)).summary(), form)
    found: Any = registry.read(text, form)
    ranges = None if found.ranges is None else dict(found.ranges)
    fields = {} if ranges is not None else dict(found.fields) if found.partial else found.spot.summary()
    return _told(fields, form) | {
        "notes": list(found.notes),
        "target": found.target or None,
        "ranges": ranges,
        "partial": bool(found.partial),
    }


def exported(fields: Any, form: str) -> dict[str, Any]:
    """A spot as another program reads it."""
    registry, spot = _registry(), make_spot(fields)
    source: Any = import_module("treeplex.games.holdem.formats.imported").Imported(spot.summary())
    made: Any = registry.write(source, form)
    name = f"{spot.board.replace(' ', '')}.{ENDINGS.get(form, 'txt')}"
    return {"text": made.text, "name": name, "notes": list(made.notes)}


def _told(fields: dict[str, Any], form: str) -> dict[str, Any]:
    return {"spot": fields, "notes": [], "format": form, "target": None, "ranges": None, "partial": False}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a spot in any format that is known ({error!s:.80}).", path="text") from None


def _registry() -> Any:
    try:
        return import_module(REGISTRY)
    except ModuleNotFoundError:
        raise ParameterError("Formats of other programs are not part of this version.") from None
