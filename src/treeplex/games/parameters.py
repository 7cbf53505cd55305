"""Checks of a game's parameters. Each error names the parameter, what is legal and what came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from treeplex.errors import ParameterError, quoted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def integer(name: str, value: object, low: int, high: int) -> int:
    """Return ``value``; raise ParameterError unless it is a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        law = f"a whole number from {low} to {high}"
        raise ParameterError(f"The '{name}' parameter must be {law}, got {quoted(value)}.")
    return value


def boolean(name: str, value: object) -> bool:
    """Return ``value``; raise ParameterError unless it is true or false."""
    if not isinstance(value, bool):
        raise ParameterError(f"The '{name}' parameter must be true or false, got {quoted(value)}.")
    return value


def number(name: str, value: object, low: float, high: float) -> float:
    """Return ``value`` as a float; raise ParameterError unless it is a number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ParameterError(f"The '{name}' parameter must be a number from {low:g} to {high:g}, got {quoted(value)}.")
    return float(value)


def choice(name: str, value: object, legal: Sequence[str]) -> str:
    """Return ``value``; raise ParameterError unless it is one of ``legal``."""
    if not isinstance(value, str) or value not in legal:
        options = ", ".join(f'"{option}"' for option in legal)
        raise ParameterError(f"The '{name}' parameter must be one of {options}, got {quoted(value)}.")
    return value


def title(name: str, **changed: object) -> str:
    """Format a game's canonical name, ``name(parameter=value,...)``, with its non-default parameters."""
    shown = [
        f"{key}={json.dumps(value, separators=(',', ':'), default=list, ensure_ascii=False)}"
        for key, value in changed.items()
        if value is not None
    ]
    return f"{name}({','.join(shown)})" if shown else name


def titled(name: str, game: DataclassInstance) -> str:
    """Format the canonical name of rules whose fields are their parameters."""
    parameters = ((field, getattr(game, field.name)) for field in fields(game))
    return title(name, **{field.name: value for field, value in parameters if value != field.default})
