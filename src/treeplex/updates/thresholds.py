"""Dynamic thresholding: how small a probability may be before it is taken for zero (Brown, Kroer & Sandholm 2017)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats

Counts = npt.NDArray[np.integer] | int


def hedge_threshold(actions: Counts, d: float) -> Floats:
    """d sqrt(ln |A|) / (sqrt(2) |A|^2), to be divided by sqrt(t): Theorem 1 with C = 1 + d, and Figure 2."""
    return d * np.sqrt(np.log(actions)) / (np.sqrt(2.0) * np.square(actions, dtype=np.float64))


def matching_threshold(actions: Counts, d: float) -> Floats:
    """(C^2 - 1) / (2 C |A|^2) with C = 1 + d, to be divided by sqrt(t): Theorem 2."""
    c = 1.0 + d
    return (c * c - 1.0) / (2.0 * c * np.square(actions, dtype=np.float64))


def cut(strategy: Floats, least: float) -> Floats:
    """What is below ``least`` becomes zero, the rest is divided by its sum; the largest probability stays."""
    kept = np.where((strategy < least) & (strategy < strategy.max()), 0.0, strategy)
    return kept / kept.sum()
