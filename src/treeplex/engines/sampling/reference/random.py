"""SplitMix64 in integers of Python, and what is drawn from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeplex.engines.sampling.tree import Chances

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(z: int) -> int:
    """The hash of SplitMix64: a bijection of 64-bit numbers."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def start(seed: int, stream: int) -> int:
    """Where a stream begins: a hash of both numbers."""
    return mixed((mixed(seed & MASK) + stream * GOLDEN) & MASK)


class Draws:
    """A stream, with the questions that samplers ask."""

    def __init__(self, counter: int) -> None:
        self.counter = counter

    def uniform(self) -> float:
        """The next number, in [0, 1), 53 bits."""
        self.counter = (self.counter + GOLDEN) & MASK
        return (mixed(self.counter) >> 11) * 2.0**-53

    def chance(self, chances: Chances, begin: int, width: int) -> int:
        """A chance move, by Walker's alias method."""
        x = self.uniform() * width
        slot = int(x)
        return slot if x - slot < chances.threshold[begin + slot] else int(chances.alias[begin + slot])

    def move(self, weights: Sequence[float]) -> int:
        """A move with probability in proportion to these weights; any if all are zero."""
        total = 0.0
        for weight in weights:
            total += weight
        if total <= 0.0:
            return self.any_of(len(weights))
        return self.odds(weights, total)

    def odds(self, probabilities: Sequence[float], total: float = 1.0) -> int:
        """A move with these probabilities, which add up to ``total`` but for rounding."""
        x, chosen = self.uniform() * total, 0
        for k, p in enumerate(probabilities):
            if p > 0.0:
                chosen = k
                x -= p
                if x < 0.0:
                    break
        return chosen

    def any_of(self, count: int) -> int:
        """One of so many, all equally likely."""
        return int(self.uniform() * count)

    def coin(self, p: float) -> bool:
        """True with probability ``p``."""
        return self.uniform() < p

    def one_of(self, count: int) -> bool:
        """Whether the last of ``count`` equals takes the place of those before it."""
        return self.uniform() * count < 1.0


def counter(seed: int, stream: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """[1] the counter of a stream for kernels."""
    return np.array([start(seed, stream)], dtype=np.uint64)
