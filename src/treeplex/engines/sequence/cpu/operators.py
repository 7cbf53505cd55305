"""The payoff operators: ``gradient`` is the value of every sequence of a player against the opponent's plan.

One function for every form of the operator, chosen when a kernel that calls it is compiled. Accumulation is float64
whatever the storage; no fastmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange, types  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.compile.blocks import BlockRows, ClassRows, RankedRows
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.partition import Partition
from treeplex.jit import kernel, parallel_kernel

Side = Csr | BlockRows | RankedRows | ClassRows
"""One player's orientation of a payoff operator."""


def _gradient(side: Any, sign: float, opponent: Any, values: Any, begin: int, end: int) -> None:
    """values(s) = sign * sum_t A(s, t) opponent(t) for the rows from ``begin`` to ``end``; callable inside kernels."""


@overload(_gradient, strict=False)
def _choose(side: Any, sign: Any, opponent: Any, values: Any, begin: Any, end: Any) -> Callable[..., None] | None:  # pyright: ignore[reportUnusedFunction]
    forms: dict[type, Callable[..., None]] = {
        Csr: _sparse,
        BlockRows: _blocks,
        RankedRows: _ranked,
        ClassRows: _classes,
    }
    return forms.get(getattr(side, "instance_class", type(None)))


def _sparse(side: Csr, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    start, column, data = side
    first = np.uint64(start[begin])
    for row in range(np.uint64(begin), np.uint64(end)):
        last = np.uint64(start[row + np.uint64(1)])
        total = 0.0
        for entry in range(first, last):
            total += data[entry] * opponent[np.uint64(column[entry])]
        values[row] = sign * total
        first = last


def _blocks(side: BlockRows, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    start, column, amount, table, tables, sequence, other = side
    width, others = np.uint64(sequence.shape[1]), np.uint64(other.shape[1])
    out = np.empty(width)
    for row in range(np.uint64(begin), np.uint64(end)):
        for hand in range(width):
            out[hand] = 0.0
        for entry in range(np.uint64(start[row]), np.uint64(start[row + np.uint64(1)])):
            facing, pays, factor = np.uint64(column[entry]), np.uint64(table[entry]), amount[entry]
            for hidden in range(others):
                against = other[facing, hidden]
                if against < 0:
                    continue
                weight = opponent[np.uint64(against)]
                if weight != 0.0:
                    for hand in range(width):
                        out[hand] += factor * tables[pays, hidden, hand] * weight
        if row == 0:
            values[0] = sign * out.sum()
            continue
        for hand in range(width):
            own = sequence[row, hand]
            if own >= 0:
                values[np.uint64(own)] = sign * out[hand]


def _ranked(side: RankedRows, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    start, column, amount, showdown, sequence, other = side
    width = np.uint64(sequence.shape[1])
    out, facing = np.empty(width), np.empty(width)
    for row in range(np.uint64(begin), np.uint64(end)):
        for hand in range(width):
            out[hand] = 0.0
        for entry in range(np.uint64(start[row]), np.uint64(start[row + np.uint64(1)])):
            against, factor = np.uint64(column[entry]), amount[entry]
            total = 0.0
            for hand in range(width):
                weight = opponent[np.uint64(other[against, hand])]
                facing[hand] = weight
                total += weight
            if total == 0.0:
                continue
            if showdown[entry] == 1:
                lower = 0.0
                for hand in range(width):
                    weight = facing[hand]
                    out[hand] += factor * (lower + lower + weight - total)
                    lower += weight
            else:
                for hand in range(width):
                    out[hand] += factor * (total - facing[hand])
        if row == 0:
            values[0] = sign * out.sum()
            continue
        for hand in range(width):
            values[np.uint64(sequence[row, hand])] = sign * out[hand]


def _classes(side: ClassRows, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    start, column, amount, showdown, board, base, stride, other_base, other_stride, classes, copies, below, most = side
    widest = np.uint64(0)
    for place in range(len(classes) - 1):
        widest = max(widest, np.uint64(classes[place + 1] - classes[place]))
    out, weight, before = np.empty(widest), np.empty(widest), np.empty(widest + np.uint64(1))
    for row in range(np.uint64(begin), np.uint64(end)):
        if row == 0:
            values[0] = 0.0  # everybody has moved before the game is over
            continue
        place = np.uint64(board[row])
        first = np.uint64(classes[place])
        width = np.uint64(classes[place + np.uint64(1)]) - first
        for k in range(width):
            out[k] = 0.0
        for entry in range(np.uint64(start[row]), np.uint64(start[row + np.uint64(1)])):
            against, factor = np.uint64(column[entry]), amount[entry]
            s, step = np.uint64(other_base[against]), np.uint64(other_stride[against])
            total = 0.0
            for k in range(width):
                weight[k] = opponent[s]
                before[k] = total
                total += copies[first + k] * weight[k]
                s += step
            before[width] = total
            if total == 0.0:
                continue
            if showdown[entry] == 1:
                for k in range(width):
                    lower, lower_or_equal = before[np.uint64(below[first + k])], before[np.uint64(most[first + k])]
                    out[k] += factor * (lower + lower_or_equal - total)
            else:
                for k in range(width):
                    out[k] += factor * (total - weight[k])
        s, step = np.uint64(base[row]), np.uint64(stride[row])
        for k in range(width):
            values[s] = sign * copies[first + k] * out[k]
            s += step


@kernel
def gradient(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    """A times the opponent's realization plan, or -A' times it; ``values`` [S] is modified in place."""
    _gradient(side, sign, opponent, values, 0, len(side.start) - 1)


@parallel_kernel
def _gradient_threads(side: Side, rows: Ints, sign: float, opponent: Floats, values: Floats) -> None:
    for k in prange(len(rows) - 1):  # rows of different threads write different sequences
        _gradient(side, sign, opponent, values, rows[k], rows[k + 1])


def gradient_by(side: Any, partition: Any, sign: float, opponent: Any, values: Any) -> None:
    """``gradient`` by the threads of a ``partition``, or by one where it is None; callable inside kernels."""


@overload(gradient_by, strict=False)
def _choose_threads(side: Any, partition: Any, sign: Any, opponent: Any, values: Any) -> Callable[..., None]:  # pyright: ignore[reportUnusedFunction]
    return _gradient_alone if isinstance(partition, types.NoneType) else _gradient_shared


def _gradient_alone(side: Side, partition: None, sign: float, opponent: Floats, values: Floats) -> None:
    gradient(side, sign, opponent, values)


def _gradient_shared(side: Side, partition: Partition, sign: float, opponent: Floats, values: Floats) -> None:
    _gradient_threads(side, partition.rows, sign, opponent, values)
