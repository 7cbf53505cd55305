"""Gradients of every form of the payoff operator: the value of each sequence against the opponent's plan."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.blocks import BlockRows, ClassRows, RankedRows, class_table
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.cpu.operators import Side
from treeplex.engines.sequence.cpu.oracle import TreeSide


def gradient(side: Side | TreeSide, sign: float, opponent: Floats, values: Floats) -> None:
    """Compute values(s) = sign * sum_t A(s, t) opponent(t); ``values`` [S] is modified in place.

    Only products with the operator are possible: truncated walks (``TreeSide``) have no NumPy form.
    """
    if isinstance(side, TreeSide):
        raise TypeError("the NumPy form of gradients takes a payoff operator, not a walk over the history tree")
    values[:] = 0.0
    if isinstance(side, Csr):
        for row in range(len(values)):
            entries = slice(side.start[row], side.start[row + 1])
            values[row] = sign * (side.data[entries] @ opponent[side.column[entries]])
        return
    if isinstance(side, ClassRows):
        for row, board in enumerate(side.board.tolist()):
            number = np.arange(int(side.classes[board + 1]) - int(side.classes[board]))
            for entry in range(side.start[row], side.start[row + 1]):
                facing = side.other_base[side.column[entry]] + number * side.other_stride[side.column[entry]]
                table = class_table(side, board, side.showdown[entry])
                own = side.base[row] + number * side.stride[row]
                values[own] += sign * side.amount[entry] * (opponent[facing] @ table)
        return
    for row, sequences in enumerate(side.sequence):
        for entry in range(side.start[row], side.start[row + 1]):
            facing = side.other[side.column[entry]]
            weights = np.where(facing >= 0, opponent[facing], 0.0)
            earned = side.amount[entry] * (weights @ _table(side, entry))
            alive = sequences >= 0
            np.add.at(values, sequences[alive], sign * earned[alive])


def _table(side: BlockRows | RankedRows, entry: int) -> Floats:
    """[opponent's H, own H] Payoffs of an entry, by hands."""
    if isinstance(side, BlockRows):
        return side.tables[side.table[entry]]
    rank = np.arange(side.sequence.shape[1], dtype=np.float64)
    return np.sign(rank[None, :] - rank[:, None]) if side.showdown[entry] else 1.0 - np.eye(len(rank))
