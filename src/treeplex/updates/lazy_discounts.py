"""Discounts of regrets that are not updated in every iteration, as sums of logarithms.

With d_k the discount after iteration k and L(t) = log d_1 + ... + log d_(t - 1), a regret that was last updated in
iteration s has been multiplied by exp(L(t) - L(s)) when iteration t begins.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.updates.discounted import Discounted

BLOCK: Final = 1 << 16  # iterations whose logarithms are computed at once

_KNOWN: dict[Discounted, tuple[int, Floats]] = {}
"""The last t and L(t) that were computed, by rule."""


def logarithms(rule: Discounted, done: int, count: int) -> Floats:
    """Return [count, 2]: L(t) of iterations done + 1, ..., done + count, for positive and for other regrets.

    Sums run over the iterations in order, so that they do not depend on how a run is cut.
    """
    t, sums = _KNOWN.get(rule, (1, np.zeros(2)))
    if t > done + 1:
        t, sums = 1, np.zeros(2)
    while t < done + 1:
        last = min(t + BLOCK, done + 1)
        sums = _continued(rule, t, last - t, sums)[-1]
        t = last
    table = _continued(rule, t, count, sums)
    _KNOWN[rule] = done + 1 + count, table[-1]
    return table[:-1]


def _continued(rule: Discounted, t: int, count: int, sums: Floats) -> Floats:
    """Return [count + 1, 2]: L(t), ..., L(t + count), where L(t) is ``sums``."""
    steps = np.log(np.stack(rule.discounts(np.arange(t, t + count, dtype=np.float64)), axis=1))
    return np.cumsum(np.concatenate((sums[None, :], steps)), axis=0)
