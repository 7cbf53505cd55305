"""Kernels of the regret matching family over tiles. Maths: ``reference.iterations``; positions: ``layout``.

UP goes by height from the bottom. The value of a sequence is its payoffs times the opponent's plan, plus what its child
infosets left in slots. Then come the regrets, and what the next strategy is in proportion to.

DOWN goes by height from the top. It makes plans, and adds them to the averages with the weight of the next iteration.

FALL is DOWN for all upper heights at once. Each infoset multiplies the strategies along its path, which is short,
instead of waiting for the height above.

Strategies are not stored. They are ``played`` times ``inverse_sum``, which is the inverse of the sum of what is played,
or -1 / n where nothing is positive. So a pure strategy may be off by a rounding error, unlike on the CPU.

Storage, arithmetic and accumulation have the precision of the learners: conversions would cost more than they save.
There is no fastmath and there are no atomics, so the same input gives the same bits. A warp owns the tiles it works on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from treeplex.engines.sequence.cuda.arrays import Array, DeviceSteps, Index, Number, RunArrays, Shape, TileRange
from treeplex.engines.sequence.cuda.called import called_up
from treeplex.engines.sequence.cuda.down import going_down
from treeplex.engines.sequence.cuda.parts import dividing, lane_of, offsets_of, sizes_of
from treeplex.engines.sequence.cuda.up import Ups, going_up
from treeplex.kernels.cuda.calls import Called, Calls
from treeplex.kernels.cuda.kernels import column_sum, cuda, kernel, real, select
from treeplex.kernels.cuda.kernels import uint32 as u

UP, DOWN, FALL = 0, 1, 2
BOTTOM, ONE, SEVERAL, ANY = range(4)
"""Forms of UP: for tiles of one step without children, of one step, of several steps; for any tile, if they are few."""


class Kernels(NamedTuple):
    """Kernels for one storage, with or without prediction."""

    up: tuple[Any, ...]  # by form
    down: Any
    fall: Any
    block: Any  # some phases, or whole iterations, in one block
    inverse_sum: Any  # computes ``inverse_sum`` from ``played``
    enter: Any  # adds the plan that is played to the average
    tick: Any  # counts iterations


@cache
def kernels(storage: str, predict: bool, dealt: bool = False, called: Called | None = None) -> Kernels:
    """Return the kernels of one storage.

    ``dealt``: whether payoffs are computed beforehand. ``called``: a rule instead of the regret matching family.
    """
    parts = going_up(storage, predict, dealt) if called is None else Ups(*[called_up(storage, dealt, called)] * 4)
    down, fall = (_down_kernel(storage, part) for part in going_down(storage))
    return Kernels(
        tuple(_up_kernel(storage, part, called is None) for part in parts),
        down,
        fall,
        _block_kernel(storage, parts.any, called),
        _sum_kernel(storage),
        _enter_kernel(storage),
        _tick,
    )


@cache
def _up_kernel(storage: str, up_tile: Callable[..., None], cached: bool) -> Any:
    number = real(storage)

    def up(
        shape: Shape, learning: RunArrays, steps: DeviceSteps, which: TileRange, unit: Number, parameter: Number | Calls
    ) -> None:
        i = u(steps.clock[0] + which.iteration)
        positive, negative = number(steps.factors[u(i << u(2))]), number(steps.factors[u(u(i << u(2)) + u(1))])
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
        if w < u(which.end):
            up_tile(shape, learning, w, lane, (number(unit), positive, negative), parameter)

    return kernel(up, cached=cached)


@cache
def _down_kernel(storage: str, down_tile: Callable[..., None]) -> Any:
    number = real(storage)

    def go_down(shape: Shape, learning: RunArrays, steps: DeviceSteps, which: TileRange) -> None:
        weight = number(steps.factors[u(4 * (steps.clock[0] + which.iteration) + 2 + which.player)])
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
        if w < u(which.end):
            down_tile(shape, learning, w, lane, weight)

    return kernel(go_down)


def _block_kernel(storage: str, up_any: Callable[..., None], called: Called | None) -> Any:
    number, (down, fall) = real(storage), going_down(storage)

    def block(
        shape: Shape, learning: RunArrays, steps: DeviceSteps, phases: Array, which: TileRange, count: Index,
        unit: Number, parameter: Number | Calls,
    ) -> None:  # fmt: skip
        """Run phases ``begin`` to ``end``, ``count`` times; phases [P, 4]: kind, first tile, end, player."""
        me = u(cuda.threadIdx.x)
        lane, warp, warps = u(me & u(31)), u(me >> u(5)), u(u(cuda.blockDim.x) >> u(5))
        start = steps.clock[0] + which.iteration
        for t in range(count):
            i = u(start + t)
            positive, negative = number(steps.factors[u(i << u(2))]), number(steps.factors[u(u(i << u(2)) + u(1))])
            for p in range(which.begin, which.end):
                kind, w, end = phases[p, 0], u(u(phases[p, 1]) + warp), u(phases[p, 2])
                weight = number(steps.factors[u(u(i << u(2)) + u(2 + phases[p, 3]))])
                while w < end:
                    if kind == UP:
                        up_any(shape, learning, w, lane, (number(unit), positive, negative), parameter)
                    elif kind == DOWN:
                        down(shape, learning, w, lane, weight)
                    else:
                        fall(shape, learning, w, lane, weight)
                    w = u(w + warps)
                cuda.syncthreads()

    return kernel(block, cached=called is None, max_registers=64)  # for 1,024 threads


@cache
def _sum_kernel(storage: str) -> Any:
    number, inverse_of = real(storage), dividing(storage)[1]
    zero = number(0.0)

    def invert_sums(shape: Shape, learning: RunArrays, tiles: Index) -> None:
        """Compute ``inverse_sum`` of all tiles from ``played``."""
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(me >> u(5)), u(me & u(31))
        if w < u(tiles):
            (n, form, _, _), (base, first, _, _) = sizes_of(shape, w), offsets_of(shape, w)
            at = u(u(base << u(5)) + lane)
            row, j, wide, high = lane_of(form, lane)
            total = zero
            a = select(row < high, row, n)
            while a < n:
                x = learning.played[at]
                total += select(x > zero, x, zero)
                at = u(at + u(32))
                a = u(a + high)
            total = column_sum(total, j, wide, high)
            if row == u(0):
                learning.inverse_sum[u(first + j)] = inverse_of(total, n)

    return kernel(invert_sums)


@cache
def _enter_kernel(storage: str) -> Any:
    number = real(storage)

    def enter(learning: RunArrays, turn: Index, first: Number, second: Number) -> None:
        """Add plans to averages with the weight of their player; player 1's positions begin at ``turn``."""
        i = u(cuda.grid(1))
        if i < u(learning.plan.shape[0]):
            learning.average[i] += number(select(i < u(turn), first, second)) * learning.plan[i]

    return kernel(enter)


@kernel
def _tick(steps: DeviceSteps, count: Index) -> None:
    if cuda.grid(1) == 0:
        steps.clock[0] += count
