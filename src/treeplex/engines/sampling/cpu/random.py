"""Random numbers inside kernels: SplitMix64 (Steele, Lea & Flood 2014), one 64-bit counter per stream.

The n-th number of a stream is a hash of ``start + n * GOLDEN``, so its counter is enough to resume a stream. Streams
start at hashes of (seed, stream). Maths: ``engines.sampling.reference.random``, with the same bits.

Chance draws are independent if a stream consists of its counter. They are correlated if it also has a fraction for
every entry of the chances. Then the k-th draw of a chance node is the quantile u_k = frac(phi + k (sqrt(5) - 1) / 2) of
its distribution. Fractions are integers in units of 2^-64, in which ``GOLDEN`` is (sqrt(5) - 1) / 2, so rounding errors
do not accumulate.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.kernels.jit import Index, kernel

Counter = npt.NDArray[np.uint64]
"""[1] The state of a stream, or [1 + C] with fractions of chance nodes; modified in place by every draw."""

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND: Final = np.uint64(0x94D049BB133111EB)
UNIT: Final = 2.0**-53


@kernel
def uniform(counter: Counter) -> float:
    """Return the next number, in [0, 1), with 53 bits."""
    z = counter[np.uint64(0)] + GOLDEN
    counter[np.uint64(0)] = z
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * UNIT


@kernel
def draw_correlated(cumulative: Floats, start: Index, width: Index, counter: Counter) -> Index:
    """Return the move at the node's next fraction of ``cumulative`` probabilities, by bisection."""
    key = start + np.uint64(1)
    z = counter[key]
    counter[key] = z + GOLDEN
    x = np.float64(z >> np.uint64(11)) * UNIT * cumulative[start + width - np.uint64(1)]
    low, high = np.uint64(0), width - np.uint64(1)
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if x < cumulative[start + middle]:
            high = middle
        else:
            low = middle + np.uint64(1)
    return low


@kernel
def draw_move(threshold: Floats, alias: Ints, start: Index, width: Index, counter: Counter) -> Index:
    """Draw one of the ``width`` moves of a chance node whose distribution begins at ``start`` of the alias tables.

    If draws are correlated, ``threshold`` has cumulative probabilities instead (``tree.sampling``).
    """
    if len(counter) > 1:
        return draw_correlated(threshold, start, width, counter)
    x = uniform(counter) * np.float64(width)
    slot = np.uint64(x)
    if x - np.float64(slot) >= threshold[start + slot]:
        slot = np.uint64(alias[start + slot])
    return slot
