"""Bet sizes: ``33%`` of the pot, ``2.5x`` the bet before, ``e`` geometric, ``120c`` chips, ``a`` all-in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from treeplex.errors import ParameterError

POT: Final = "%"
MULTIPLE: Final = "x"
GEOMETRIC: Final = "e"
CHIPS: Final = "c"
ALL_IN: Final = "a"

_FORMS: Final = re.compile(r"^(?:(\d+(?:\.\d+)?)(%|x)|(\d+)(c)|([1-9]?)(e)(?:(\d+(?:\.\d+)?)%)?|(a))$")


@dataclass(frozen=True)
class Size:
    """One size. ``amount``: a share of the pot, a multiple, chips, or streets left (0: those that are left)."""

    kind: str
    amount: float = 0.0
    most: float = float("inf")  # of a geometric size, as a share of the pot


def parse_sizes(text: object, name: str, *, raises: bool) -> tuple[Size, ...]:
    """Sizes separated by commas.

    >>> parse_sizes("50%, a", "bet", raises=False)
    (Size(kind='%', amount=0.5, most=inf), Size(kind='a', amount=0.0, most=inf))
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' sizes must be text such as \"33%, 75%, a\", got {text!r}.")
    return tuple(_size(part.strip(), name, raises) for part in text.split(",") if part.strip())


def _size(part: str, name: str, raises: bool) -> Size:
    found = _FORMS.match(part.lower().replace(" ", ""))
    if found is None:
        raise ParameterError(
            f"The '{name}' sizes must be of the forms 33% (of the pot), 2.5x (raises only), e, 2e or 3e200%"
            f" (geometric), 120c (chips) or a (all-in), got {part!r}."
        )
    relative, kind, chips, _, streets, geometric, most, _ = found.groups()
    if kind == POT:
        return Size(POT, _within(float(relative) / 100.0, 0.0, 100.0, part, name))
    if kind == MULTIPLE:
        if not raises:
            raise ParameterError(f"The '{name}' sizes are first bets, so there is no bet to multiply, got {part!r}.")
        return Size(MULTIPLE, _within(float(relative), 1.0, 1000.0, part, name))
    if chips:
        return Size(CHIPS, _within(float(chips), 0.0, 1e9, part, name))
    if geometric:
        return Size(GEOMETRIC, float(streets or 0), float(most) / 100.0 if most else float("inf"))
    return Size(ALL_IN)


def _within(value: float, low: float, high: float, part: str, name: str) -> float:
    if not low < value <= high:
        raise ParameterError(f"A size in '{name}' is out of range (more than {low:g}, at most {high:g}), got {part!r}.")
    return value
