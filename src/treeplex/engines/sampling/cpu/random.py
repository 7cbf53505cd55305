"""Random numbers inside kernels: SplitMix64 (Steele, Lea & Flood 2014), one 64-bit counter per stream.

The n-th number of a stream is a hash of ``start + n * GOLDEN``, so a stream is resumed from its counter alone. Streams
start at hashes of (seed, stream). Maths: ``engines.sampling.reference.random``, to the bit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.jit import uncounted_kernel

Counter = npt.NDArray[np.uint64]
"""[1] where a stream stands; modified in place by every draw."""

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND: Final = np.uint64(0x94D049BB133111EB)
UNIT: Final = 2.0**-53


@uncounted_kernel
def uniform(counter: Counter) -> float:
    """The next number, in [0, 1), 53 bits."""
    z = counter[np.uint64(0)] + GOLDEN
    counter[np.uint64(0)] = z
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * UNIT


@uncounted_kernel
def drawn(threshold: Floats, alias: Ints, start: Any, width: Any, counter: Counter) -> Any:
    """One of the ``width`` moves of a chance node whose distribution begins at ``start`` of the alias tables."""
    x = uniform(counter) * np.float64(width)
    slot = np.uint64(x)
    if x - np.float64(slot) >= threshold[start + slot]:
        slot = np.uint64(alias[start + slot])
    return slot
