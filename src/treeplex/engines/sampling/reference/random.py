"""SplitMix64 in Python integers, and draws from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeplex.engines.sampling.tree import Chances

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 (sqrt(5) - 1) / 2, made odd
FRACTIONS = 2**32  # streams from this number on give the initial fractions


def mixed(z: int) -> int:
    """Return the hash of SplitMix64: a bijection of 64-bit numbers."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def start(seed: int, stream: int) -> int:
    """Return the start of a stream: a hash of both numbers."""
    return mixed((mixed(seed & MASK) + stream * GOLDEN) & MASK)


class Draws:
    """A stream of random numbers, with the draws that samplers need."""

    def __init__(self, counter: int) -> None:
        self.counter = counter

    def uniform(self) -> float:
        """Return the next number, in [0, 1), with 53 bits."""
        self.counter = (self.counter + GOLDEN) & MASK
        return (mixed(self.counter) >> 11) * 2.0**-53

    def chance(self, chances: Chances, begin: int, width: int) -> int:
        """Return a chance move, by Walker's alias method."""
        x = self.uniform() * width
        slot = int(x)
        return slot if x - slot < chances.threshold[begin + slot] else int(chances.alias[begin + slot])

    def move(self, weights: Sequence[float]) -> int:
        """Return a move with probability in proportion to these weights; a uniform one if all are zero."""
        total = 0.0
        for weight in weights:
            total += weight
        if total <= 0.0:
            return self.any_of(len(weights))
        return self.odds(weights, total)

    def odds(self, probabilities: Sequence[float], total: float = 1.0) -> int:
        """Return a move with these probabilities, which sum to ``total`` up to rounding."""
        x, chosen = self.uniform() * total, 0
        for k, p in enumerate(probabilities):
            if p > 0.0:
                chosen = k
                x -= p
                if x < 0.0:
                    break
        return chosen

    def any_of(self, count: int) -> int:
        """Return one of ``count`` numbers, all equally likely."""
        return int(self.uniform() * count)

    def coin(self, p: float) -> bool:
        """Return True with probability ``p``."""
        return self.uniform() < p

    def one_of(self, count: int) -> bool:
        """Return whether the last of ``count`` equal actions replaces the one chosen before it."""
        return self.uniform() * count < 1.0


class CorrelatedDraws(Draws):
    """A stream whose chance draws are u_k = frac(phi + k (sqrt(5) - 1) / 2) of every chance node, in units of 2^-64.

    ``fractions`` are the next ones, by entry of the chances.
    """

    def __init__(self, counter: int, fractions: Sequence[int]) -> None:
        super().__init__(counter)
        self.fractions = list(fractions)

    def chance(self, chances: Chances, begin: int, width: int) -> int:
        """Return a chance move: the first whose cumulative probability, ``threshold``, exceeds u times the total."""
        u = (self.fractions[begin] >> 11) * 2.0**-53
        self.fractions[begin] = (self.fractions[begin] + GOLDEN) & MASK
        sums = chances.threshold[begin : begin + width].tolist()
        return next(k for k, below in enumerate(sums) if u * sums[-1] < below)


def counter(seed: int, stream: int, entries: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return [1 + entries], the counter of a stream for kernels, then phi of every entry of the chances."""
    z = np.arange(entries + 1, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(start(seed, stream + FRACTIONS))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # as ``mixed``, in integers that wrap around
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    z[0] = start(seed, stream)
    return z
