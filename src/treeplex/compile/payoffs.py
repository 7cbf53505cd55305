"""The payoff operator A of ``max_x min_y x'Ay`` as a sparse matrix, in both orientations."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from treeplex.arrays import Floats, Ints

NEAR_ONE: Final = 32
"""Payoffs from 2 ** -32 to 2 ** 32 are stored unscaled, so that a user's rule sees them as they are."""


def unit_of(largest: float) -> float:
    """Unit of the stored payoffs: 1 or, if the largest payoff is far from 1, a power of two that scales it to order 1.

    With it no storage format overflows or loses small regrets. A division by a power of two is exact, so strategies do
    not change by a bit.
    """
    exponent = math.frexp(largest)[1] - 1
    return 1.0 if largest == 0.0 or abs(exponent) <= NEAR_ONE else math.ldexp(1.0, exponent)


class Csr(NamedTuple):
    """Compressed sparse rows: row ``s`` holds ``data[start[s]:start[s + 1]]`` in columns ``column[...]``."""

    start: Ints  # [rows + 1]
    column: Ints  # [entries], each column once per row
    data: Floats  # [entries]


class Payoffs(NamedTuple):
    """A[s0, s1] = sum over terminals reached by sequences s0 and s1 of chance probability times player 0's payoff."""

    rows: Csr  # A, a row per sequence of player 0
    columns: Csr  # A transposed, a row per sequence of player 1

    @property
    def entries(self) -> int:
        """Number of pairs of sequences with a nonzero payoff."""
        return len(self.rows.data)

    @staticmethod
    def gather(
        shape: tuple[int, int], rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], values: Floats
    ) -> Payoffs:
        """Add up the terminals that share a pair of sequences, and drop pairs with a payoff of exactly zero."""
        matrix = sparse.csr_array((values, (rows, columns)), shape=shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return Payoffs(_csr(matrix), _csr(matrix.T.tocsr()))


def _csr(matrix: sparse.csr_array) -> Csr:
    matrix.sort_indices()
    return Csr(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data)
