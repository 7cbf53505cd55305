"""Spots and ranges in the formats of other programs."""

from __future__ import annotations

import json
from typing import Any, Final

from treeplex.errors import FormatError, ParameterError
from treeplex.games.holdem.formats.imported import Imported
from treeplex.games.holdem.formats.registry import FORMATS, OURS, detect, read, write
from treeplex.games.holdem.spot import make_spot

ENDINGS: Final = {"treeplex": "json", "desktop": "json", "wasm": "json", "wasm-ranges": "json"}


def names() -> list[str]:
    """Return the names of all formats."""
    return list(FORMATS)


def imported(text: str, form: str | None) -> dict[str, Any]:
    """Return the spot or the ranges in a text."""
    form = form or detect(text)
    if form == OURS:
        result = Imported(make_spot(_json(text)).summary())
    else:
        try:
            result = read(text, form)
        except FormatError as error:
            raise ParameterError(f"The text cannot be read: {error}") from None
    ranges = None if result.ranges is None else dict(result.ranges)
    fields = {} if ranges is not None else dict(result.fields) if result.partial else result.spot.summary()
    return {
        "spot": fields,
        "notes": list(result.notes),
        "format": form,
        "target": result.target or None,
        "ranges": ranges,
        "partial": result.partial,
    }


def exported(fields: object, form: str) -> dict[str, Any]:
    """Return a spot as text for another program."""
    spot = make_spot(fields)
    made = write(Imported(spot.summary()), form)
    name = f"{spot.board.replace(' ', '')}.{ENDINGS.get(form, 'txt')}"
    return {"text": made.text, "name": name, "notes": list(made.notes)}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a spot in any known format ({error!s:.80}).", path="The text") from None
