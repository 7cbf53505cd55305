"""Spots in other programs' formats."""

from __future__ import annotations

from typing import Any, Final

FORMATS: Final[tuple[str, ...]] = ()


def imported(text: str, form: str | None) -> dict[str, Any]:
    """The spot that a text holds."""
    raise NotImplementedError


def exported(spot: Any, form: str) -> dict[str, Any]:
    """A spot as another program reads it."""
    raise NotImplementedError
