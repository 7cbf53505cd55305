"""The dilated entropy over a treeplex. Maths: ``engines.sequence.reference.prox``.

Storage and accumulation float64; one thread; no fastmath. Infosets are visited by height, from those with nothing below
them, in batches of ``BATCH``. The actions of a batch lie side by side, so that exp and log run over whole arrays. There
is one exp per action and one log per infoset.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.first_order import Entropy, ProxScratch
from treeplex.kernels.jit import kernel
from treeplex.updates.exponential import exp_all, log_all

BATCH: Final = 128


@kernel
def respond(
    treeplex: Treeplex, entropy: Entropy, smoothing: float, gradient: Floats, scratch: ProxScratch, answer: Floats
) -> float:
    """Write the smoothed best response to ``gradient`` [S] to ``answer`` [S], a realization plan; return its value."""
    first, parent = treeplex
    weight, log_actions, order, level = entropy
    below, likely, best, total = scratch
    for height in range(len(level) - 1):
        begin = level[height]
        while begin < level[height + 1]:
            stop = min(begin + BATCH, level[height + 1])
            count = np.uint64(0)
            for index in range(begin, stop):
                infoset = np.uint64(order[np.uint64(index)])
                start, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
                cold = 1.0 / (smoothing * weight[infoset])
                top = gradient[start] + below[start]
                for s in range(start, end):
                    value = gradient[s] + below[s]
                    below[s] = 0.0
                    likely[count + (s - start)] = value
                    top = max(top, value)
                for _ in range(start, end):
                    likely[count] = (likely[count] - top) * cold
                    count += np.uint64(1)
                best[np.uint64(index - begin)] = top
            exp_all(likely, int(count))
            count = np.uint64(0)
            for index in range(begin, stop):
                infoset = np.uint64(order[np.uint64(index)])
                start, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
                summed = 0.0
                for s in range(start, end):
                    summed += likely[count + (s - start)]
                inverse = 1.0 / summed
                for s in range(start, end):
                    answer[s] = likely[count] * inverse
                    count += np.uint64(1)
                total[np.uint64(index - begin)] = summed
            log_all(total, stop - begin)
            for index in range(begin, stop):
                infoset = np.uint64(order[np.uint64(index)])
                here = np.uint64(index - begin)
                gained = smoothing * weight[infoset] * (total[here] - log_actions[infoset])
                below[np.uint64(parent[infoset])] += best[here] + gained
            begin = stop
    value = gradient[0] + below[0]
    below[0] = 0.0
    answer[0] = 1.0
    start = np.uint64(1)
    for infoset in range(np.uint64(len(parent))):
        end = np.uint64(first[infoset + np.uint64(1)])
        above = answer[np.uint64(parent[infoset])]
        for s in range(start, end):
            answer[s] *= above
        start = end
    return value


@kernel
def mix(old: Floats, weight: float, new: Floats, out: Floats) -> None:
    """Compute out = (1 - weight) old + weight new; ``out`` is modified in place and may be ``old``."""
    keep = 1.0 - weight
    for s in range(np.uint64(len(old))):
        out[s] = keep * old[s] + weight * new[s]
