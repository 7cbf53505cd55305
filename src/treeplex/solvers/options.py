"""Checks of algorithms' parameters: each refusal names the parameter, what is legal and what came."""

from __future__ import annotations

from typing import Final

from treeplex.errors import ParameterError
from treeplex.kernels.rules import ALTERNATING, SIMULTANEOUS

TURNS: Final = {"alternating": ALTERNATING, "simultaneous": SIMULTANEOUS}


def turn_order(name: object) -> int:
    """The number of an order of turns."""
    if not isinstance(name, str) or name not in TURNS:
        raise ParameterError(f"The 'turns' parameter must be one of {', '.join(TURNS)}, got {name!r}.")
    return TURNS[name]


def number(name: str, value: object, low: float = -1e6, high: float = 1e6) -> float:
    """A number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ParameterError(f"The '{name}' parameter must be a number from {low:g} to {high:g}, got {value!r}.")
    return float(value)


def exponent(name: str, value: object) -> float:
    """A power of the iteration to weigh it by; beyond 20 a long run would overflow."""
    return number(name, value, 0.0, 20.0)


def whole(name: str, value: object) -> int:
    """A whole number, zero or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"The '{name}' parameter must be a whole number that is not negative, got {value!r}.")
    return value
