"""Dynamic thresholding: probabilities below a threshold become zero (Brown, Kroer & Sandholm 2017).

With regret matching (Theorem 2):

    sigma^{t+1}(a) ~ max(R^t(a), 0);  0 if that is below (C^2 - 1) / (2 C |A|^2 sqrt(t + 1)), with C = 1 + d

The most likely action is never cut. With Hedge: ``updates.hedge``.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.updates.hedge import cut_below, value_of
from treeplex.updates.rule import Fixed, Rule
from treeplex.updates.rules import normalise, positive

Counts = npt.NDArray[np.integer] | int


def hedge_threshold(actions: Counts, d: float) -> Floats:
    """Return d sqrt(ln |A|) / (sqrt(2) |A|^2), to be divided by sqrt(t): Theorem 1 with C = 1 + d, and Figure 2."""
    return d * np.sqrt(np.log(actions)) / (np.sqrt(2.0) * np.square(actions, dtype=np.float64))


def matching_threshold(actions: Counts, d: float) -> Floats:
    """Return (C^2 - 1) / (2 C |A|^2) with C = 1 + d, to be divided by sqrt(t): Theorem 2."""
    c = 1.0 + d
    return (c * c - 1.0) / (2.0 * c * np.square(actions, dtype=np.float64))


def thresholded(d: float) -> Rule:
    """Regret matching with dynamic thresholding. The memory row is R."""
    return Rule("rm-dt", update, memory=1, constants=Fixed((d,)), checked=False)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equation above."""
    actions, best, total, remaining = len(values), -np.inf, 0.0, 0.0
    expected, c = value_of(values, strategy), 1.0 + constants[0]
    for a in range(actions):
        memory[0, a] += values[a] - expected
        best = max(best, memory[0, a])
    for a in range(actions):
        strategy[a] = normalise(positive(memory[0, a]), best, 1)  # the most likely action has weight 1 and is never cut
        total += strategy[a]
    least = (c * c - 1.0) / (2.0 * c * float(actions * actions)) * (1.0 / math.sqrt(t + 1.0)) * total
    for a in range(actions):
        strategy[a] = cut_below(strategy[a], least)
        remaining += strategy[a]
    for a in range(actions):
        strategy[a] /= remaining


def cut(strategy: Floats, least: float) -> Floats:
    """Set probabilities below ``least`` to zero and divide the rest by its sum; the largest one is never cut."""
    weights = np.where((strategy < least) & (strategy < strategy.max()), 0.0, strategy)
    return weights / weights.sum()
