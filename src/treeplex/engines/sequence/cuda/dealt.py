"""Payoffs of dealt games on a GPU, from sums over hands: no matrix is built, sent or read.

Before the pass over a player's infosets, one kernel computes the value of each of its sequences against the opponent's
plan. A thread is a hand h at a public row of its player. It sums over the row's entries e and the classes o of the
opponent, with w(o) = n(o) (weight of o) for n(o) cards of a class,

    amount[e] n(h) (sum of w(o) over weaker o, minus over stronger o)   at a showdown
    amount[e] n(h) (sum of all w(o), minus the weight of h itself)      at a fold

as in ``compile.blocks.ClassRows``. Where hands are single cards, every n is one. A thread goes through all hands of the
opponent, which its neighbours read as well, so most reads are from the L1 cache. A matrix reads 6 bytes per pair of
hands, and this kernel reads nothing per pair from memory. Per sequence of either player it reads 8 bytes of positions
and the plan, and it writes one number.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints, pair
from treeplex.compile.blocks import ClassBlocks, PlacedClassRows, RankedBlocks, RankedRows, placed
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cuda.arrays import Array
from treeplex.kernels.cuda.kernels import cuda, kernel, real, select
from treeplex.kernels.cuda.kernels import uint32 as u

Words = npt.NDArray[np.uint32]

HANDS: Final = 8  # least number of hands of a player for which sums replace a matrix: as on the CPU
LEAST: Final = 1_000_000  # smaller matrices are not replaced; neither constant was tuned on a GPU


class DealtRows(NamedTuple):
    """Rows of one player: ``PlacedClassRows`` in 32-bit words, and the row of each of its sequences."""

    row: npt.NDArray[Any]  # [N]
    start: npt.NDArray[Any]  # [R + 1]
    column: npt.NDArray[Any]  # [Z]
    amount: npt.NDArray[Any]  # [Z] payoff to the player itself
    showdown: npt.NDArray[Any]  # [Z]
    first: npt.NDArray[Any]  # [R] first class of the row's board
    own_start: npt.NDArray[Any]  # [R + 1]
    own: npt.NDArray[Any]  # [N]
    other_start: npt.NDArray[Any]  # [opponent's R + 1]
    other: npt.NDArray[Any]
    copies: npt.NDArray[Any]  # [C]
    below: npt.NDArray[Any]  # [C]
    not_above: npt.NDArray[Any]  # [C]


def blocks_of(game: CompiledGame) -> RankedBlocks | ClassBlocks | None:
    """Return the operator as blocks; None if its matrix is small or payoffs are possible before both have moved."""
    blocks = game.blocks
    if not isinstance(blocks, RankedBlocks | ClassBlocks) or blocks.hands < HANDS or blocks.entries < LEAST:
        return None
    return None if any(side.start[1] > 0 for side in blocks) else blocks


def rows_of(blocks: RankedBlocks | ClassBlocks, position: tuple[Ints, Ints]) -> tuple[DealtRows, DealtRows]:
    """Build both players' rows, with sequence s of a player in ``position[player][s]``."""
    sides = placed(blocks, position) if isinstance(blocks, ClassBlocks) else _ranked(blocks, position)
    return pair(_words(side, 1.0 - 2.0 * player) for player, side in enumerate(sides))


def _words(side: PlacedClassRows, sign: float) -> DealtRows:
    row = np.repeat(np.arange(len(side.board), dtype=np.int32), np.diff(side.own_start))

    def words(array: Ints) -> Words:
        return np.asarray(array, np.uint32)

    return DealtRows(
        words(row), words(side.start), words(side.column), sign * side.amount, words(side.showdown),
        words(side.classes[side.board]), words(side.own_start), words(side.own), words(side.other_start),
        words(side.other), side.copies, words(side.below), words(side.not_above),
    )  # fmt: skip


def _ranked(blocks: RankedBlocks, position: tuple[Ints, Ints]) -> list[PlacedClassRows]:
    """Build the rows of single cards, in the order of their ranks."""
    hands = np.arange(blocks.hands, dtype=np.int32)
    classes, nothing = np.array([0, len(hands)], np.int32), np.zeros(1, np.int32)
    lists: list[tuple[Ints, Ints]] = []
    for side, where in zip(blocks, position, strict=True):
        start = len(hands) * np.arange(len(side.sequence), dtype=np.int32)
        lists.append((np.concatenate((nothing, start)), where[side.sequence[1:]].ravel()))

    def made(player: int, side: RankedRows) -> PlacedClassRows:
        board, copies = np.zeros(len(side.sequence), np.int32), np.ones(len(hands))
        (own_start, own), (other_start, other) = lists[player], lists[1 - player]
        strengths = classes, copies, hands, hands + 1
        return PlacedClassRows(*side[:4], board, *strengths, own_start, own, other_start, other)

    return [made(player, side) for player, side in enumerate(blocks)]


@cache
def deal_kernel(storage: str) -> Any:
    """Return the kernel (rows, plan, earned) that writes the values of a player's sequences to ``earned``, by position.

    Arithmetic is in ``storage``.
    """
    number = real(storage)
    zero = number(0.0)

    def deal(rows: DealtRows, plan: Array, earned: Array) -> None:
        i = u(cuda.grid(1))
        if i >= u(rows.own.shape[0]):
            return
        row = u(rows.row[i])
        begin, first = u(rows.own_start[row]), u(rows.first[row])
        k, width = u(i - begin), u(u(rows.own_start[u(row + u(1))]) - begin)
        below, not_above = u(rows.below[u(first + k)]), u(rows.not_above[u(first + k)])
        e, end, out = u(rows.start[row]), u(rows.start[u(row + u(1))]), zero
        while e < end:
            at = u(rows.other_start[u(rows.column[e])])
            every, ahead, same, m = zero, zero, zero, u(0)
            while m < width:
                weight = number(plan[u(rows.other[u(at + m)])])
                x = number(rows.copies[u(first + m)]) * weight
                every += x
                ahead += select(m < below, x + x, select(m < not_above, x, zero))
                same += select(m == k, weight, zero)
                m = u(m + u(1))
            met = select(u(rows.showdown[e]) != u(0), ahead - every, every - same)
            out += number(rows.amount[e]) * met
            e = u(e + u(1))
        earned[u(rows.own[i])] = number(rows.copies[u(first + k)]) * out

    return kernel(deal)
