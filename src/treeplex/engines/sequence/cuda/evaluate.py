"""Value and best responses on a GPU. Maths: ``evaluation.exact``. Arithmetic is float64, whatever is kept."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.compile.payoffs import Csr
from treeplex.cuda.graphs import Stream
from treeplex.cuda.kernels import BLOCK, LANES, callee, column_sum, column_top, cuda, kernel, real, select
from treeplex.cuda.kernels import uint32 as u
from treeplex.cuda.memory import fetch, send
from treeplex.engines.sequence.cuda.arrays import Bundle, Learning, Range, Shape, Steps
from treeplex.engines.sequence.cuda.kernels import FALL, bundle_kernels, kernels, lane_of, sums
from treeplex.engines.sequence.cuda.layout import ACTIONS, BASE, CHILDREN, ENTRY, HOME, LENGTH, SHAPE, SLOT, Layout
from treeplex.engines.sequence.cuda.plan import Part, Plan

LOWEST: Final = -1e300


class Found(NamedTuple):
    """Of a pair of strategies, as payoffs are stored."""

    value: float
    best_responses: tuple[float, float]


class Evaluator:
    """Arrays for evaluations beside those of an engine."""

    def __init__(
        self, layout: Layout, plan: Plan, stream: Stream, shape: Shape, learning: Learning, sides: tuple[Csr, Csr]
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
        self.current = learning._replace(slot=self.slot)
        self.steps = Steps(send(np.zeros(1, np.int32)), *(send(np.zeros(2)) for _ in range(3)))
        self.roots = tuple(_Root(sides[player], layout.sides[1 - player].place, player) for player in (0, 1))

    def found(self, iterate: str) -> Found:
        """Of the average or the current strategies."""
        self.stream.wait()
        kept = self.current
        if iterate != "current":
            kept = self.average
            self._make_plans(kept)
        for player in (0, 1):
            for phase in self.plan.heights[player][0]:
                for part in phase:
                    self._best(kept, part)
        self.stream.wait()
        responses: list[float] = []
        for side, root in zip(self.layout.sides, self.roots, strict=True):
            values = fetch(self.slot[side.root : side.root + side.roots]) if side.roots else np.zeros(0)
            responses.append(float(values.sum()) + root.paid(kept.plan, self.stream))
        turn = int(self.layout.sides[1].place[0]) // LANES
        value = float(fetch(self.paid[:turn]).sum()) + self.roots[0].paid(kept.plan, self.stream)
        return Found(value, (responses[0], responses[1]))

    def _make_plans(self, kept: Learning) -> None:
        """Realization plans of the average strategies: the way down, with nothing to be added to averages."""
        made, stream = kernels("float64", False), self.stream.numba
        tiles = len(self.layout.tiles)
        made.share[_blocks(tiles), BLOCK, stream](self.shape, kept, tiles)
        for player in (0, 1):
            for part in [part for phase in self.plan.heights[player][1] for part in phase]:
                if part.bundle >= 0:
                    bundle = self.layout.sides[player].bundles[part.bundle]
                    chosen, tiles = bundle_kernels("float64", False, bundle.lengths).down, bundle.tiles
                    which: Any = Bundle(*bundle[1:], player, 0)
                else:
                    chosen, tiles = made.fall if part.kind == FALL else made.down, part.end - part.begin
                    which = Range(part.begin, part.end, player, 0)
                chosen[_blocks(tiles), BLOCK, stream](self.shape, kept, self.steps, which)

    def _best(self, kept: Learning, part: Part) -> None:
        shape, layout = self.shape, self.layout
        if part.bundle >= 0:
            bundle = layout.sides[part.player].bundles[part.bundle]
            chosen, tiles = _bundle_best(bundle.lengths), bundle.tiles
            which: Any = Bundle(*bundle[1:], part.player, 0)
        else:
            chosen, tiles = _best(), part.end - part.begin
            which = Range(part.begin, part.end, part.player, 0)
        chosen[_blocks(tiles), BLOCK, self.stream.numba](shape, kept, self.paid, which, layout.unit)


class _Root:
    """What a player is paid without a move of its own."""

    def __init__(self, side: Csr, other: Ints, player: int) -> None:
        end = int(side.start[1])
        self.value = side.data[:end] * (1.0 if player == 0 else -1.0)
        self.places = other[side.column[:end]].astype(np.uint32)

    def paid(self, plan: Any, stream: Any) -> float:
        """Times the opponent's plan."""
        if len(self.places) == 0:
            return 0.0
        out = send(np.zeros(len(self.places)))
        _picked()[-(-len(self.places) // BLOCK), BLOCK, stream.numba](plan, send(self.places), out)
        stream.wait()
        return float(fetch(out) @ self.value)


def _blocks(tiles: int) -> int:
    return -(-tiles * LANES // BLOCK)


@callee
def _written(paid: Any, row: Any, lane: Any, total: Any) -> None:
    """What a tile pays under both plans, by its first row."""
    total = column_sum(total, u(0), u(1), u(32))
    if lane == u(0):
        paid[row] = total


@cache
def _best() -> Any:
    number = real("float64")
    zero, lowest = number(0.0), number(LOWEST)
    by_payoffs, below = sums("float64")

    def best(shape: Shape, learning: Learning, paid: Any, which: Range, unit: Any) -> None:
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
        if w < u(which.end):
            entry, length = u(shape.tiles[w, ENTRY]), u(shape.tiles[w, LENGTH])
            slot, children = u(shape.tiles[w, SLOT]), u(shape.tiles[w, CHILDREN])
            n, base = u(shape.tiles[w, ACTIONS]), u(shape.tiles[w, BASE])
            row, j, wide, high = lane_of(u(shape.tiles[w, SHAPE]), lane)
            at = u(u(base << u(5)) + lane)
            top, total = lowest, zero
            a = select(row < high, row, n)
            while a < n:
                value = by_payoffs(shape, learning.plan, entry, length, lane, number(unit), True)
                total += learning.plan[at] * value
                top = max(top, value + below(learning.slot, slot, children, lane))
                entry, slot, at, a = u(entry + length), u(slot + children), u(at + u(32)), u(a + high)
            top = column_top(top, j, wide, high)
            if row == u(0):
                learning.slot[shape.leave[u(u(shape.tiles[w, HOME]) + j)]] = top
            _written(paid, base, lane, total)

    return kernel(best)


@cache
def _bundle_best(lengths: tuple[int, ...]) -> Any:
    number = real("float64")
    zero, lowest = number(0.0), number(LOWEST)
    n, entries = len(lengths), sum(lengths)
    starts = tuple(sum(lengths[:a]) for a in range(n))

    def best(shape: Shape, learning: Learning, paid: Any, which: Bundle, unit: Any) -> None:
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


@cache
def _picked() -> Any:
    def picked(plan: Any, places: Any, out: Any) -> None:
        i = u(cuda.grid(1))
        if i < u(out.shape[0]):
            out[i] = plan[places[i]]

    return kernel(picked)
