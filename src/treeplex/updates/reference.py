"""The same rules in NumPy, over all infosets of a treeplex at once: the specification."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints


def regret_matching(regret: Floats, first: Ints) -> Floats:
    """[S] max(R, 0) over its sum within each infoset, uniform where the sum is zero; 1 for the empty sequence.

    ``first`` [I + 1]: where the sequences of each infoset begin.
    """
    positive = np.maximum(regret, 0.0)
    width = np.diff(first)
    total = np.add.reduceat(positive, first[:-1]) if len(width) else np.empty(0)
    out = np.ones(len(regret))
    spread, count = np.repeat(total, width), np.repeat(width, width)
    out[1:] = np.where(spread > 0.0, positive[1:] / np.where(spread > 0.0, spread, 1.0), 1.0 / count)
    return out
