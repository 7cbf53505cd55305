"""The update rules of the regret matching family, each written once: small functions that every engine inlines.

They are plain arithmetic on numbers, so the NumPy references call the same functions on arrays where a rule has no
branch. ``updates.reference`` has the forms for whole infosets.

    positive(R) = max(R, 0)
    normalise(x, total, width) = x / total, or 1 / width where the total is zero             regret matching
    positive_sum, normalise_span: both of the above over the actions of an infoset, however they are stored
    matched(x, total, ...) = the same without a branch, for vectors of hands
    discounted(R, r, d+, d-) = d+ (R + r) if R + r > 0, else d- (R + r)                      Brown & Sandholm (2019)
    decayed(R, d+, d-, 0) = d+ R if R > 0, else d- R                                         discounts on their own
    floored(R, plus) = max(R, 0) if plus, else R                                             regret matching+

They divide instead of multiplying by a reciprocal: a pure strategy must be exactly one. ``+ 0.0`` turns -0.0 into 0.0.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.kernels.jit import Index, inlined, inlined_loop
from treeplex.kernels.vectors import Vector, where

Number = TypeVar("Number", float, Vector)
"""A number, or 16 side by side."""


@inlined
def positive(regret: float) -> float:
    """Return max(R, 0), to which regret matching plays in proportion."""
    return max(regret, 0.0)


@inlined
def normalise(part: float, total: float, width: Index) -> float:
    """Return a positive part over the total: regret matching, uniform over ``width`` actions if the total is zero."""
    return part / total if total > 0.0 else 1.0 / width


@inlined_loop
def positive_sum(weights: npt.NDArray[Any], begin: Index, end: Index, indices: npt.NDArray[Any] | None) -> float:
    """Return the sum of the positive parts of ``weights[begin:end]``, or of those at ``indices[begin:end]``."""
    total = 0.0
    for k in range(begin, end):
        s = k if indices is None else np.uint64(indices[k])
        total += positive(weights[s])
    return total


@inlined_loop
def normalise_span(
    weights: npt.NDArray[Any],
    strategy: npt.NDArray[Any],
    begin: Index,
    end: Index,
    indices: npt.NDArray[Any] | None,
    total: float,
) -> None:
    """Regret matching: divide each positive part by ``total``, into the same positions of ``strategy``; else uniform.

    The arrays may be one array, or columns of matrices. Indices are unsigned; ``indices`` is that of ``positive_sum``.
    """
    for k in range(begin, end):
        s = k if indices is None else np.uint64(indices[k])
        strategy[s] = normalise(positive(weights[s]), total, end - begin)


@inlined
def matched(part: Number, total: Number, tiny: Number, one: Number) -> tuple[Any, Number]:
    """``normalise`` without a branch, also for vectors: whether the total is positive, and ``part`` over the total.

    Totals up to ``tiny`` count as zero. All numbers have one type, whose number one is ``one``.
    """
    some = total > tiny
    return some, part / where(some, total, one)


@inlined
def discounted(regret: float, instantaneous: float, up: float, down: float) -> float:
    """Return the regret after an iteration: instantaneous regret is added, then discounted by the sum's sign."""
    r = regret + instantaneous
    return r * up if r > 0.0 else r * down + 0.0


@inlined
def decayed(regret: Number, up: Number, down: Number, zero: Number) -> Number:
    """Return regrets, a number or a vector, times the discounts of their signs."""
    return regret * where(regret > zero, up, down)


@inlined
def floored(regret: float, plus: bool) -> float:
    """Return the regret; with ``plus``, negative regret becomes zero."""
    return regret if regret > 0.0 or not plus else 0.0
