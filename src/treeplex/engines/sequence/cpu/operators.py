"""The payoff operators: ``gradient`` is the value of every sequence of a player against the opponent's plan.

One function for every form of the operator, chosen when a kernel that calls it is compiled. Accumulation is float64
whatever the storage; no fastmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.compile.blocks import BlockRows, ClassRows, PlacedClassRows, RankedRows
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.partition import Partition
from treeplex.kernels.jit import Index, kernel
from treeplex.kernels.threads.crew import Worker

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
        PlacedClassRows: _classes,
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


def _classes(side: Any, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    start, column, amount, showdown, board = side.start, side.column, side.amount, side.showdown, side.board
    classes, copies, below, most = side.classes, side.copies, side.below, side.not_above
    own, own_step, other, other_step = _numbering(side)
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
            factor, total = amount[entry], 0.0
            _fetch(side, other, other_step, np.uint64(column[entry]), width, opponent, weight)
            for k in range(width):
                before[k] = total
                total += copies[first + k] * weight[k]
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
        for k in range(width):
            out[k] = sign * copies[first + k] * out[k]
        _deliver(side, own, own_step, row, width, out, values)


def _numbering(side: Any) -> Any:
    """Where sequences of own rows are, and of the opponent's: two arrays each, taken out of the tuple once."""


@overload(_numbering, strict=False, inline="always")
def _choose_numbering(side: Any) -> Callable[..., Any]:  # pyright: ignore[reportUnusedFunction]
    return _strided if side.instance_class is ClassRows else _listed


def _strided(side: ClassRows) -> tuple[Ints, Ints, Ints, Ints]:
    return side.base, side.stride, side.other_base, side.other_stride


def _listed(side: PlacedClassRows) -> tuple[Ints, Ints, Ints, Ints]:
    return side.own_start, side.own, side.other_start, side.other


def _fetch(side: Any, at: Any, which: Any, row: Any, width: Any, opponent: Any, weight: Any) -> None:
    """The weights of the opponent's classes at one of its rows; ``weight`` is modified in place."""


@overload(_fetch, strict=False, inline="always")
def _choose_fetch(  # pyright: ignore[reportUnusedFunction]
    side: Any, at: Any, which: Any, row: Any, width: Any, opponent: Any, weight: Any
) -> Callable[..., None]:
    return _fetch_strided if side.instance_class is ClassRows else _fetch_listed


def _fetch_strided(
    side: ClassRows, at: Ints, which: Ints, row: Index, width: Index, opponent: Floats, weight: Floats
) -> None:
    s, step = np.uint64(at[row]), np.uint64(which[row])
    for k in range(width):
        weight[k] = opponent[s]
        s += step


def _fetch_listed(
    side: PlacedClassRows, at: Ints, which: Ints, row: Index, width: Index, opponent: Floats, weight: Floats
) -> None:
    begin = np.uint64(at[row])
    for k in range(width):
        weight[k] = opponent[np.uint64(which[begin + k])]


def _deliver(side: Any, at: Any, which: Any, row: Any, width: Any, found: Any, values: Any) -> None:
    """The values of the classes at a row; ``values`` is modified in place."""


@overload(_deliver, strict=False, inline="always")
def _choose_deliver(  # pyright: ignore[reportUnusedFunction]
    side: Any, at: Any, which: Any, row: Any, width: Any, found: Any, values: Any
) -> Callable[..., None]:
    return _deliver_strided if side.instance_class is ClassRows else _deliver_listed


def _deliver_strided(
    side: ClassRows, at: Ints, which: Ints, row: Index, width: Index, found: Floats, values: Floats
) -> None:
    s, step = np.uint64(at[row]), np.uint64(which[row])
    for k in range(width):
        values[s] = found[k]
        s += step


def _deliver_listed(
    side: PlacedClassRows, at: Ints, which: Ints, row: Index, width: Index, found: Floats, values: Floats
) -> None:
    begin = np.uint64(at[row])
    for k in range(width):
        values[np.uint64(which[begin + k])] = found[k]


@kernel
def gradient(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    """A times the opponent's realization plan, or -A' times it; ``values`` [S] is modified in place."""
    _gradient(side, sign, opponent, values, 0, len(side.start) - 1)


def gradient_by(side: Any, partition: Any, sign: float, opponent: Any, values: Any, worker: Any) -> None:
    """A thread's rows of the ``gradient``, or all where there is no partition; callable inside kernels.

    Rows of different threads write different sequences. Nobody waits here.
    """


@overload(gradient_by, strict=False)
def _choose_rows(side: Any, partition: Any, sign: Any, opponent: Any, values: Any, worker: Any) -> Callable[..., None]:  # pyright: ignore[reportUnusedFunction]
    if isinstance(partition, types.NoneType):
        return _all_rows if isinstance(worker, types.NoneType) else _all_rows_by_first
    return _own_rows


def _all_rows(side: Side, partition: None, sign: float, opponent: Floats, values: Floats, worker: None) -> None:
    gradient(side, sign, opponent, values)


def _all_rows_by_first(
    side: Side, partition: None, sign: float, opponent: Floats, values: Floats, worker: Worker
) -> None:
    if worker.thread == 0:
        gradient(side, sign, opponent, values)


def _own_rows(side: Side, partition: Partition, sign: float, opponent: Floats, values: Floats, worker: Worker) -> None:
    k, rows = worker.thread, partition.rows
    if k + 1 < len(rows):
        _gradient(side, sign, opponent, values, rows[k], rows[k + 1])
