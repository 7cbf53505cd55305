"""The payoff operators: ``gradient`` is the value of every sequence of a player against the opponent's plan.

There is one function for each form of the operator, chosen when a kernel that calls it is compiled. Accumulation is
float64 in every storage; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.blocks import BlockRows, ClassRows, PlacedClassRows, RankedRows
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.partition import Partition
from treeplex.kernels.jit import ALLOCATING, Index, kernel, specialised
from treeplex.kernels.threads.team import Worker, first

Side = Csr | BlockRows | RankedRows | ClassRows
"""One player's orientation of a payoff operator."""


# --- indices of the sequences of a row, by a step or by a list -------------------------------------------------------


def _listed(side: PlacedClassRows) -> tuple[Ints, Ints, Ints, Ints]:
    return side.own_start, side.own, side.other_start, side.other


@specialised("side", {PlacedClassRows: _listed}, inline="always")
def _numbering(side: ClassRows) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the arrays that locate the sequences of own rows and of the opponent's rows, two arrays each."""
    return side.base, side.stride, side.other_base, side.other_stride


def _fetch_listed(
    side: PlacedClassRows, at: Ints, which: Ints, row: Index, width: Index, opponent: Floats, weight: Floats
) -> None:
    begin = np.uint64(at[row])
    for k in range(width):
        weight[k] = opponent[np.uint64(which[begin + k])]


@specialised("side", {PlacedClassRows: _fetch_listed}, inline="always")
def _fetch(side: ClassRows, at: Ints, which: Ints, row: Index, width: Index, opponent: Floats, weight: Floats) -> None:
    """Read the weights of the opponent's classes at one of its rows; ``weight`` is modified in place."""
    s, step = np.uint64(at[row]), np.uint64(which[row])
    for k in range(width):
        weight[k] = opponent[s]
        s += step


def _deliver_listed(
    side: PlacedClassRows, at: Ints, which: Ints, row: Index, width: Index, class_values: Floats, values: Floats
) -> None:
    begin = np.uint64(at[row])
    for k in range(width):
        values[np.uint64(which[begin + k])] = class_values[k]


@specialised("side", {PlacedClassRows: _deliver_listed}, inline="always")
def _deliver(
    side: ClassRows, at: Ints, which: Ints, row: Index, width: Index, class_values: Floats, values: Floats
) -> None:
    """Write the values of the classes at a row; ``values`` is modified in place."""
    s, step = np.uint64(at[row]), np.uint64(which[row])
    for k in range(width):
        values[s] = class_values[k]
        s += step


# --- gradients -------------------------------------------------------------------------------------------------------


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


def _classes(
    side: ClassRows | PlacedClassRows, sign: float, opponent: Floats, values: Floats, begin: int, end: int
) -> None:
    start, column, amount, showdown, board = side.start, side.column, side.amount, side.showdown, side.board
    classes, copies, below, most = side.classes, side.copies, side.below, side.not_above
    own, own_step, other, other_step = _numbering(side)
    widest = np.uint64(0)
    for board_index in range(len(classes) - 1):
        widest = max(widest, np.uint64(classes[board_index + 1] - classes[board_index]))
    out, weight, before = np.empty(widest), np.empty(widest), np.empty(widest + np.uint64(1))
    for row in range(np.uint64(begin), np.uint64(end)):
        if row == 0:
            values[0] = 0.0  # the game cannot end before both players have moved
            continue
        board_index = np.uint64(board[row])
        first = np.uint64(classes[board_index])
        width = np.uint64(classes[board_index + np.uint64(1)]) - first
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


@specialised(
    "side",
    {BlockRows: _blocks, RankedRows: _ranked, ClassRows: _classes, PlacedClassRows: _classes},
    jit_options=ALLOCATING,
)
def _gradient(side: Csr, sign: float, opponent: Floats, values: Floats, begin: int, end: int) -> None:
    """Compute values(s) = sign * sum_t A(s, t) opponent(t) for rows ``begin`` to ``end``; callable inside kernels."""
    start, column, data = side
    first = np.uint64(start[begin])
    for row in range(np.uint64(begin), np.uint64(end)):
        last = np.uint64(start[row + np.uint64(1)])
        total = 0.0
        for entry in range(first, last):
            total += data[entry] * opponent[np.uint64(column[entry])]
        values[row] = sign * total
        first = last


@kernel
def gradient(side: Side, sign: float, opponent: Floats, values: Floats) -> None:
    """Multiply the opponent's realization plan by A, or by -A'; ``values`` [S] is modified in place."""
    _gradient(side, sign, opponent, values, 0, len(side.start) - 1)


def _own_rows(side: Side, partition: Partition, sign: float, opponent: Floats, values: Floats, worker: Worker) -> None:
    k, rows = worker.thread, partition.rows
    if k + 1 < len(rows):
        _gradient(side, sign, opponent, values, rows[k], rows[k + 1])


@specialised("partition", {Partition: _own_rows})
def gradient_by(
    side: Side, partition: None, sign: float, opponent: Floats, values: Floats, worker: Worker | None
) -> None:
    """Compute a thread's rows of the ``gradient``, or all rows without a partition; callable inside kernels.

    Rows of different threads write different sequences. There is no barrier here.
    """
    if first(worker):
        gradient(side, sign, opponent, values)
