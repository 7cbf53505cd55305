"""A street root on a board: down through the opponent's decisions, up through the learner's; a thread for each hand.

Numbers of a hand are read and written by one thread only, so nobody waits for anybody, but for 16-bit numbers: their
scale is that of a whole decision. Numbers are computed in ``work``: float64 for float64, else float32.

What is read for up to four actions is asked for at once, before any of it is used: a thread waits for memory twice per
decision, not twice per action. Kernels are bound by instructions before they are bound by memory (measured), so loops
are ``while`` (a ``range`` with a step divides), places are 32 bits wide, records are flat, and locks, which are rare,
are compiled apart.

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

from treeplex.cuda.kernels import SIMULATED, ask, callee, rule, select, uint32
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
def street(storage: str, learn: bool, locks: bool) -> Street:
    """Parts for numbers of a storage, of passes that learn or that do not; ``locks``: may hands be locked?"""
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
        a = uint32(0)
        while a < actions:
            if rows[uint32(a * width + h)] != 0:
                return True
            a = uint32(a + 1)
        return False

    def lock_of(where, place):
        """Where a decision's locked rows are."""
        return where[place] if locks else np.int64(FREE)

    def word(record, k):
        return uint32(record[k])

    def fetch(numbers, others, h, width, slots, both):
        """Ask for a hand's numbers of all actions of a unit, so that they are in the L2 cache when their turn comes."""
        if h < width:
            a = uint32(0)
            while a < slots:
                ask(numbers, h)
                if both:
                    ask(others, h)
                h, a = uint32(h + width), uint32(a + 1)

    dithered, is_locked, lock_of, word = _part(dithered), _part(is_locked), _part(lock_of), _part(word)
    fetch = _part(fetch)

    def four(numbers, at, actions, width):
        """Numbers of a hand for up to four actions, zero where there is none."""
        x1, x2, x3 = zero, zero, zero
        x0 = number(numbers[at])
        if actions > uint32(1):
            x1 = number(numbers[uint32(at + width)])
        if actions > uint32(2):
            x2 = number(numbers[uint32(at + uint32(2 * width))])
        if actions > uint32(3):
            x3 = number(numbers[uint32(at + uint32(3 * width))])
        return x0, x1, x2, x3

    four = _part(four)

    def passed(x, m, weight, prune, adds, rows, to, alive, mark, stamp, average, at):
        """The opponent's reach after an action, and its average; ``m``: as it was. Not of 16-bit numbers."""
        rows[to] = x
        if x != zero:
            if prune:
                alive[mark] = stamp
            if learn and adds:
                average[at] = m + weight * x

    passed = _part(passed)

    def shared_out(x0, x1, x2, x3, source, at, actions, width, parent):
        """Reach is a number's positive part times the first of these, plus the second: regret matching."""
        total = max(x0, zero) + max(x1, zero) + max(x2, zero) + max(x3, zero)
        a = uint32(4)
        while a < actions:
            total += max(number(source[uint32(at + uint32(a * width))]), zero)
            a = uint32(a + 1)
        known, each = match(parent, total, tiny, one)
        return (each, zero) if known else (zero, parent / number(actions))

    shared_out = _part(shared_out)

    def down(betting, cards, units, n, facing, weight, t, prune, above, above_alive, stamp, chance, rows, alive, shared,
             me, threads, begin, step):  # fmt: skip
        """Reach rows of unit n; the opponent's average is kept on the way, and rows with a hand are marked.

        Hands are ``begin``, ``begin`` + ``step``, ...; of 16-bit numbers all are those of one block.
        """
        told = units.word[uint64(n * layout.UNIT_WORDS) :]
        if above_alive[word(told, layout.ABOVE_MARK)] != stamp:
            return  # and nobody reads the rows
        marks, base = word(told, layout.MARKS_AT), word(told, layout.ROWS_AT)
        if me == 0:
            alive[marks] = stamp
        width, stride = word(told, layout.THEIR_WIDTH), word(told, layout.STRIDE)
        over, places = word(told, layout.ABOVE_AT), word(told, layout.MAP)
        h = uint32(begin)
        while h < width:
            rows[uint32(base + h)] = chance * above[uint32(over + uint32(cards.map[uint32(places + h)]))]
            h = uint32(h + step)
        start = units.storage[uint32(2 * n)]
        source, average = facing.source[uint64(start) :], facing.average
        if learn:
            average = average[uint64(start) :]
        adds = learn and weight > zero
        fetch(source, average, uint32(begin), width, word(told, layout.THEIR_SLOTS), learn)
        d = uint32(word(told, layout.THEIRS) * layout.THEIRS_WORDS)
        end = uint32(word(told, layout.THEIRS_END) * layout.THEIRS_WORDS)
        while d < end:
            record = betting.theirs[uint64(d) :]
            above_row, first = word(record, layout.ABOVE), word(record, layout.OUT)
            actions = word(record, layout.ACTIONS)
            slot = uint32(word(record, layout.SLOT) * width)
            place = uint64(0)
            if scaled or locks:
                place = uint64(word(told, layout.THEIR_DECISION) + word(record, layout.NUMBER))
            lock, locked = np.int64(FREE), facing.locked
            if learn and locks:
                lock = lock_of(facing.where, place)
                locked = locked[uint64(lock if lock >= 0 else 0) :]
            reached = True
            if scaled and learn:
                meet_block()  # marks of the row above are complete
                reached = alive[uint32(marks + above_row)] == stamp
            if not prune and me == 0:
                a = uint32(0)
                while a < actions:
                    alive[uint32(marks + first + a)] = stamp
                    a = uint32(a + 1)
            unit = number(facing.scale[place]) if scaled and learn else one
            peak = zero
            h = uint32(begin)
            while h < width:
                parent = rows[uint32(base + uint32(above_row * stride) + h)] if reached else zero
                held = learn and lock >= 0 and is_locked(locked, actions, width, h)
                at, to = uint32(slot + h), uint32(base + uint32(first * stride) + h)
                x0, x1, x2, x3 = zero, zero, zero, zero
                m0, m1, m2, m3 = zero, zero, zero, zero
                if reached:  # asked for before it is known whether the opponent gets here with this hand
                    x0, x1, x2, x3 = four(source, at, actions, width)
                    if adds and not scaled and not held:
                        m0, m1, m2, m3 = four(average, at, actions, width)
                if parent == zero:
                    a = uint32(0)
                    while a < actions:
                        rows[to] = zero
                        if scaled and adds and reached and not held:
                            peak = max(peak, abs(number(average[at]) * unit))
                        at, to, a = uint32(at + width), uint32(to + stride), uint32(a + 1)
                else:
                    factor, rest = shared_out(x0, x1, x2, x3, source, at, actions, width, parent)
                    if not scaled and not held:
                        mark = uint32(marks + first)
                        x = max(x0, zero) * factor + rest
                        passed(x, m0, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                        if actions > uint32(1):
                            at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                            x = max(x1, zero) * factor + rest
                            passed(x, m1, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                        if actions > uint32(2):
                            at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                            x = max(x2, zero) * factor + rest
                            passed(x, m2, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                        if actions > uint32(3):
                            at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                            x = max(x3, zero) * factor + rest
                            passed(x, m3, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                        a = uint32(4)
                        while a < actions:
                            at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                            x = max(number(source[at]), zero) * factor + rest
                            m = number(average[at]) if learn else zero
                            passed(x, m, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                            a = uint32(a + 1)
                    else:
                        a = uint32(0)
                        while a < actions:
                            x = max(number(source[at]), zero) * factor + rest
                            rows[to] = x
                            if prune and x != zero:
                                alive[uint32(marks + first + a)] = stamp
                            if learn and adds:
                                if scaled and not held:
                                    peak = max(peak, abs(number(average[at]) * unit + weight * x))
                                elif held and not scaled:
                                    average[at] = locked[uint32(a * width + h)]
                            at, to, a = uint32(at + width), uint32(to + stride), uint32(a + 1)
                h = uint32(h + step)
            if scaled and learn and adds and reached:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start + np.int64(slot), t, AVERAGE)
                ratio = largest / peak if peak > least else zero
                h = uint32(begin)
                while h < width:
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    a, k, to = uint32(0), h, uint32(base + uint32(first * stride) + h)
                    while a < actions:
                        fresh = number(average[uint32(slot + k)]) * unit + weight * rows[to]
                        q = dithered(fresh * ratio, seed, k) if peak > least else whole(0)
                        average[uint32(slot + k)] = locked[k] if held else q
                        a, k, to = uint32(a + 1), uint32(k + width), uint32(to + stride)
                    h = uint32(h + step)
                if me == 0:
                    facing.scale[place] = peak / LARGEST if peak > least else zero
            d = uint32(d + layout.THEIRS_WORDS)

    def factor(betting, decision, n, learning, clock, t, mark, stamp, factors, at):
        """What the regrets of decision n are multiplied by: all discounts since it was last updated.

        ``decision``: the number of the board's first; ``mark``: of the row on which it is reached.
        """
        place = uint64(decision + uint32(betting.own[uint32(n * layout.OWN_WORDS + layout.OWN_NUMBER)]))
        if mark == stamp and lock_of(learning.where, place) != ALL_LOCKED:
            positive, negative = 1.0, 1.0
            for k in range(learning.last[place], t):
                positive *= clock.positive[k]
                negative *= clock.negative[k]
            learning.last[place] = t
            unit = number(learning.scale[place]) if scaled else one
            factors[at] = number(positive) * unit
            factors[uint32(at + 1)] = number(negative) * unit

    def value(betting, k, end, rows, here, stride):
        """Of an action or a street root to a hand: items k to ``end``, two at a time."""
        total = zero
        while uint32(k + 1) < end:
            x = rows[uint32(here + uint32(betting.item[k] * stride))]
            y = rows[uint32(here + uint32(betting.item[uint32(k + 1)] * stride))]
            total += betting.chips[k] * x + betting.chips[uint32(k + 1)] * y
            k = uint32(k + 2)
        if k < end:
            total += betting.chips[k] * rows[uint32(here + uint32(betting.item[k] * stride))]
        return total

    value = _part(value)

    def values(betting, item, actions, rows, here, stride):
        """Of up to four actions."""
        v1, v2, v3 = zero, zero, zero
        k0, k1 = uint32(betting.item_start[item]), uint32(betting.item_start[uint32(item + 1)])
        v0 = value(betting, k0, k1, rows, here, stride)
        if actions > uint32(1):
            k2 = uint32(betting.item_start[uint32(item + 2)])
            v1 = value(betting, k1, k2, rows, here, stride)
            if actions > uint32(2):
                k3 = uint32(betting.item_start[uint32(item + 3)])
                v2 = value(betting, k2, k3, rows, here, stride)
                if actions > uint32(3):
                    v3 = value(betting, k3, uint32(betting.item_start[uint32(item + 4)]), rows, here, stride)
        return v0, v1, v2, v3

    def later(betting, item, rows, here, stride):
        """Of an action beyond the fourth, or of a street root."""
        k, end = uint32(betting.item_start[item]), uint32(betting.item_start[uint32(item + 1)])
        return value(betting, k, end, rows, here, stride)

    values, later = _part(values), _part(later)

    def taught(s, gain, positive, negative, good, bad, predict, regret, predicted, at):
        """New regrets of an action; not of 16-bit numbers."""
        r = decay(s, positive, negative, zero) + gain
        regret[at] = r
        if predict > zero:
            predicted[at] = decay(r, good, bad, zero) + predict * gain

    taught = _part(taught)

    def up(betting, units, n, learning, good, bad, predict, t, best, rows, alive, stamp, factors, found, shared, me,
           threads, begin, step):  # fmt: skip
        """Values of the learner's decisions, from the last to the first, and what is learnt; those of the street root.

        Of values of actions only the value of the decision is kept.
        """
        told = units.word[uint64(n * layout.UNIT_WORDS) :]
        width, to = word(told, layout.WIDTH), word(told, layout.FOUND_AT)
        marks = word(told, layout.MARKS_AT)
        if alive[marks] != stamp:
            h = uint32(begin)
            while h < width:
                found[uint32(to + h)] = zero
                h = uint32(h + step)
            return
        base, stride = word(told, layout.ROWS_AT), word(told, layout.STRIDE)
        start = units.storage[uint32(2 * n + 1)]
        source, regret, predicted = learning.source[uint64(start) :], learning.regret, learning.predicted
        if learn:
            regret = regret[uint64(start) :]
            if predict > zero:
                predicted = predicted[uint64(start) :]
        if learn or not best:
            slots = word(told, layout.OWN_SLOTS)
            fetch(source, regret, uint32(begin), width, slots, learn and predict > zero)
        first = uint32(word(told, layout.OWN) * layout.OWN_WORDS)
        d = uint32(word(told, layout.OWN_END) * layout.OWN_WORDS)
        kept = uint32(word(told, layout.FACTORS_AT) + 2 * (uint32(d - first) // layout.OWN_WORDS))
        while d > first:
            d, kept = uint32(d - layout.OWN_WORDS), uint32(kept - 2)
            record = betting.own[uint64(d) :]
            actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
            slot = uint32(word(record, layout.OWN_SLOT) * width)
            out = uint32(base + uint32(word(record, layout.VALUE) * stride))
            reached = alive[uint32(marks + word(record, layout.REACHED))] == stamp
            place, lock, locked = uint64(0), np.int64(FREE), learning.locked
            if scaled or locks:
                place = uint64(word(told, layout.DECISION) + word(record, layout.OWN_NUMBER))
            if locks:
                lock = lock_of(learning.where, place)
                locked = locked[uint64(lock if lock >= 0 else 0) :]
            teach = learn and reached and lock != ALL_LOCKED
            positive, negative, peak = one, one, zero
            if teach:
                positive, negative = factors[kept], factors[uint32(kept + 1)]
            h = uint32(begin)
            while h < width:
                at, here, expected = uint32(slot + h), uint32(base + h), zero
                if reached:
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    plays = learn or not best or held or lock == ALL_LOCKED
                    s0, s1, s2, s3 = zero, zero, zero, zero
                    if plays:
                        s0, s1, s2, s3 = four(source, at, actions, width)
                    v0, v1, v2, v3 = values(betting, item, actions, rows, here, stride)
                    if plays:
                        x0, x1, x2, x3 = max(s0, zero), max(s1, zero), max(s2, zero), max(s3, zero)
                        total, plain = x0 + x1 + x2 + x3, v0 + v1 + v2 + v3
                        weighted = x0 * v0 + x1 * v1 + x2 * v2 + x3 * v3
                        a = uint32(4)
                        while a < actions:
                            v = later(betting, uint32(item + a), rows, here, stride)
                            x = max(number(source[uint32(at + uint32(a * width))]), zero)
                            total += x
                            weighted += x * v
                            plain += v
                            a = uint32(a + 1)
                        known, each = match(weighted, total, tiny, one)
                        expected = each if known else plain / number(actions)
                    else:
                        expected = v0
                        if actions > uint32(1):
                            expected = max(expected, v1)
                        if actions > uint32(2):
                            expected = max(expected, v2)
                        if actions > uint32(3):
                            expected = max(expected, v3)
                        a = uint32(4)
                        while a < actions:
                            expected = max(expected, later(betting, uint32(item + a), rows, here, stride))
                            a = uint32(a + 1)
                    if learn and teach and not scaled and not held:
                        if predict > zero:
                            s0, s1, s2, s3 = four(regret, at, actions, width)
                        taught(s0, v0 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                        if actions > uint32(1):
                            at = uint32(at + width)
                            taught(s1, v1 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                        if actions > uint32(2):
                            at = uint32(at + width)
                            taught(s2, v2 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                        if actions > uint32(3):
                            at = uint32(at + width)
                            taught(s3, v3 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                        a = uint32(4)
                        while a < actions:
                            at = uint32(at + width)
                            gain = later(betting, uint32(item + a), rows, here, stride) - expected
                            s = number(regret[at])
                            taught(s, gain, positive, negative, good, bad, predict, regret, predicted, at)
                            a = uint32(a + 1)
                    elif learn and teach:
                        a = uint32(0)
                        while a < actions:
                            if held and not scaled:
                                regret[at] = locked[uint32(a * width + h)]
                                if predict > zero:
                                    predicted[at] = locked[uint32(a * width + h)]
                            elif scaled and not held:
                                v0 = later(betting, uint32(item + a), rows, here, stride) if a > uint32(3) else v0
                                r = decay(number(regret[at]), positive, negative, zero) + (v0 - expected)
                                peak = max(peak, abs(r))
                            at, a = uint32(at + width), uint32(a + 1)
                            v0, v1, v2 = v1, v2, v3
                rows[uint32(out + h)] = expected
                h = uint32(h + step)
            if scaled and learn and teach:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start + np.int64(slot), t, REGRET)
                ratio = largest / peak if peak > least else zero
                h = uint32(begin)
                while h < width:
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    expected, here = rows[uint32(out + h)], uint32(base + h)
                    a, k = uint32(0), h
                    while a < actions:
                        gain = later(betting, uint32(item + a), rows, here, stride) - expected
                        r = decay(number(regret[uint32(slot + k)]), positive, negative, zero) + gain
                        q = dithered(r * ratio, seed, k) if peak > least else whole(0)
                        regret[uint32(slot + k)] = locked[k] if held else q
                        a, k = uint32(a + 1), uint32(k + width)
                    h = uint32(h + step)
                if me == 0:
                    learning.scale[place] = peak / LARGEST if peak > least else zero
        item = word(told, layout.ROOT)
        h = uint32(begin)
        while h < width:
            found[uint32(to + h)] = later(betting, item, rows, uint32(base + h), stride)
            h = uint32(h + step)

    return Street(_part(down), _part(factor), _part(up))
