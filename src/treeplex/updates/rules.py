"""The update rules of the regret matching family, each written once: small functions that every engine inlines.

They are plain arithmetic on numbers, so the NumPy references call the same functions on arrays where a rule has no
branch, and ``updates.reference`` has the forms for whole infosets.

    positive(R) = max(R, 0)
    share(x, total, width) = x / total, or 1 / width where the total is zero                 regret matching
    positive_sum, share_out: the same two over the actions of an infoset, wherever they are kept
    matched(x, total, ...) = the same without a branch, for vectors of hands
    discounted(R, r, d+, d-) = d+ (R + r) if R + r > 0, else d- (R + r)                      Brown & Sandholm (2019)
    decayed(R, d+, d-, 0) = d+ R if R > 0, else d- R                                         discounts on their own
    floored(R, plus) = max(R, 0) if plus, else R                                             regret matching+

Division, not multiplication by a reciprocal: a pure strategy must come out as exactly one. ``+ 0.0`` turns -0.0 into
0.0.
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
    """max(R, 0): what regret matching plays in proportion to."""
    return max(regret, 0.0)


@inlined
def share(part: float, total: float, width: Index) -> float:
    """Regret matching: the share of a positive part in the total, uniform over ``width`` actions if there is none."""
    return part / total if total > 0.0 else 1.0 / width


@inlined_loop
def positive_sum(weights: npt.NDArray[Any], begin: Index, end: Index, places: npt.NDArray[Any] | None) -> float:
    """The sum of the positive parts of ``weights[begin:end]``, or of those at ``places[begin:end]``."""
    total = 0.0
    for k in range(begin, end):
        s = k if places is None else np.uint64(places[k])
        total += positive(weights[s])
    return total


@inlined_loop
def share_out(
    weights: npt.NDArray[Any],
    strategy: npt.NDArray[Any],
    begin: Index,
    end: Index,
    places: npt.NDArray[Any] | None,
    total: float,
) -> None:
    """Regret matching: each positive part over their ``total``, into the same places of ``strategy``; else uniform.

    The arrays may be one, or columns of matrices. Indices are unsigned, and places are those of ``positive_sum``.
    """
    for k in range(begin, end):
        s = k if places is None else np.uint64(places[k])
        strategy[s] = share(positive(weights[s]), total, end - begin)


@inlined
def matched(part: Number, total: Number, tiny: Number, one: Number) -> tuple[Any, Number]:
    """``share`` without a branch, also for vectors: is there a positive part, and ``part`` over the total.

    Totals up to ``tiny`` count as none. All numbers are of one type, of which ``one`` is one.
    """
    some = total > tiny
    return some, part / where(some, total, one)


@inlined
def discounted(regret: float, instantaneous: float, up: float, down: float) -> float:
    """The regret after an iteration: instantaneous regret added, then discounted by its sign."""
    r = regret + instantaneous
    return r * up if r > 0.0 else r * down + 0.0


@inlined
def decayed(regret: Number, up: Number, down: Number, zero: Number) -> Number:
    """Regrets, a number or a vector of them, times the discounts of their signs."""
    return regret * where(regret > zero, up, down)


@inlined
def floored(regret: float, plus: bool) -> float:
    """Regret matching+ forgets negative regret; regret matching keeps it."""
    return regret if regret > 0.0 or not plus else 0.0
