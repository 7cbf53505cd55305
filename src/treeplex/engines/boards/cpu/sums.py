"""Sums over all boards and hands of a street, for growth: regrets of a decision, and gains of an action.

Numbers of any floating-point storage, sums in float64 in the order of the hands. One thread; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import Offsets
from treeplex.kernels.jit import kernel


@kernel
def regret_squares(
    regret: npt.NDArray[Any], first: Offsets, width: Offsets, boards: Floats, left: Floats, slot: int, actions: int,
) -> float:  # fmt: skip
    """Return the sum of all squared positive regrets of one decision.

    ``first``, ``width``, ``boards`` [N]: see ``rows.HandRows``. ``left`` [N]: factor of a positive regret, by discounts
    since its last update.
    """
    squares = 0.0
    for n in range(len(first)):
        if boards[n] == 0.0:
            continue
        total = 0.0
        for a in range(actions):
            r = np.float64(regret[first[n] + (slot + a) * width[n]])
            if r > 0.0:
                total += r * r
        squares += total * left[n] * left[n] * boards[n]
    return squares


@kernel
def excess(
    values: npt.NDArray[Any], first: Offsets, width: Offsets, boards: Floats, slot: int,
    inside: npt.NDArray[np.bool_], gains: Floats,
) -> None:  # fmt: skip
    """Fill ``gains``: advantage of each action of a decision over all actions ``inside``, summed over hands."""
    gains[:] = 0.0
    for n in range(len(first)):
        if boards[n] == 0.0:
            continue
        best = -np.inf
        for a in range(len(inside)):
            if inside[a]:
                best = max(best, np.float64(values[first[n] + (slot + a) * width[n]]))
        for a in range(len(inside)):
            value = np.float64(values[first[n] + (slot + a) * width[n]])
            if value > best:
                gains[a] += (value - best) * boards[n]
