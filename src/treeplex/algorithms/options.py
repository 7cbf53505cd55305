"""Checks of algorithms' parameters: each refusal names the parameter, what is legal and what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

import numpy as np

from treeplex.errors import ParameterError, quoted, within
from treeplex.updates.schedules import Schedule, linear, log, power, uniform, weights_at
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

HORIZON: Final = 1000  # iterations, of a run that begins without a limit on them
LATEST: Final = 1_000_000_000
RECENT: Final = "recent"  # a plain average that forgets the beginning of the run
TURNS: Final = {"alternating": ALTERNATING, "simultaneous": SIMULTANEOUS}


def turn_order(name: object) -> int:
    """The number of an order of turns."""
    return named("turns", name, TURNS)


def averaging(name: object) -> Schedule:
    """Averaging weights by name."""
    return named("weight", name, WEIGHTS)()


def averaging_of(weight: object) -> Schedule:
    """Averaging weights by name, or a function of one's own, which is tried."""
    if not callable(weight):
        return averaging(weight)
    schedule = cast(Schedule, weight)
    weights_at(schedule, np.arange(1.0, 9.0))
    return schedule


def separate(name: object) -> Schedule | None:
    """Weights of averages alone, by name; None for "same": those that regrets have."""
    return None if name == "same" else named("average", name, {"same": uniform, RECENT: uniform, **WEIGHTS})()


WEIGHTS: Final[dict[str, Callable[[], Schedule]]] = {
    "uniform": uniform,
    "linear": linear,
    "square": lambda: power(2.0),
    "log": log,
}

Meaning = TypeVar("Meaning")


def named(name: str, value: object, legal: Mapping[str, Meaning]) -> Meaning:
    """What a word of a short list stands for."""
    if not isinstance(value, str) or value not in legal:
        raise ParameterError(f"The '{name}' parameter must be one of {', '.join(legal)}, got {quoted(value)}.")
    return legal[value]


def constant(name: str, value: object, legal: Mapping[str, int]) -> int:
    """One of the numbers of a short list, by its word or as it is."""
    known = isinstance(value, int) and not isinstance(value, bool) and value in legal.values()
    return cast(int, value) if known else named(name, value, legal)


def number(name: str, value: object, low: float = -1e6, high: float = 1e6) -> float:
    """A number in a range."""
    return within(float, name, value, f"a number from {low:g} to {high:g}", low, high)


def exponent(name: str, value: object) -> float:
    """A power of the iteration to weigh it by; beyond 20 a long run would overflow."""
    return number(name, value, 0.0, 20.0)


def first_exponent(name: str, value: object) -> float:
    """What gamma begins with where it falls by 5 (``schedules.falling``), whose weights have units of their own."""
    return number(name, value, 5.0, 100.0)


def horizon_of(value: object) -> int:
    """Iterations until a schedule is through; 0: as many as where nothing limits a run."""
    return within(int, "horizon", value, f"a whole number from 0 to {LATEST:,}", 0, LATEST) or HORIZON


def counted(name: str, value: object, high: int) -> int:
    """A whole number from one up."""
    return within(int, name, value, f"a whole number from 1 to {high:,}", 1, high)
