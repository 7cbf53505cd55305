"""Weights of the dilated entropy, bottom-up over a treeplex. Float64; one thread; no fastmath."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.first_order import FARINA_2021, KROER_2015
from treeplex.kernels.jit import allocating_kernel


@allocating_kernel
def entropy_weights(treeplex: Treeplex, scheme: int, weight: Floats, height: Ints) -> float:
    """Write weights and heights of all infosets to ``weight`` [I] and ``height`` [I]; return the largest norm.

    An infoset's height is 0 if no own infoset lies below it. Norms are sums of realization plans, M in the papers. The
    norm of an infoset counts its own sequences and all below them. The norm of the treeplex, which is returned, counts
    all but the empty sequence.
    """
    first, parent = treeplex
    sequences = first[len(parent)]
    norms, weights, heights = np.zeros(sequences), np.zeros(sequences), np.full(sequences, -1)
    for infoset in range(len(parent) - 1, -1, -1):
        norm, heavy, high = 0.0, 0.0, -1
        for s in range(first[infoset], first[infoset + 1]):
            norm, heavy, high = max(norm, norms[s]), max(heavy, weights[s]), max(high, heights[s])
        norm += 1.0
        high += 1
        if scheme == KROER_2015:
            own = 2.0 ** (high + 1) * norm
        elif scheme == FARINA_2021:
            own = norm
        else:
            own = 2.0 + 2.0 * heavy
        weight[infoset], height[infoset] = own, high
        above = parent[infoset]
        norms[above] += norm
        weights[above] += own
        heights[above] = max(heights[above], high)
    return norms[0]
