"""Value and best responses on a GPU. Maths: ``evaluation.exact``. Arithmetic is float64, whatever is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.cuda.arrays import (
    Array,
    BundleLaunch,
    DeviceSteps,
    Index,
    Number,
    RunArrays,
    Shape,
    TileRange,
)
from treeplex.engines.sequence.cuda.bundles import bundle_kernels
from treeplex.engines.sequence.cuda.dealt import deal_kernel
from treeplex.engines.sequence.cuda.kernels import FALL, kernels
from treeplex.engines.sequence.cuda.layout import DeviceLayout
from treeplex.engines.sequence.cuda.parts import lane_of, places_of, sizes_of, sums
from treeplex.engines.sequence.cuda.plan import LaunchPlan, PlanPart, blocks_of, launch_of
from treeplex.kernels.cuda.graphs import Stream
from treeplex.kernels.cuda.kernels import (
    BLOCK,
    LANES,
    SIMULATED,
    callee,
    column_sum,
    column_top,
    cuda,
    kernel,
    real,
    select,
)
from treeplex.kernels.cuda.kernels import uint32 as u
from treeplex.kernels.cuda.memory import fetch, send, sent

FLOAT: Final = real("float64")
LOWEST: Final = -1e300
PARTS: Final = 2 if SIMULATED else 64  # blocks that add up numbers; their sums are added on the CPU, in order
ALONE: Final = BLOCK if SIMULATED else 1  # sums that the first thread adds up by itself: barriers are slow there
VALUE, RESPONSE, PAID, SUMS = 0, 1, 3, 5  # what is added up: the last two for each player


class PairValues(NamedTuple):
    """Of a pair of strategies, as payoffs are stored."""

    value: float
    best_responses: tuple[float, float]


class Evaluator:
    """Arrays for evaluations beside those of an engine."""

    def __init__(
        self,
        layout: DeviceLayout,
        plan: LaunchPlan,
        stream: Stream,
        shape: Shape,
        learning: RunArrays,
        sides: tuple[Csr, Csr],
    ) -> None:
        self.layout, self.plan, self.stream, self.shape = layout, plan, stream, shape
        self.paid = send(np.zeros(layout.rows))
        self.slot = send(np.zeros(max(layout.slots, 1) * LANES))
        empty = np.zeros(layout.places)
        for side in layout.sides:
            empty[side.place[0]] = 1.0
        self.average = learning._replace(
            plan=send(empty),
            played=learning.average,
            share=send(np.full(len(layout.above), -1.0)),
            reached=send(np.ones(layout.rows, np.uint8)),
            slot=self.slot,
        )
        self.dealt: Any = None
        if layout.dealt is not None:
            self.dealt = [sent(side) for side in layout.dealt]
            self.average = self.average._replace(earned=send(np.zeros(layout.places)))
        self.current = learning._replace(slot=self.slot, earned=self.average.earned)
        self.steps = DeviceSteps(send(np.zeros(1, np.int32)), send(np.zeros(4)))
        self.roots = tuple(_Root(sides[player], layout.sides[1 - player].place, player) for player in (0, 1))
        self.sums = send(np.zeros(SUMS * PARTS))
        self._recorded: dict[str, Callable[[], None]] = {}

    def found(self, iterate: str) -> PairValues:
        """Of the average or the current strategies."""
        if iterate in self._recorded:
            self._recorded[iterate]()
        else:
            self._launch(iterate)  # compiles, which must not happen while launches are recorded
            self._recorded[iterate] = self.stream.recorded(partial(self._launch, iterate))
        self.stream.wait()
        sums = [float(each) for each in fetch(self.sums).reshape(SUMS, PARTS).sum(axis=1)]
        first, second = (sums[RESPONSE + player] + sums[PAID + player] for player in (0, 1))
        return PairValues(sums[VALUE] + sums[PAID], (first, second))

    def _launch(self, iterate: str) -> None:
        kept = self.current
        if iterate != "current":
            kept = self.average
            self._make_plans(kept)
        for player in (0, 1):
            if self.dealt is not None:
                own = self.dealt[player]
                deal_kernel("float64")[-(-len(own.own) // BLOCK), BLOCK, self.stream.numba](own, kept.plan, kept.earned)
            for phase in self.plan.heights[player][0]:
                for part in phase:
                    self._best(kept, part)
        grid = PARTS, BLOCK, self.stream.numba
        _run_sum[grid](self.paid, 0, int(self.layout.sides[1].place[0]) // LANES, self.sums, VALUE)
        for player, (side, root) in enumerate(zip(self.layout.sides, self.roots, strict=True)):
            _run_sum[grid](self.slot, side.root, side.root + side.roots, self.sums, RESPONSE + player)
            _picked_sum[grid](kept.plan, root.places, root.value, root.count, self.sums, PAID + player)

    def _make_plans(self, kept: RunArrays) -> None:
        """Realization plans of the average strategies: the way down, with nothing to be added to averages."""
        made, stream = kernels("float64", False), self.stream.numba
        tiles = len(self.layout.tiles)
        made.share[blocks_of(tiles), BLOCK, stream](self.shape, kept, tiles)
        for player in (0, 1):
            for part in [part for phase in self.plan.heights[player][1] for part in phase]:
                chosen = made.fall if part.kind == FALL else made.down
                if part.bundle >= 0:
                    bundle = self.layout.sides[player].bundles[part.bundle]
                    chosen = bundle_kernels("float64", False, bundle.lengths).down
                blocks, which = launch_of(self.layout, part)
                chosen[blocks, BLOCK, stream](self.shape, kept, self.steps, which)

    def _best(self, kept: RunArrays, part: PlanPart) -> None:
        chosen = _best(self.dealt is not None)
        if part.bundle >= 0:
            chosen = _bundle_best(self.layout.sides[part.player].bundles[part.bundle].lengths)
        blocks, which = launch_of(self.layout, part)
        chosen[blocks, BLOCK, self.stream.numba](self.shape, kept, self.paid, which, self.layout.unit)


class _Root:
    """What a player is paid without a move of its own: places of the opponent's plan, and payoffs."""

    def __init__(self, side: Csr, other: Ints, player: int) -> None:
        self.count = end = int(side.start[1])
        value = side.data[:end] * (1.0 if player == 0 else -1.0)
        self.value = send(np.append(value, 0.0))  # at least one
        self.places = send(np.append(other[side.column[:end]], 0).astype(np.uint32))


@callee
def _written(paid: Array, row: Index, lane: Index, total: Number) -> None:
    """What a tile pays under both plans, by its first row."""
    total = column_sum(total, u(0), u(1), u(32))
    if lane == u(0):
        paid[row] = total


@cache
def _best(dealt: bool) -> Any:
    number = real("float64")
    zero, lowest = number(0.0), number(LOWEST)
    by_payoffs, below = sums("float64")

    def best(shape: Shape, learning: RunArrays, paid: Array, which: TileRange, unit: Number) -> None:
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
        if w < u(which.end):
            base, home, entry, slot = places_of(shape, w)
            n, form, length, children = sizes_of(shape, w)
            row, j, wide, high = lane_of(form, lane)
            at = u(u(base << u(5)) + lane)
            top, total = lowest, zero
            a = select(row < high, row, n)
            while a < n:
                if dealt:
                    value = learning.earned[at]
                else:
                    value = by_payoffs(shape, learning.plan, entry, length, lane, number(unit), True)
                total += learning.plan[at] * value
                top = max(top, value + below(learning.slot, slot, children, lane))
                entry, slot, at, a = u(entry + length), u(slot + children), u(at + u(32)), u(a + high)
            top = column_top(top, j, wide, high)
            if row == u(0):
                learning.slot[shape.leave[u(home + j)]] = top
            _written(paid, base, lane, total)

    return kernel(best)


@cache
def _bundle_best(lengths: tuple[int, ...]) -> Any:
    number = real("float64")
    zero, lowest = number(0.0), number(LOWEST)
    n, entries = len(lengths), sum(lengths)
    starts = tuple(sum(lengths[:a]) for a in range(n))

    def best(shape: Shape, learning: RunArrays, paid: Array, which: BundleLaunch, unit: Number) -> None:
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        tile, lane = u(me >> u(5)), u(me & u(31))
        if tile < u(which.tiles):
            base = u(u(which.base) + u(tile * u(n)))
            at = u(u(base << u(5)) + lane)
            entry = u(u(u(u(which.entry) + u(tile * u(entries))) << u(5)) + lane)
            top, total = lowest, zero
            for a in range(n):
                value = zero
                for e in range(lengths[a]):
                    here = u(entry + u(32 * (starts[a] + e)))
                    value += number(shape.value[here]) * learning.plan[shape.column[here]]
                value *= number(unit)
                total += learning.plan[u(at + u(32 * a))] * value
                top = max(top, value)
            learning.slot[shape.leave[u(u(which.home) + me)]] = top
            _written(paid, base, lane, total)

    return kernel(best)


@callee
def _added(total: Number, sums: Array, at: Index) -> None:
    """The sum over a block, in a fixed order."""
    shared = cuda.shared.array(BLOCK, dtype=FLOAT)
    me, half = cuda.threadIdx.x, BLOCK // 2
    shared[me] = total
    cuda.syncthreads()
    while half >= ALONE:
        if me < half:
            shared[me] += shared[me + half]
        cuda.syncthreads()
        half //= 2
    if me == 0:
        for k in range(1, ALONE):
            shared[0] += shared[k]
        sums[at * PARTS + cuda.blockIdx.x] = shared[0]


@kernel
def _run_sum(numbers: Array, begin: Index, end: Index, sums: Array, at: Index) -> None:
    total, i = FLOAT(0.0), begin + cuda.grid(1)
    while i < end:
        total += numbers[i]
        i += cuda.gridsize(1)
    _added(total, sums, at)


@kernel
def _picked_sum(numbers: Array, places: Array, values: Array, count: Index, sums: Array, at: Index) -> None:
    total, i = FLOAT(0.0), cuda.grid(1)
    while i < count:
        total += values[i] * numbers[places[i]]
        i += cuda.gridsize(1)
    _added(total, sums, at)
