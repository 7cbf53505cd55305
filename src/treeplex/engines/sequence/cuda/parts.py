"""Parts of kernels over tiles: reading a tile's words, and sums over payoffs and children; see ``kernels``."""

from __future__ import annotations

from functools import cache
from typing import Any

from treeplex.engines.sequence.cuda.arrays import Array, Index, Number, Shape
from treeplex.engines.sequence.cuda.layout import ACTIONS, WORDS
from treeplex.kernels.cuda.kernels import callee, int32, load4, one_by_one, real, select
from treeplex.kernels.cuda.kernels import uint32 as u


@callee
def offsets_of(shape: Shape, w: Index) -> tuple[Any, Any, Any, Any]:
    """Read a tile's first row, first infoset, and first rows of entries and of slots."""
    return load4(shape.tiles, u(w * u(WORDS)))


@callee
def sizes_of(shape: Shape, w: Index) -> tuple[Any, Any, Any, Any]:
    """Read a tile's n, shape word, and numbers of entries and of children per row."""
    return load4(shape.tiles, u(u(w * u(WORDS)) + u(ACTIONS)))


@callee
def lane_of(shape_word: Index, lane: Index) -> tuple[Any, Any, Any, Any]:
    """Return row and column of a lane in its tile, and the tile's ``wide`` and ``high``."""
    wide = u(shape_word & u(63))
    row = u(u(lane * u(shape_word >> u(12))) >> u(10))
    return row, u(lane - u(row * wide)), wide, u((shape_word >> u(6)) & u(63))


@cache
def dividing(storage: str) -> tuple[Any, Any]:
    """Return the functions ``over`` and ``inverse_of`` for a storage.

    ``over``: a part over the total of what is played, or ``rest`` over n where nothing is positive.
    ``inverse_of``: ``RunArrays.inverse_sum``, which is 1 over the total or -1 / n.
    """
    number = real(storage)
    zero, one = number(0.0), number(1.0)

    @callee
    def over(part: Number, rest: Number, total: Number, n: Index) -> Number:
        return select(total > zero, part, rest) / select(total > zero, total, number(n))

    @callee
    def inverse_of(total: Number, n: Index) -> Number:
        return over(one, -one, total, n)

    return over, inverse_of


@cache
def sums(storage: str) -> tuple[Any, Any]:
    """Return ``paid`` and ``below``: values of a row of sequences from payoffs and from child infosets."""
    number = real(storage)
    zero = number(0.0)

    @callee
    def four(shape: Shape, plan: Array, at: Index) -> Any:
        s0, s1 = shape.column[at], shape.column[u(at + u(32))]
        s2, s3 = shape.column[u(at + u(64))], shape.column[u(at + u(96))]
        v0, v1 = number(shape.value[at]), number(shape.value[u(at + u(32))])
        v2, v3 = number(shape.value[u(at + u(64))]), number(shape.value[u(at + u(96))])
        return (v0 * plan[s0] + v1 * plan[s1]) + (v2 * plan[s2] + v3 * plan[s3])

    @callee
    def paid(shape: Shape, plan: Array, row: Index, length: Index, lane: Index, unit: Number, eager: bool) -> Any:
        """Multiply payoffs of a row by the opponent's plan; ``eager``: more at a time, with more registers."""
        total = zero
        at = u(u(row << u(5)) + lane)
        left = int32(length)
        if eager:
            while left >= 8:
                total += four(shape, plan, at) + four(shape, plan, u(at + u(128)))
                at = u(at + u(256))
                left = int32(left - int32(one_by_one() << int32(3)))
        while left >= 4:
            total += four(shape, plan, at)
            at = u(at + u(128))
            left = int32(left - int32(one_by_one() << int32(2)))
        if left >= 2:
            s0, s1 = shape.column[at], shape.column[u(at + u(32))]
            v0, v1 = number(shape.value[at]), number(shape.value[u(at + u(32))])
            total += v0 * plan[s0] + v1 * plan[s1]
            at = u(at + u(64))
            left = int32(left - int32(2))
        if left > 0:
            total += number(shape.value[at]) * plan[shape.column[at]]
        return total * unit

    @callee
    def below(slot: Array, row: Index, children: Index, lane: Index) -> Any:
        """Sum the values of the child infosets of a row."""
        total = zero
        at = u(u(row << u(5)) + lane)
        left = int32(children)
        while left >= 4:
            v0, v1 = slot[at], slot[u(at + u(32))]
            v2, v3 = slot[u(at + u(64))], slot[u(at + u(96))]
            total += (v0 + v1) + (v2 + v3)
            at = u(at + u(128))
            left = int32(left - int32(one_by_one() << int32(2)))
        while left > 0:
            total += slot[at]
            at = u(at + u(32))
            left = int32(left - one_by_one())
        return total

    return paid, below
