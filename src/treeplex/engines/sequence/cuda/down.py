"""DOWN and FALL, tile by tile: realization plans, and averages with them; see ``kernels``."""

from __future__ import annotations

from functools import cache
from typing import Any

from treeplex.engines.sequence.cuda.arrays import Index, Number, RunArrays, Shape
from treeplex.engines.sequence.cuda.layout import NOBODY
from treeplex.engines.sequence.cuda.parts import lane_of, offsets_of, sizes_of
from treeplex.kernels.cuda.kernels import any_lane, callee, real, select
from treeplex.kernels.cuda.kernels import uint32 as u


@cache
def going_down(storage: str) -> tuple[Any, Any]:
    """Return the parts of kernels for one tile: DOWN, and FALL."""
    number = real(storage)
    zero, one = number(0.0), number(1.0)

    @callee
    def passed_down(
        shape: Shape, learning: RunArrays, w: Index, lane: Index, reach: Number, here: Index, weight: Number
    ) -> None:
        """Make plans and update averages of a tile whose infosets have the probability ``reach``."""
        n, form, _, _ = sizes_of(shape, w)
        row, _, _, high = lane_of(form, lane)
        inverse_sum = learning.inverse_sum[here]
        some = inverse_sum > zero
        factor = reach * inverse_sum
        at = u(u(offsets_of(shape, w)[0] << u(5)) + lane)
        a = select(row < high, row, n)
        while a < n:
            x = -factor
            if some:
                x = learning.played[at]
                x = select(x > zero, x, zero) * factor
            if weight != zero:
                learning.average[at] += weight * x
            learning.plan[at] = x
            at = u(at + u(32))
            a = u(a + high)

    @callee
    def down(shape: Shape, learning: RunArrays, w: Index, lane: Index, weight: Number) -> None:
        base, first, _, _ = offsets_of(shape, w)
        here = u(first + lane_of(sizes_of(shape, w)[1], lane)[1])
        before = learning.reached[base]  # read before the vote, a barrier of all lanes; written after it
        reach = learning.plan[shape.above[here]]
        now = any_lane(reach != zero)
        if now or before != 0:
            passed_down(shape, learning, w, lane, reach, here, weight)
            if lane == u(0):
                learning.reached[base] = 1 if now else 0

    @callee
    def fall(shape: Shape, learning: RunArrays, w: Index, lane: Index, weight: Number) -> None:
        here, reach = u(offsets_of(shape, w)[1] + lane_of(sizes_of(shape, w)[1], lane)[1]), one
        s, q = u(shape.above[here]), u(shape.owner[here])
        while q != u(NOBODY):
            inverse_sum, x = learning.inverse_sum[q], learning.played[s]
            s, q = u(shape.above[q]), u(shape.owner[q])
            reach *= select(inverse_sum > zero, select(x > zero, x, zero) * inverse_sum, -inverse_sum)
        passed_down(shape, learning, w, lane, reach, here, weight)

    return down, fall
