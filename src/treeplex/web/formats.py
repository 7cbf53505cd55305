"""Spots and ranges in other programs' formats."""

from __future__ import annotations

import json
from typing import Any, Final

from treeplex.errors import FormatError, ParameterError
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.formats.registry import FORMATS, OURS, detect, read, write
from treeplex.games.holdem.spot import make_spot

ENDINGS: Final = {"treeplex": "json", "desktop": "json", "wasm": "json", "wasm-ranges": "json"}


def names() -> list[str]:
    """Of all formats."""
    return list(FORMATS)


def imported(text: str, form: str | None) -> dict[str, Any]:
    """The spot, or the ranges, that a text holds."""
    form = form or detect(text)
    if form == OURS:
        found = Imported(make_spot(_json(text)).summary())
    else:
        try:
            found = read(text, form)
        except FormatError as error:
            raise ParameterError(f"The text cannot be read: {error}") from None
    ranges = None if found.ranges is None else dict(found.ranges)
    fields = {} if ranges is not None else dict(found.fields) if found.partial else found.spot.summary()
    return {
        "spot": fields,
        "notes": list(found.notes),
        "format": form,
        "target": found.target or None,
        "ranges": ranges,
        "partial": found.partial,
    }


def exported(fields: object, form: str) -> dict[str, Any]:
    """A spot as another program reads it."""
    spot = make_spot(fields)
    made = write(Imported(spot.summary()), form)
    name = f"{spot.board.replace(' ', '')}.{ENDINGS.get(form, 'txt')}"
    return {"text": made.text, "name": name, "notes": list(made.notes)}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a spot in any format that is known ({error!s:.80}).", path="The text") from None
