"""A street root on a board: down through the opponent's decisions, up through the learner's; a thread for each hand.

Numbers of a hand are read and written by one thread only, so nobody waits for anybody, but for 16-bit numbers: their
scale is that of a whole decision. Numbers are computed in ``work``: float64 for float64, else float32.

What is read for up to four actions is asked for at once, before any of it is used: a thread waits for memory twice per
decision, not twice per action.

Bytes per action and hand, of numbers of b bytes. Down: the opponent's regret read, its average read and written, 3 b;
nothing where the hand does not get there. Up: the learner's regret read and written, 2 b, and 2 b more for predictive
rules; nothing where the opponent does not get there with any hand. Rows are beside that: written once,
read once or twice, and those of the last street stay in the L2 cache. An evaluation reads b down, and b up if it plays
the learner's strategy.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.cuda.kernels import SIMULATED, callee, int32, rule, select, uint32
from treeplex.engines.boards.arrays import ALL_LOCKED, FREE
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.meeting import meet_block, top, uint64
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import AVERAGE, LARGEST, LATTICE, LEAST, REGRET, STORAGES, dither_seed

TINY: Final = 1e-30  # sums of regrets or averages up to here count as none: dividing by them might overflow
MASK: Final = 0xFFFFFFFF


class Street(NamedTuple):
    """Parts of kernels."""

    down: Any
    factor: Any
    up: Any


def _part(function):
    return function if SIMULATED else callee(function)


@cache
def street(storage: str, learn: bool) -> Street:
    """Parts for numbers of a storage, of passes that learn or that do not."""
    scaled, number = STORAGES[storage].scaled, STORAGES[storage].work
    whole, most = np.int16, int(LARGEST)
    match, decay, seed_of = rule(matched, where=select), rule(decayed, where=select), rule(dither_seed)
    if SIMULATED:
        seed_of = dither_seed  # compiled: NumPy would warn that whole numbers overflow
    zero, one, tiny, least, largest = number(0.0), number(1.0), number(TINY), number(LEAST), number(LARGEST)

    def dithered(x, seed, k):
        """x rounded down after a dither of number k of its group: ``updates.storage``."""
        u = number((np.int64(seed) + np.int64(k) * LATTICE & MASK) >> 8) * number(2.0**-24)
        return whole(min(math.floor(x + u), most))

    def is_locked(rows, actions, width, h):
        for a in range(actions):  # noqa: SIM110 - compiled
            if rows[uint32(a * width + h)] != 0:
                return True
        return False

    def lock_of(where, place):
        """Where a decision's locked rows are; all decisions are free if there is but one number."""
        lock = np.int64(FREE)
        if len(where) > 1:
            lock = where[uint64(place)]
        return lock

    dithered, is_locked, lock_of = _part(dithered), _part(is_locked), _part(lock_of)

    def four(numbers, a, actions, width, h):
        """Numbers of a hand for actions a to a + 3, zero where there is none."""
        x1, x2, x3 = zero, zero, zero
        x0 = number(numbers[uint32(a * width + h)])
        if a + 1 < actions:
            x1 = number(numbers[uint32((a + 1) * width + h)])
        if a + 2 < actions:
            x2 = number(numbers[uint32((a + 2) * width + h)])
        if a + 3 < actions:
            x3 = number(numbers[uint32((a + 3) * width + h)])
        return x0, x1, x2, x3

    four = _part(four)

    def down(betting, cards, board, root, facing, weight, t, prune, above, above_alive, stamp, chance, rows, stride,
             alive, shared, me, threads, at, step):  # fmt: skip
        """Reach rows of a unit; the opponent's average is kept on the way, and rows with a hand are marked.

        Hands are ``at``, ``at`` + ``step``, ...; of 16-bit numbers all are those of one block.
        """
        entry = betting.entry[uint32(root)]
        if above_alive[uint64(cards.board[board, layout.ABOVE_ALIVE] + entry)] != stamp:
            return  # and nobody reads the rows
        if me == 0:
            alive[uint32(0)] = stamp
        width = int32(cards.board[board, layout.THEIR_WIDTH])
        places = cards.map[uint64(cards.board[board, layout.MAP]) :]
        over = above[uint64(cards.board[board, layout.ABOVE_ROWS] + entry * cards.board[board, layout.ABOVE_STRIDE]) :]
        for h in range(at, width, step):
            rows[uint32(h)] = chance * over[uint32(places[uint32(h)])]
        storage_at, decision_at = cards.board[board, layout.THEIR_STORAGE], cards.board[board, layout.THEIR_DECISION]
        base = betting.root[root, layout.THEIR_SLOT]
        for n in range(betting.root[root, layout.THEIRS], betting.root[root, layout.THEIRS_END]):
            actions, slot = betting.theirs[n, layout.ACTIONS], betting.theirs[n, layout.SLOT]
            above_row, place = betting.theirs[n, layout.ABOVE], decision_at + betting.theirs[n, layout.NUMBER]
            first = int32(1 + slot - base)
            start, even, lock = storage_at + np.int64(slot) * width, one / number(actions), np.int64(-1)
            source, average, locked = facing.source[uint64(start) :], facing.average, facing.locked
            out = rows[uint32(first * stride) :]
            if learn:
                average, lock = average[uint64(start) :], lock_of(facing.where, place)
                locked = locked[uint64(lock if lock >= 0 else 0) :]
            if scaled and learn:
                meet_block()  # marks of the row above are complete
                if alive[uint32(above_row)] != stamp:
                    for h in range(at, width, step):
                        for a in range(actions):
                            out[uint32(a * stride + h)] = zero
                    continue
            if not prune and me == 0:
                for a in range(actions):
                    alive[uint32(first + a)] = stamp
            unit = number(facing.scale[uint64(place)]) if scaled and learn else one
            peak = zero
            for h in range(at, width, step):
                parent = rows[uint32(above_row * stride + h)]
                held = learn and lock >= 0 and is_locked(locked, actions, width, h)
                if parent == zero:  # nothing is read where the opponent does not get with this hand
                    for a in range(actions):
                        out[uint32(a * stride + h)] = zero
                        if scaled and learn and weight > zero and not held:
                            peak = max(peak, abs(number(average[uint32(a * width + h)]) * unit))
                    continue
                x0, x1, x2, x3 = four(source, int32(0), actions, width, h)
                m0, m1, m2, m3 = zero, zero, zero, zero
                adds = learn and weight > zero
                if adds and not held:
                    m0, m1, m2, m3 = four(average, int32(0), actions, width, h)
                total = max(x0, zero) + max(x1, zero) + max(x2, zero) + max(x3, zero)
                for a in range(4, actions):
                    total += max(number(source[uint32(a * width + h)]), zero)
                known, shared_out = match(parent, total, tiny, one)
                factor, rest = (shared_out, zero) if known else (zero, parent * even)
                a = int32(0)
                while a < actions:
                    k = uint32(a * width + h)
                    x = max(x0, zero) * factor + rest
                    out[uint32(a * stride + h)] = x
                    if prune and x != zero:
                        alive[uint32(first + a)] = stamp
                    if learn and adds:
                        if held:
                            if not scaled:
                                average[k] = locked[k]
                        elif scaled:
                            peak = max(peak, abs(m0 * unit + weight * x))
                        elif x != zero:
                            average[k] = m0 + weight * x
                    a = int32(a + 1)
                    x0, x1, x2 = x1, x2, x3
                    m0, m1, m2 = m1, m2, m3
                    if a >= 4 and a < actions:
                        x0 = number(source[uint32(a * width + h)])
                        if learn and adds:
                            m0 = number(average[uint32(a * width + h)])
            if scaled and learn and weight > zero:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start, t, AVERAGE)
                ratio = largest / peak if peak > least else zero
                for h in range(at, width, step):
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    for a in range(actions):
                        k = uint32(a * width + h)
                        fresh = number(average[k]) * unit + weight * out[uint32(a * stride + h)]
                        q = dithered(fresh * ratio, seed, k) if peak > least else whole(0)
                        average[k] = locked[k] if held else q
                if me == 0:
                    facing.scale[uint64(place)] = peak / LARGEST if peak > least else zero

    def factor(betting, cards, board, n, learning, clock, t, alive, stamp, kept):
        """``kept``: what a decision's regrets are multiplied by, all discounts since it was last updated."""
        place = uint64(cards.board[board, layout.DECISION] + betting.own[n, layout.NUMBER])
        mark = uint64(cards.board[board, layout.ALIVE] + betting.own[n, layout.MARK])
        if alive[mark] == stamp and lock_of(learning.where, place) != ALL_LOCKED:
            positive, negative = 1.0, 1.0
            for k in range(learning.last[place], t):
                positive *= clock.positive[k]
                negative *= clock.negative[k]
            learning.last[place] = t
            unit = number(learning.scale[place]) if scaled else one
            kept[uint32(0)] = number(positive) * unit
            kept[uint32(1)] = number(negative) * unit

    def value(betting, item, rows, stride, h):
        """Of an action or a street root to a hand."""
        total = zero
        for k in range(betting.item_start[uint32(item)], betting.item_start[uint32(item + 1)]):
            total += betting.chips[uint32(k)] * rows[uint32((betting.item[uint32(k)] >> 2) * stride + h)]
        return total

    def one_item(betting, k, end, rows, stride, h):
        """Its action modulo four, and what it adds to that action's value."""
        at, x = int32(0), zero
        if k < end:
            code = betting.item[uint32(k)]
            at = int32(code & 3)
            x = betting.chips[uint32(k)] * rows[uint32((code >> 2) * stride + h)]
        return at, x

    value, one_item = _part(value), _part(one_item)

    def values(betting, k, end, rows, stride, h):
        """Of up to four actions whose items are k to ``end``."""
        v0, v1, v2, v3 = zero, zero, zero, zero
        while k < end:
            at, x = one_item(betting, k, end, rows, stride, h)
            bt, y = one_item(betting, k + 1, end, rows, stride, h)
            ct, z = one_item(betting, k + 2, end, rows, stride, h)
            v0 = v0 + (x if at == 0 else zero) + (y if bt == 0 else zero) + (z if ct == 0 else zero)
            v1 = v1 + (x if at == 1 else zero) + (y if bt == 1 else zero) + (z if ct == 1 else zero)
            v2 = v2 + (x if at == 2 else zero) + (y if bt == 2 else zero) + (z if ct == 2 else zero)
            v3 = v3 + (x if at == 3 else zero) + (y if bt == 3 else zero) + (z if ct == 3 else zero)
            k = int32(k + 3)
        return v0, v1, v2, v3

    values = _part(values)

    def up(betting, cards, board, root, learning, good, bad, predict, t, best, roots, rows, stride, alive, stamp, kept,
           found, shared, me, threads, at, step):  # fmt: skip
        """Values of the learner's decisions, from the last to the first, and what is learnt; those of the street root.

        ``roots``: of the street, whose items come before those of actions. Of values of actions only the value of the
        decision is kept.
        """
        width, begin = int32(cards.board[board, layout.WIDTH]), betting.root[root, layout.OWN]
        if alive[uint32(0)] != stamp:
            for h in range(at, width, step):
                found[uint32(h)] = zero
            return
        storage_at, decision_at = cards.board[board, layout.STORAGE], cards.board[board, layout.DECISION]
        count = betting.root[root, layout.OWN_END] - begin
        first = betting.root[root, layout.ROWS] - betting.root[root, layout.CHANCES] - count
        for done in range(count):
            n = count - 1 - done
            actions, slot = betting.own[begin + n, layout.ACTIONS], betting.own[begin + n, layout.SLOT]
            place = uint64(decision_at + betting.own[begin + n, layout.NUMBER])
            out, item = rows[uint32((first + n) * stride) :], roots + slot
            if alive[uint32(betting.own[begin + n, layout.REACHED])] != stamp:
                for h in range(at, width, step):
                    out[uint32(h)] = zero
                continue
            start, even, lock = (
                storage_at + np.int64(slot) * width,
                one / number(actions),
                lock_of(learning.where, place),
            )
            source, regret, predicted = learning.source[uint64(start) :], learning.regret, learning.predicted
            locked = learning.locked[uint64(lock if lock >= 0 else 0) :]
            teach = learn and lock != ALL_LOCKED
            positive, negative, peak = one, one, zero
            if teach:
                positive, negative = kept[uint32(2 * n)], kept[uint32(2 * n + 1)]
                regret = regret[uint64(start) :]
                if predict > zero:
                    predicted = predicted[uint64(start) :]
            items, end = betting.item_start[uint32(item)], betting.item_start[uint32(item + min(actions, 4))]
            for h in range(at, width, step):
                held = lock >= 0 and is_locked(locked, actions, width, h)
                plays = learn or not best or held or lock == ALL_LOCKED
                s0, s1, s2, s3 = zero, zero, zero, zero
                if plays:
                    s0, s1, s2, s3 = four(source, int32(0), actions, width, h)
                v0, v1, v2, v3 = values(betting, items, end, rows, stride, h)
                if plays:
                    x0, x1, x2, x3 = max(s0, zero), max(s1, zero), max(s2, zero), max(s3, zero)
                    total, plain = x0 + x1 + x2 + x3, v0 + v1 + v2 + v3
                    weighted = x0 * v0 + x1 * v1 + x2 * v2 + x3 * v3
                    for a in range(4, actions):
                        v, x = (
                            value(betting, item + a, rows, stride, h),
                            max(number(source[uint32(a * width + h)]), zero),
                        )
                        total += x
                        weighted += x * v
                        plain += v
                    known, shared_out = match(weighted, total, tiny, one)
                    expected = shared_out if known else plain * even
                else:
                    expected = v0
                    if actions > 1:
                        expected = max(expected, v1)
                    if actions > 2:
                        expected = max(expected, v2)
                    if actions > 3:
                        expected = max(expected, v3)
                    for a in range(4, actions):
                        expected = max(expected, value(betting, item + a, rows, stride, h))
                out[uint32(h)] = expected
                if not teach:
                    continue
                if predict > zero:
                    s0, s1, s2, s3 = four(regret, int32(0), actions, width, h)
                a = int32(0)
                while a < actions:
                    k = uint32(a * width + h)
                    gain = v0 - expected
                    r = decay(s0, positive, negative, zero) + gain
                    if scaled:
                        peak = peak if held else max(peak, abs(r))
                    else:
                        regret[k] = locked[k] if held else r
                        if predict > zero:
                            again = decay(r, good, bad, zero) + predict * gain
                            predicted[k] = locked[k] if held else again
                    a = int32(a + 1)
                    s0, s1, s2 = s1, s2, s3
                    v0, v1, v2 = v1, v2, v3
                    if a >= 4 and a < actions:
                        s0 = number(regret[uint32(a * width + h)])
                        v0 = value(betting, item + a, rows, stride, h)
            if scaled and teach:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start, t, REGRET)
                ratio = largest / peak if peak > least else zero
                for h in range(at, width, step):
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    expected = out[uint32(h)]
                    for a in range(actions):
                        k = uint32(a * width + h)
                        gain = value(betting, item + a, rows, stride, h) - expected
                        r = decay(number(regret[k]), positive, negative, zero) + gain
                        q = dithered(r * ratio, seed, k) if peak > least else whole(0)
                        regret[k] = locked[k] if held else q
                if me == 0:
                    learning.scale[place] = peak / LARGEST if peak > least else zero
        for h in range(at, width, step):
            found[uint32(h)] = value(betting, root, rows, stride, h)

    return Street(_part(down), _part(factor), _part(up))
