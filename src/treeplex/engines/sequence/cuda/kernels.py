"""Kernels of the regret matching family over tiles. Maths: ``reference.iterations``; places: ``layout``.

UP, by height from the bottom: the value of a sequence is its payoffs times the opponent's plan, and what its child
infosets left in slots; then regrets, and what the next strategy is in proportion to. DOWN, by height from the top:
plans, and averages with them, with the weight of the next iteration. FALL is DOWN for the upper heights at once: each
infoset multiplies the strategies along its path, which is short, instead of waiting for the height above.

Strategies are not stored: they are what is played times ``share``, the inverse of its sum, or -1 / n where nothing is
positive. So a pure strategy may be off by a rounding, other than on the CPU.

Storage is that of the learners; arithmetic and accumulation, too: conversions would cost more than they save. No
fastmath, no atomics: the same input gives the same bits. A warp owns the tiles it works on.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from treeplex.engines.sequence.cuda.arrays import Bundle, Learning, Range, Shape, Steps
from treeplex.engines.sequence.cuda.layout import ACTIONS, NOBODY, WORDS
from treeplex.kernels.cuda.kernels import (
    any_lane,
    callee,
    column_sum,
    cuda,
    int32,
    kernel,
    load4,
    one_by_one,
    real,
    rule,
    select,
)
from treeplex.kernels.cuda.kernels import uint32 as u
from treeplex.updates import rules

decayed: Any = rule(rules.decayed, where=select)

UP, DOWN, FALL = 0, 1, 2
BOTTOM, ONE, SEVERAL, ANY = range(4)
"""Forms of UP: tiles of one step without children, of one step, of several; of any, where there are few."""


class Kernels(NamedTuple):
    """For one storage; with or without prediction."""

    up: tuple[Any, ...]  # by form
    down: Any
    fall: Any
    block: Any  # some phases, or whole iterations, in one block
    share: Any  # of whatever is played, as it was put there
    enter: Any  # the plan that is played enters the average
    tick: Any  # iterations are counted


@callee
def places_of(shape: Shape, w: Any) -> tuple[Any, Any, Any, Any]:
    """Of a tile: first row, first infoset, first rows of entries and of slots."""
    return load4(shape.tiles, u(w * u(WORDS)))


@callee
def sizes_of(shape: Shape, w: Any) -> tuple[Any, Any, Any, Any]:
    """Of a tile: n, shape, entries and children of a row."""
    return load4(shape.tiles, u(u(w * u(WORDS)) + u(ACTIONS)))


@callee
def lane_of(shape_word: Any, lane: Any) -> tuple[Any, Any, Any, Any]:
    """Row and column of a lane in its tile."""
    wide = u(shape_word & u(63))
    row = u(u(lane * u(shape_word >> u(12))) >> u(10))
    return row, u(lane - u(row * wide)), wide, u((shape_word >> u(6)) & u(63))


@cache
def sums(storage: str) -> tuple[Any, Any]:
    """``paid`` and ``below``: what a row of sequences is worth, by payoffs and by child infosets."""
    number = real(storage)
    zero = number(0.0)

    @callee
    def four(shape: Shape, plan: Any, at: Any) -> Any:
        s0, s1 = shape.column[at], shape.column[u(at + u(32))]
        s2, s3 = shape.column[u(at + u(64))], shape.column[u(at + u(96))]
        v0, v1 = number(shape.value[at]), number(shape.value[u(at + u(32))])
        v2, v3 = number(shape.value[u(at + u(64))]), number(shape.value[u(at + u(96))])
        return (v0 * plan[s0] + v1 * plan[s1]) + (v2 * plan[s2] + v3 * plan[s3])

    @callee
    def paid(shape: Shape, plan: Any, row: Any, length: Any, lane: Any, unit: Any, eager: Any) -> Any:
        """Payoffs of a row times the opponent's plan; ``eager``: more of them at a time, for more registers."""
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
    def below(slot: Any, row: Any, children: Any, lane: Any) -> Any:
        """Values of the child infosets of a row."""
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


@cache
def kernels(storage: str, predict: bool, dealt: bool = False) -> Kernels:
    """The kernels of one storage; ``dealt``: are payoffs found before?"""
    number = real(storage)
    zero, one = number(0.0), number(1.0)
    paid, below = sums(storage)

    @callee
    def learn(
        learning: Learning, at: Any, old: Any, value: Any, worth: Any, positive: Any, negative: Any, predicted: Any
    ) -> Any:
        """New regret of a sequence; returns what it is played in proportion to."""
        instantaneous = value - worth
        r = decayed(old + instantaneous, positive, negative, zero) + zero
        if r != old:
            learning.regret[at] = r
        if predict:
            r = r + predicted * instantaneous
        q = select(r > zero, r, zero)
        if predict:
            learning.played[at] = q
        return q

    @callee
    def up_one(
        shape: Shape,
        learning: Learning,
        w: Any,
        lane: Any,
        unit: Any,
        positive: Any,
        negative: Any,
        predicted: Any,
        children: Any,
        eager: Any,
    ) -> None:
        """A tile of one step."""
        base, first, entry, slot = places_of(shape, w)
        n, form, length, below_each = sizes_of(shape, w)
        row, j, wide, _ = lane_of(form, lane)
        here, at = u(first + j), u(u(base << u(5)) + lane)
        share, leave = learning.share[here], shape.leave[here]
        some = share > zero
        old, played, value = zero, zero, zero
        if row < n:
            old = learning.regret[at]
            played = learning.played[at] if predict else old
            value = learning.earned[at] if dealt else paid(shape, learning.plan, entry, length, lane, unit, eager)
            if children:
                value += below(learning.slot, slot, below_each, lane)
            if not predict:
                played = select(played > zero, played, zero)
        worth = column_sum(select(some, played * value, value), j, wide, n)
        worth *= select(some, share, -share)
        if row == u(0):
            learning.slot[leave] = worth
        q = zero
        if row < n:
            q = learn(learning, at, old, value, worth, positive, negative, predicted)
        total = column_sum(q, j, wide, n)
        if row == u(0):
            learning.share[here] = one / select(total > zero, total, -number(n))

    @callee
    def up_several(
        shape: Shape,
        learning: Learning,
        w: Any,
        lane: Any,
        unit: Any,
        positive: Any,
        negative: Any,
        predicted: Any,
        eager: Any,
    ) -> None:
        """A tile of several steps. Until its worth is known, values wait where they go: ``played``, or in regrets."""
        base, first, entry, slot = places_of(shape, w)
        n, form, length, children = sizes_of(shape, w)
        row, j, wide, high = lane_of(form, lane)
        here, start = u(first + j), u(u(base << u(5)) + lane)
        share, leave = learning.share[here], shape.leave[here]
        some = share > zero
        total = zero
        at = start
        a = select(row < high, row, n)  # lanes left over have no action
        while a < n:
            played = learning.played[at]
            value = learning.earned[at] if dealt else paid(shape, learning.plan, entry, length, lane, unit, eager)
            value += below(learning.slot, slot, children, lane)
            if predict:
                total += select(some, played * value, value)
                learning.played[at] = value
            else:
                total += select(some, select(played > zero, played, zero) * value, value)
                learning.regret[at] = played + value
            entry, slot, at, a = u(entry + length), u(slot + children), u(at + u(32)), u(a + high)
        worth = column_sum(total, j, wide, high)
        worth *= select(some, share, -share)
        if row == u(0):
            learning.slot[leave] = worth
        total = zero
        at = start
        a = select(row < high, row, n)
        while a < n:
            r = learning.regret[at]
            if predict:
                total += learn(learning, at, r, learning.played[at], worth, positive, negative, predicted)
            else:
                r = decayed(r - worth, positive, negative, zero) + zero
                learning.regret[at] = r
                total += select(r > zero, r, zero)
            at, a = u(at + u(32)), u(a + high)
        total = column_sum(total, j, wide, high)
        if row == u(0):
            learning.share[here] = one / select(total > zero, total, -number(n))

    @callee
    def up_any(
        shape: Shape, learning: Learning, w: Any, lane: Any, unit: Any, positive: Any, negative: Any, predicted: Any
    ) -> None:
        n, form, _, _ = sizes_of(shape, w)
        if n > u(u(form >> u(6)) & u(63)):
            up_several(shape, learning, w, lane, unit, positive, negative, predicted, True)
        else:
            up_one(shape, learning, w, lane, unit, positive, negative, predicted, True, True)

    @callee
    def passed_down(shape: Shape, learning: Learning, w: Any, lane: Any, reach: Any, here: Any, weight: Any) -> None:
        """Plans and averages of a tile whose infosets are reached by ``reach``."""
        n, form, _, _ = sizes_of(shape, w)
        row, _, _, high = lane_of(form, lane)
        share = learning.share[here]
        some = share > zero
        factor = reach * share
        at = u(u(places_of(shape, w)[0] << u(5)) + lane)
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
    def down(shape: Shape, learning: Learning, w: Any, lane: Any, weight: Any) -> None:
        base, first, _, _ = places_of(shape, w)
        here = u(first + lane_of(sizes_of(shape, w)[1], lane)[1])
        before = learning.reached[base]  # read before the vote, where all lanes meet; written after it
        reach = learning.plan[shape.above[here]]
        now = any_lane(reach != zero)
        if now or before != 0:
            passed_down(shape, learning, w, lane, reach, here, weight)
            if lane == u(0):
                learning.reached[base] = 1 if now else 0

    @callee
    def fall(shape: Shape, learning: Learning, w: Any, lane: Any, weight: Any) -> None:
        here, reach = u(places_of(shape, w)[1] + lane_of(sizes_of(shape, w)[1], lane)[1]), one
        s, q = u(shape.above[here]), u(shape.owner[here])
        while q != u(NOBODY):
            share, x = learning.share[q], learning.played[s]
            s, q = u(shape.above[q]), u(shape.owner[q])
            reach *= select(share > zero, select(x > zero, x, zero) * share, -share)
        passed_down(shape, learning, w, lane, reach, here, weight)

    def up_kernel(form: Any) -> Any:
        def up(shape: Shape, learning: Learning, steps: Steps, which: Range, unit: Any, predicted: Any) -> None:
            i = u(steps.clock[0] + which.iteration)
            positive, negative = number(steps.told[u(i << u(2))]), number(steps.told[u(u(i << u(2)) + u(1))])
            me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
            w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
            if w < u(which.end):
                if form == BOTTOM:
                    up_one(shape, learning, w, lane, number(unit), positive, negative, number(predicted), False, False)
                elif form == ONE:
                    up_one(shape, learning, w, lane, number(unit), positive, negative, number(predicted), True, False)
                elif form == SEVERAL:
                    up_several(shape, learning, w, lane, number(unit), positive, negative, number(predicted), False)
                else:
                    up_any(shape, learning, w, lane, number(unit), positive, negative, number(predicted))

        return kernel(up)

    def down_kernel(fast: Any) -> Any:
        def go_down(shape: Shape, learning: Learning, steps: Steps, which: Range) -> None:
            weight = number(steps.told[u(4 * (steps.clock[0] + which.iteration) + 2 + which.player)])
            me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
            w, lane = u(u(which.begin) + u(me >> u(5))), u(me & u(31))
            if w < u(which.end):
                if fast:
                    fall(shape, learning, w, lane, weight)
                else:
                    down(shape, learning, w, lane, weight)

        return kernel(go_down)

    def block(
        shape: Shape,
        learning: Learning,
        steps: Steps,
        phases: Any,
        which: Range,
        count: Any,
        unit: Any,
        predicted: Any,
    ) -> None:
        """Phases ``begin`` to ``end``, ``count`` times; phases [P, 4]: kind, first tile, end, player."""
        me = u(cuda.threadIdx.x)
        lane, warp, warps = u(me & u(31)), u(me >> u(5)), u(u(cuda.blockDim.x) >> u(5))
        start = steps.clock[0] + which.iteration
        for t in range(count):
            i = u(start + t)
            positive, negative = number(steps.told[u(i << u(2))]), number(steps.told[u(u(i << u(2)) + u(1))])
            for p in range(which.begin, which.end):
                kind, w, end = phases[p, 0], u(u(phases[p, 1]) + warp), u(phases[p, 2])
                weight = number(steps.told[u(u(i << u(2)) + u(2 + phases[p, 3]))])
                while w < end:
                    if kind == UP:
                        up_any(shape, learning, w, lane, number(unit), positive, negative, number(predicted))
                    elif kind == DOWN:
                        down(shape, learning, w, lane, weight)
                    else:
                        fall(shape, learning, w, lane, weight)
                    w = u(w + warps)
                cuda.syncthreads()

    def shares(shape: Shape, learning: Learning, tiles: Any) -> None:
        """Shares of what is played, of all tiles."""
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        w, lane = u(me >> u(5)), u(me & u(31))
        if w < u(tiles):
            (n, form, _, _), (base, first, _, _) = sizes_of(shape, w), places_of(shape, w)
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
                learning.share[u(first + j)] = one / select(total > zero, total, -number(n))

    def enter(learning: Learning, turn: Any, first: Any, second: Any) -> None:
        """Averages take the plan with the weight of its player; player 1's places begin at ``turn``."""
        i = u(cuda.grid(1))
        if i < u(learning.plan.shape[0]):
            learning.average[i] += number(select(i < u(turn), first, second)) * learning.plan[i]

    def tick(steps: Steps, count: Any) -> None:
        if cuda.grid(1) == 0:
            steps.clock[0] += count

    return Kernels(
        tuple(up_kernel(form) for form in (BOTTOM, ONE, SEVERAL, ANY)),
        down_kernel(False),
        down_kernel(True),
        kernel(block, max_registers=64),  # for 1,024 threads
        kernel(shares),
        kernel(enter),
        kernel(tick),
    )


class BundleKernels(NamedTuple):
    """For one storage, with or without prediction, and one shape of infosets."""

    up: Any
    down: Any


@cache
def bundle_kernels(storage: str, predict: bool, lengths: tuple[int, ...]) -> BundleKernels:
    """The kernels of bundles whose actions have so many payoffs."""
    number = real(storage)
    zero, one = number(0.0), number(1.0)
    n, entries = len(lengths), sum(lengths)
    starts = tuple(sum(lengths[:a]) for a in range(n))

    def up(shape: Shape, learning: Learning, steps: Steps, which: Bundle, unit: Any, predicted: Any) -> None:
        i = u(steps.clock[0] + which.iteration)
        positive, negative = number(steps.told[u(i << u(2))]), number(steps.told[u(u(i << u(2)) + u(1))])
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
        total, worth, even = zero, zero, zero
        for a in range(n):
            v = zero
            for e in range(lengths[a]):
                v += pays[starts[a] + e] * weight[starts[a] + e]
            v *= number(unit)
            x = select(played[a] > zero, played[a], zero)
            total += x
            worth += x * v
            even += v
            value[a] = v
        worth = select(total > zero, worth, even) / select(total > zero, total, number(n))
        learning.slot[leave] = worth
        for a in range(n):
            at = u(first + u(32 * a))
            instantaneous = value[a] - worth
            r = decayed(old[a] + instantaneous, positive, negative, zero) + zero
            if r != old[a]:
                learning.regret[at] = r
            if predict:
                r = r + number(predicted) * instantaneous
                learning.played[at] = select(r > zero, r, zero)

    def down(shape: Shape, learning: Learning, steps: Steps, which: Bundle) -> None:
        after = number(steps.told[u(4 * (steps.clock[0] + which.iteration) + 2 + which.player)])
        me = u(u(u(cuda.blockIdx.x) * u(cuda.blockDim.x)) + u(cuda.threadIdx.x))
        tile, lane = u(me >> u(5)), u(me & u(31))
        if tile >= u(which.tiles):
            return
        base = u(u(which.base) + u(tile * u(n)))
        before = learning.reached[base]  # read before the vote, where all lanes meet; written after it
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
        factor = reach / select(some, total, number(n))
        for a in range(n):
            x = select(some, played[a], one) * factor
            if after != zero:
                learning.average[u(first + u(32 * a))] = average[a] + after * x
            learning.plan[u(first + u(32 * a))] = x

    return BundleKernels(kernel(up), kernel(down))
