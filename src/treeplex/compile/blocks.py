"""The payoff operator of a dealt game: a small matrix of hands against hands at every public terminal.

A *row* is a public sequence of a player: one of the player's public decision nodes and an action there. Row 0 means
that the player has not moved yet. Each row holds one sequence per hand. Payoffs are stored once per public terminal
instead of once per pair of hands, which moves a fraction of the bytes of a sparse matrix. This is Tammelin's vector
form.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.payoffs import Csr, Payoffs


class BlockRows(NamedTuple):
    """Winnings of player 0 by rows of one player: like ``Csr``, but an entry is a whole table of hands against hands.

    Row ``r`` holds, for own hand ``h``: sum over its entries ``e`` and the opponent's hands ``o`` of
    amount[e] * tables[table[e], o, h] * (weight of the opponent's row column[e] with hand o).
    """

    start: Ints  # [R + 1]
    column: Ints  # [Z] row of the opponent
    amount: Floats  # [Z]
    table: Ints  # [Z]
    tables: Floats  # [K, opponent's H, own H] chance times outcome
    sequence: Ints  # [R, own H] sequence of each row and hand, -1 where the hand is impossible
    other: Ints  # [opponent's R, opponent's H] the same for the opponent


class Blocks(NamedTuple):
    """Both players' orientation of the block operator."""

    rows: BlockRows
    columns: BlockRows

    @property
    def entries(self) -> int:
        """Number of pairs of sequences with a nonzero payoff; before a player's first move all hands share one."""
        side = self.rows
        own = np.repeat(np.arange(len(side.start) - 1), np.diff(side.start))
        total = 0
        for unmoved, other_unmoved in product((False, True), repeat=2):
            here = ((own == 0) == unmoved) & ((side.column == 0) == other_unmoved) & (side.amount != 0.0)
            tables = side.tables.sum(axis=1, keepdims=True) if other_unmoved else side.tables
            tables = tables.sum(axis=2, keepdims=True) if unmoved else tables
            total += int(np.count_nonzero(tables, axis=(1, 2))[side.table[here]].sum())
        return total

    @property
    def hands(self) -> int:
        """Number of hands that a player can hold."""
        return self.rows.sequence.shape[1]


class RankedRows(NamedTuple):
    """Winnings of player 0 if every hand is one card and the higher card wins, by sums over ranks without tables.

    Row ``r`` holds, for own hand ``h``, over its entries ``e``: amount[e] times the opponent's total weight but for
    card ``h`` (a fold), or the weight of lower cards minus that of higher ones (a showdown).
    """

    start: Ints  # [R + 1]
    column: Ints  # [Z]
    amount: Floats  # [Z] times the probability of a deal
    showdown: Ints  # [Z] 1 at a showdown, 0 at a fold
    sequence: Ints  # [R, H]
    other: Ints  # [opponent's R, H]


class RankedBlocks(NamedTuple):
    """Both players' orientation of the ranked operator."""

    rows: RankedRows
    columns: RankedRows

    @property
    def entries(self) -> int:
        """Number of pairs of sequences with a nonzero payoff."""
        return int(np.count_nonzero(self.rows.amount)) * self.hands * (self.hands - 1)

    @property
    def hands(self) -> int:
        """Number of hands that a player can hold."""
        return self.rows.sequence.shape[1]


class ClassRows(NamedTuple):
    """Winnings of player 0 if hands are classes of cards that depend on the board, by sums over strengths.

    Row ``r`` holds, for own class ``h`` of n(h) cards and the opponent's classes ``o``, over its entries ``e``:
    amount[e] n(h) times sum_o n(o) (weight of o) minus the weight of ``h`` itself (a fold: the opponent holds any other
    card), or the same sum over weaker classes minus that over stronger ones (a showdown). The sequence of a row's class
    number ``k`` is base + k * stride. The classes of a board are in the order of their strength.
    """

    start: Ints  # [R + 1]
    column: Ints  # [Z]
    amount: Floats  # [Z] times the probability of a deal and the number of boards like this one
    showdown: Ints  # [Z] 1 at a showdown, 0 at a fold
    board: Ints  # [R]
    base: Ints  # [R]
    stride: Ints  # [R]
    other_base: Ints  # [opponent's R]
    other_stride: Ints  # [opponent's R]
    classes: Ints  # [boards + 1] where the classes of a board begin
    copies: Floats  # [C] cards of a class
    below: Ints  # [C] number of weaker classes of the board
    not_above: Ints  # [C] number of classes that are not stronger

    @property
    def sequences(self) -> int:
        """Number of sequences of the player, including the empty one."""
        return int((self.base + (np.diff(self.classes)[self.board] - 1) * self.stride).max()) + 1


class PlacedClassRows(NamedTuple):
    """Rows like ``ClassRows``, but with a list of each row's sequences, or of the indices that they were moved to."""

    start: Ints  # as in ``ClassRows``, up to ``not_above``
    column: Ints
    amount: Floats
    showdown: Ints
    board: Ints
    classes: Ints
    copies: Floats
    below: Ints
    not_above: Ints
    own_start: Ints  # [R + 1] where the list of a row begins
    own: Ints  # [sequences but the empty one]
    other_start: Ints  # [opponent's R + 1]
    other: Ints


def placed(blocks: ClassBlocks, index: tuple[Ints, Ints]) -> tuple[PlacedClassRows, PlacedClassRows]:
    """Return both players' rows, with sequence s of a player at ``index[player][s]``."""
    lists = [_listed(side, index[player]) for player, side in enumerate(blocks)]
    first, second = (
        PlacedClassRows(*side[:5], *side[9:], *lists[player], *lists[1 - player]) for player, side in enumerate(blocks)
    )
    return first, second


def _listed(side: ClassRows, index: Ints) -> tuple[Ints, Ints]:
    width = np.diff(side.classes)[side.board]
    width[0] = 0  # the row of the empty sequence
    start = np.concatenate(([0], np.cumsum(width))).astype(np.int32)
    number = np.arange(int(start[-1]), dtype=np.int32) - np.repeat(start[:-1], width)
    return start, index[np.repeat(side.base, width) + number * np.repeat(side.stride, width)]


class ClassBlocks(NamedTuple):
    """Both players' orientation of the operator over classes."""

    rows: ClassRows
    columns: ClassRows

    @property
    def entries(self) -> int:
        """Number of pairs of sequences with a nonzero payoff."""
        side = self.rows
        width = np.diff(side.classes).astype(np.int64)
        alone = np.add.reduceat(side.copies == 1.0, side.classes[:-1])  # classes that cannot meet themselves
        tied = np.add.reduceat((side.not_above - side.below).astype(np.int64), side.classes[:-1])
        pairs = np.stack([width * width - alone, width * width - tied])  # at a fold, at a showdown
        board = np.repeat(side.board, np.diff(side.start))
        return int(pairs[side.showdown, board][side.amount != 0.0].sum())

    @property
    def hands(self) -> int:
        """Largest number of classes of hands on any board."""
        return int(np.diff(self.rows.classes).max())


DealtOperator = Blocks | RankedBlocks | ClassBlocks
"""The payoff operator of a dealt game, in any of its forms."""


class Terminals(NamedTuple):
    """Public terminals in tree order, not yet sorted by a player's rows."""

    row: tuple[Ints, Ints]  # [Z] each player's row
    amount: Floats  # [Z]
    table: Ints  # [Z]


def blocks(ends: Terminals, tables: Floats, sequence: tuple[Ints, Ints]) -> Blocks:
    """Build the block operator from tables [K, H0, H1] of player 0's winnings."""
    own = np.ascontiguousarray(tables.transpose(0, 2, 1))
    first = BlockRows(*_sorted(ends, 0, len(sequence[0])), own, *sequence)
    second = BlockRows(*_sorted(ends, 1, len(sequence[1])), np.ascontiguousarray(tables), *sequence[::-1])
    return Blocks(first, second)


def ranked_blocks(ends: Terminals, sequence: tuple[Ints, Ints], chance: float) -> RankedBlocks:
    """Build the ranked operator.

    ``ends.table`` is 1 at showdowns and 0 at folds; ``chance`` is the probability of a deal.
    """
    start, column, amount, showdown = _sorted(ends, 0, len(sequence[0]))
    first = RankedRows(start, column, amount * chance, showdown, *sequence)
    start, column, amount, showdown = _sorted(ends, 1, len(sequence[1]))
    # From player 1's seat, player 0 wins a showdown with the higher card: lower minus higher changes sign.
    amount = np.where(showdown == 1, -amount, amount) * chance
    return RankedBlocks(first, RankedRows(start, column, amount, showdown, *sequence[::-1]))


class Numbering(NamedTuple):
    """Indices of the sequences of one player's rows, if hands are classes."""

    board: Ints  # [R]
    base: Ints  # [R]
    stride: Ints  # [R]


class Classes(NamedTuple):
    """The classes of hands on every board, by strength."""

    start: Ints  # [boards + 1]
    copies: Floats  # [C]
    below: Ints  # [C]
    not_above: Ints  # [C]


def class_blocks(ends: Terminals, numbering: tuple[Numbering, Numbering], classes: Classes) -> ClassBlocks:
    """Build the operator over classes.

    ``ends.table`` is 1 at showdowns and 0 at folds. Amounts are multiplied by probabilities.
    """
    sides: list[ClassRows] = []
    for player, (own, other) in enumerate((numbering, numbering[::-1])):
        start, column, amount, showdown = _sorted(ends, player, len(own.board))
        if player == 1:  # player 0 wins with the stronger hand, as in ``ranked_blocks``
            amount = np.where(showdown == 1, -amount, amount)
        sides.append(ClassRows(start, column, amount, showdown, *own, *other[1:], *classes))
    return ClassBlocks(*sides)


def expand(operator: DealtOperator) -> Payoffs:
    """Convert an operator to a sparse matrix, with the entries of a row in the order in which a block row adds them.

    So the sparse form and the form with tables give the same bits. The exception is a game that can end before a
    player has moved: all hands of that player then share a sequence, and their payoffs are added up first.
    """
    if isinstance(operator, ClassBlocks):
        return _expand_classes(operator.rows, (operator.rows.sequences, operator.columns.sequences))
    return Payoffs(_expand_side(operator.rows), _expand_side(operator.columns))


def class_table(side: ClassRows, board: int, showdown: int) -> Floats:
    """[opponent's classes, own classes] number of possible pairs of cards, at a showdown with the winner's sign."""
    own = slice(side.classes[board], side.classes[board + 1])
    copies, strength = side.copies[own], side.below[own]
    table = np.outer(copies, copies) - np.diag(copies)
    return table * np.sign(strength[None, :] - strength[:, None]) if showdown else table


def _expand_classes(side: ClassRows, shape: tuple[int, int]) -> Payoffs:
    owner = np.repeat(np.arange(len(side.start) - 1), np.diff(side.start))
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for board in np.unique(side.board[owner]).tolist():
        for showdown in (0, 1):
            entries = np.flatnonzero((side.board[owner] == board) & (side.showdown == showdown))
            table = class_table(side, board, showdown)
            other, own = np.nonzero(table)
            facing, row = side.column[entries, None], owner[entries, None]
            rows.append((side.base[row] + own * side.stride[row]).ravel())
            columns.append((side.other_base[facing] + other * side.other_stride[facing]).ravel())
            values.append((side.amount[entries, None] * table[other, own]).ravel())
    return Payoffs.gather(shape, np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def _expand_side(side: BlockRows | RankedRows) -> Csr:
    if isinstance(side, RankedRows):
        rank = np.arange(side.sequence.shape[1], dtype=np.float64)
        tables = np.stack([1.0 - np.eye(len(rank)), np.sign(rank[None, :] - rank[:, None])])
        table = side.showdown
    else:
        tables, table = side.tables, side.table
    owner = np.repeat(np.arange(len(side.start) - 1), np.diff(side.start))
    values = side.amount[:, None, None] * tables[table]  # [Z, opponent's H, own H]
    entry, other, own = np.nonzero(values)
    row = side.sequence[owner[entry], own]
    order = np.argsort(row, kind="stable")
    row, column = row[order], side.other[side.column[entry[order]], other[order]]
    data = values[entry, other, own][order]
    if side.start[1] > 0 or np.any(side.column == 0):
        row, column, data = _merged(row, column, data)
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=int(side.sequence.max()) + 1))))
    return Csr(start.astype(np.int32), column, data)


def _merged(row: Ints, column: Ints, data: Floats) -> tuple[Ints, Ints, Floats]:
    """Merge equal pairs of sequences at their first occurrence, and drop pairs with a payoff of exactly zero."""
    pair = row.astype(np.int64) * (int(column.max()) + 1) + column
    _, came, which = np.unique(pair, return_index=True, return_inverse=True)
    total = np.bincount(which, weights=data).astype(np.float64)
    nonzero = np.sort(came[total != 0.0])
    return row[nonzero], column[nonzero], total[which[nonzero]]


def _sorted(ends: Terminals, player: int, rows: int) -> tuple[Ints, Ints, Floats, Ints]:
    """Start of every row, and the opponent's row, the amount and the table of its terminals, in tree order."""
    order = np.argsort(ends.row[player], kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(ends.row[player], minlength=rows)))).astype(np.int32)
    return start, ends.row[1 - player][order], ends.amount[order], ends.table[order]
