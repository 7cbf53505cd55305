"""Numbers of two adjacent hands, which a thread processes together: half of the loads, stores and indices.

A pair is a tuple. It is read and written in one access, at an even index.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from treeplex.kernels.cuda.kernels import SIMULATED, callee, load2, store2


class Pairs(NamedTuple):
    """Operations of kernels on pairs of numbers of one type."""

    load: Any  # (array, at)
    store: Any  # (array, at, pair)
    plus: Any
    minus: Any
    times: Any
    scaled: Any  # (pair, number)
    largest: Any
    positive: Any
    some: Any  # is one of them nonzero?


@cache
def pairs(number: type[np.floating[Any]]) -> Pairs:
    """Return the operations for numbers of a type."""
    zero = number(0.0)

    def load(array, at):
        a, b = load2(array, at)
        return number(a), number(b)

    def store(array, at, x):
        store2(array, at, x[0], x[1])

    def plus(x, y):
        return x[0] + y[0], x[1] + y[1]

    def minus(x, y):
        return x[0] - y[0], x[1] - y[1]

    def times(x, y):
        return x[0] * y[0], x[1] * y[1]

    def scaled(x, factor):
        return factor * x[0], factor * x[1]

    def largest(x, y):
        return max(x[0], y[0]), max(x[1], y[1])

    def positive(x):
        return max(x[0], zero), max(x[1], zero)

    def some(x):
        return x[0] != zero or x[1] != zero

    made = load, store, plus, minus, times, scaled, largest, positive, some
    return Pairs(*(made if SIMULATED else (callee(each) for each in made)))
