"""Kernels of bundles: infosets at the bottom, one per lane, with all actions in registers; see ``layout``."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from treeplex.engines.sequence.cuda.arrays import BundleLaunch, DeviceSteps, Number, RunArrays, Shape
from treeplex.engines.sequence.cuda.parts import dividing
from treeplex.engines.sequence.cuda.up import decayed
from treeplex.kernels.cuda.kernels import any_lane, cuda, kernel, real, select
from treeplex.kernels.cuda.kernels import uint32 as u


class BundleKernels(NamedTuple):
    """Kernels for one storage, with or without prediction, and for one shape of infosets."""

    up: Any
    down: Any


@cache
def bundle_kernels(storage: str, predict: bool, lengths: tuple[int, ...]) -> BundleKernels:
    """Return the kernels of bundles whose actions have ``lengths`` payoffs."""
    return BundleKernels(_going_up(storage, predict, lengths), _going_down(storage, len(lengths)))


def _going_up(storage: str, predict: bool, lengths: tuple[int, ...]) -> Any:
    number, (over, _) = real(storage), dividing(storage)
    zero = number(0.0)
    n, entries = len(lengths), sum(lengths)
    starts = tuple(sum(lengths[:a]) for a in range(n))

    def up(
        shape: Shape, learning: RunArrays, steps: DeviceSteps, which: BundleLaunch, unit: Number, predicted: Number
    ) -> None:
        i = u(steps.clock[0] + which.iteration)
        positive, negative = number(steps.factors[u(i << u(2))]), number(steps.factors[u(u(i << u(2)) + u(1))])
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        tile, lane = u(me >> u(5)), u(me & u(31))
        if tile >= u(which.tiles):
            return
        here = u(u(which.home) + me)
        first = u(u(u(u(which.base) + u(tile * u(n))) << u(5)) + lane)
        entry = u(u(u(u(which.entry) + u(tile * u(entries))) << u(5)) + lane)
        leave = shape.leave[here]
        old, played, value = cuda.local.array(n, number), cuda.local.array(n, number), cuda.local.array(n, number)
        weight, pays = cuda.local.array(entries, number), cuda.local.array(entries, number)
        for a in range(n):
            old[a] = learning.regret[u(first + u(32 * a))]
            played[a] = learning.played[u(first + u(32 * a))] if predict else old[a]
        for e in range(entries):
            weight[e] = learning.plan[shape.column[u(entry + u(32 * e))]]
            pays[e] = number(shape.value[u(entry + u(32 * e))])
        total, expected, even = zero, zero, zero
        for a in range(n):
            v = zero
            for e in range(lengths[a]):
                v += pays[starts[a] + e] * weight[starts[a] + e]
            v *= number(unit)
            x = select(played[a] > zero, played[a], zero)
            total += x
            expected += x * v
            even += v
            value[a] = v
        expected = over(expected, even, total, u(n))
        learning.slot[leave] = expected
        for a in range(n):
            at = u(first + u(32 * a))
            instantaneous = value[a] - expected
            r = decayed(old[a] + instantaneous, positive, negative, zero) + zero
            if r != old[a]:
                learning.regret[at] = r
            if predict:
                r = r + number(predicted) * instantaneous
                learning.played[at] = select(r > zero, r, zero)

    return kernel(up)


@cache
def _going_down(storage: str, n: int) -> Any:
    number, (over, _) = real(storage), dividing(storage)
    zero, one = number(0.0), number(1.0)

    def down(shape: Shape, learning: RunArrays, steps: DeviceSteps, which: BundleLaunch) -> None:
        after = number(steps.factors[u(4 * (steps.clock[0] + which.iteration) + 2 + which.player)])
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        tile, lane = u(me >> u(5)), u(me & u(31))
        if tile >= u(which.tiles):
            return
        base = u(u(which.base) + u(tile * u(n)))
        before = learning.reached[base]  # read before the vote, a barrier of all lanes; written after it
        reach = learning.plan[shape.above[u(u(which.home) + me)]]
        now = any_lane(reach != zero)
        if not now and before == 0:
            return
        if lane == u(0):
            learning.reached[base] = 1 if now else 0
        first = u(u(base << u(5)) + lane)
        played, average = cuda.local.array(n, number), cuda.local.array(n, number)
        for a in range(n):
            played[a] = learning.played[u(first + u(32 * a))]
            average[a] = learning.average[u(first + u(32 * a))] if after != zero else zero
        total = zero
        for a in range(n):
            played[a] = select(played[a] > zero, played[a], zero)
            total += played[a]
        some = total > zero
        factor = over(reach, reach, total, u(n))
        for a in range(n):
            x = select(some, played[a], one) * factor
            if after != zero:
                learning.average[u(first + u(32 * a))] = average[a] + after * x
            learning.plan[u(first + u(32 * a))] = x

    return kernel(down)
