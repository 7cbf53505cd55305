"""Checks of algorithm parameters. Each error names the parameter, what is legal and the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

import numpy as np

from treeplex.errors import ParameterError, quoted, within
from treeplex.updates.schedules import Schedule, linear, log, power, uniform, weights_at
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

HORIZON: Final = 1000  # iterations of a run that begins without a limit on them
LATEST: Final = 1_000_000_000
RECENT: Final = "recent"  # a plain average that omits the beginning of the run
UNIFORM, RANDOM = "uniform", "random"
STARTS: Final = {UNIFORM: UNIFORM, RANDOM: RANDOM}  # strategies of the first iteration
TURNS: Final = {"alternating": ALTERNATING, "simultaneous": SIMULTANEOUS}


def turn_order(name: object) -> int:
    """Return the constant of an order of turns by name."""
    return named("turns", name, TURNS)


def averaging(name: object) -> Schedule:
    """Return averaging weights by name."""
    return named("weight", name, WEIGHTS)()


def averaging_of(weight: object) -> Schedule:
    """Return averaging weights by name, or check and return a user's function."""
    if not callable(weight):
        return averaging(weight)
    schedule = cast(Schedule, weight)
    weights_at(schedule, np.arange(1.0, 9.0))
    return schedule


def separate(name: object) -> Schedule | None:
    """Return weights of averages only, by name; None for "same", the weights of the regrets."""
    return None if name == "same" else named("average", name, {"same": uniform, RECENT: uniform, **WEIGHTS})()


WEIGHTS: Final[dict[str, Callable[[], Schedule]]] = {
    "uniform": uniform,
    "linear": linear,
    "square": lambda: power(2.0),
    "log": log,
}

Meaning = TypeVar("Meaning")


def named(name: str, value: object, legal: Mapping[str, Meaning]) -> Meaning:
    """Return the value that ``legal`` has for a word, or raise."""
    if not isinstance(value, str) or value not in legal:
        raise ParameterError(f"The '{name}' parameter must be one of {', '.join(legal)}, got {quoted(value)}.")
    return legal[value]


def constant(name: str, value: object, legal: Mapping[str, int]) -> int:
    """Return a constant by its name, or unchanged if it is one of the legal numbers."""
    known = isinstance(value, int) and not isinstance(value, bool) and value in legal.values()
    return cast(int, value) if known else named(name, value, legal)


def number(name: str, value: object, low: float = -1e6, high: float = 1e6) -> float:
    """Check and return a number in a range."""
    return within(float, name, value, f"a number from {low:g} to {high:g}", low, high)


def exponent(name: str, value: object) -> float:
    """Check and return an exponent of the iteration in a weight; above 20 a long run would overflow."""
    return number(name, value, 0.0, 20.0)


def first_exponent(name: str, value: object) -> float:
    """Check and return the start of a gamma that falls by 5 (``schedules.falling``); such weights have units."""
    return number(name, value, 5.0, 100.0)


def horizon_of(value: object) -> int:
    """Return the iterations until a schedule ends; 0 stands for the default of unlimited runs."""
    return within(int, "horizon", value, f"a whole number from 0 to {LATEST:,}", 0, LATEST) or HORIZON


def counted(name: str, value: object, high: int) -> int:
    """Check and return a positive integer."""
    return within(int, name, value, f"a whole number from 1 to {high:,}", 1, high)
