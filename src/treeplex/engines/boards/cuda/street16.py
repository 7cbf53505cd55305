"""Versions of ``down`` and ``up`` for numbers of 16 bits with one scale per decision: a block has all its hands.

New numbers of a decision are computed twice, first for the largest one and then to round them (``updates.storage``). In
between, the threads of the block wait for each other. Passes that do not learn use ``down`` and ``up``, with another
type of numbers.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from treeplex.engines.boards.arrays import ALL_LOCKED
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.barrier import block_barrier, top, uint64
from treeplex.engines.boards.cuda.common import closed, common, decision_index, part, word
from treeplex.kernels.cuda.kernels import SIMULATED, rule, select, tail, uint32
from treeplex.updates.rules import decayed
from treeplex.updates.storage import AVERAGE, LATTICE, LEAST, REGRET, STORAGES, dither_seed, largest_of

MASK: Final = 0xFFFFFFFF
seed_of: Any = dither_seed if SIMULATED else rule(dither_seed)  # compiled: NumPy would warn about integer overflow


@cache
def rounding(storage: str) -> Any:
    """Return the kernel part that rounds numbers."""
    number, whole, most = STORAGES[storage].work, np.dtype(storage).type, int(largest_of(storage))

    def dithered(x, seed, k):
        """Round x down after adding the dither of number k of its group: ``updates.storage``."""
        u = number((np.int64(seed) + np.int64(k) * LATTICE & MASK) >> 8) * number(2.0**-24)
        return whole(min(math.floor(x + u), most))

    return part(dithered)


@cache
def decision_down(storage: str, locks: bool) -> Any:
    """Return the kernel part that goes down through a decision of the opponent."""
    number, whole, most = STORAGES[storage].work, np.dtype(storage).type, largest_of(storage)
    zero, least, largest = number(0.0), number(LEAST), number(most)
    is_locked, lock_at, matching_factors, _, _, _ = common(storage, locks)
    dithered = rounding(storage)

    def down_decision(record, width, stride, reached, source, average, start, rows, facing, index, weight, t, prune,
                      alive, mark, stamp, shared, me, threads):  # fmt: skip
        """Fill reach rows below one decision of the opponent, and update its average."""
        actions, slot = word(record, layout.ACTIONS), uint32(word(record, layout.SLOT) * width)
        above, first = uint32(word(record, layout.ABOVE) * stride), uint32(word(record, layout.OUT) * stride)
        lock, locked = lock_at(facing.where, facing.locked, index)
        adds, unit, peak = weight > zero, number(facing.scale[index]), zero
        if not prune and me == 0:
            a = uint32(0)
            while a < actions:
                alive[uint32(mark + a)] = stamp
                a = uint32(a + 1)
        h = uint32(me)
        while h < width:
            is_fixed = lock >= 0 and is_locked(locked, actions, width, h)
            parent = rows[uint32(above + h)] if reached else zero
            at, a, total, factor, rest = uint32(slot + h), uint32(0), zero, zero, zero
            if parent != zero:
                while a < actions:
                    total += max(number(source[at]), zero)
                    at, a = uint32(at + width), uint32(a + 1)
                factor, rest = matching_factors(total, parent, parent, actions)
            at, to, a = uint32(slot + h), uint32(first + h), uint32(0)
            while a < actions:
                x = max(number(source[at]), zero) * factor + rest if parent != zero else zero
                rows[to] = x
                if prune and x != zero:
                    alive[uint32(mark + a)] = stamp
                if adds and reached and not is_fixed:
                    peak = max(peak, abs(number(average[at]) * unit + weight * x))
                at, to, a = uint32(at + width), uint32(to + stride), uint32(a + 1)
            h = uint32(h + threads)
        if adds and reached:
            peak = top(peak, shared, 0, me, threads)
            seed = seed_of(start + np.int64(slot), t, AVERAGE)
            ratio = largest / peak if peak > least else zero
            h = uint32(me)
            while h < width:
                is_fixed = lock >= 0 and is_locked(locked, actions, width, h)
                a, k, to = uint32(0), h, uint32(first + h)
                while a < actions:
                    fresh = number(average[uint32(slot + k)]) * unit + weight * rows[to]
                    q = dithered(fresh * ratio, seed, k) if peak > least else whole(0)
                    average[uint32(slot + k)] = locked[k] if is_fixed else q
                    a, k, to = uint32(a + 1), uint32(k + width), uint32(to + stride)
                h = uint32(h + threads)
            if me == 0:
                facing.scale[index] = peak / most if peak > least else zero

    return part(down_decision)


@cache
def going_down(storage: str, locks: bool) -> Any:
    """Return the kernel part that goes down."""
    down_decision = decision_down(storage, locks)

    def down(betting, cards, board, n, end, facing, weight, t, prune, above, above_alive, stamp, chance, rows, alive,
             shared, me, threads, begin):  # fmt: skip
        """Go down street roots n to ``end`` like ``down.going_down``."""
        header = tail(cards.board, uint32(board * layout.BOARD_WORDS))
        width, stride = word(header, layout.BOARD_THEIRS), word(header, layout.BOARD_STRIDE)
        over_marks, texture = word(header, layout.BOARD_OVER_MARKS), word(header, layout.BOARD_TEXTURE)
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            entry, first = word(root, layout.ENTRY), word(root, layout.FIRST_ROW)
            reached = above_alive[uint32(over_marks + entry)] == stamp  # otherwise the rows are never read
            if reached and not closed(root, texture):
                marks = uint32(word(header, layout.BOARD_MARKS) + first)
                if me == 0:
                    alive[marks] = stamp
                over = uint32(word(header, layout.BOARD_OVER) + uint32(entry * word(header, layout.BOARD_OVER_STRIDE)))
                mine = tail(rows, uint32(word(header, layout.BOARD_ROWS) + uint32(first * stride)))
                map_start, h = word(header, layout.BOARD_MAP), uint32(me)
                while h < width:
                    mine[h] = chance * above[uint32(over + uint32(cards.map[uint32(map_start + h)]))]
                    h = uint32(h + threads)
                start = cards.storage[uint32(2 * board)] + np.int64(uint32(word(root, layout.THEIR_SLOT) * width))
                source, average = tail(facing.source, uint64(start)), tail(facing.average, uint64(start))
                in_whole = start + cards.shift[uint32(2 * board)]
                d = uint32(word(root, layout.THEIRS) * layout.THEIRS_WORDS)
                last = uint32(word(root, layout.THEIRS_END) * layout.THEIRS_WORDS)
                while d < last:
                    record = tail(betting.theirs, d)
                    block_barrier()  # marks of the row above are complete
                    reached = alive[uint32(marks + word(record, layout.ABOVE))] == stamp
                    index = decision_index(word(header, layout.BOARD_THEIR_DECISION), word(record, layout.NUMBER))
                    mark = uint32(marks + word(record, layout.OUT))
                    down_decision(record, width, stride, reached, source, average, in_whole, mine, facing, index,
                                  weight, t, prune, alive, mark, stamp, shared, me, threads)  # fmt: skip
                    d = uint32(d + layout.THEIRS_WORDS)
            n = uint32(n + 1)

    return part(down)


@cache
def decision_up(storage: str, locks: bool) -> Any:
    """Return the kernel part that goes up through a decision of the learner."""
    number, whole, most = STORAGES[storage].work, np.dtype(storage).type, largest_of(storage)
    decay = rule(decayed, where=select)
    zero, least, largest = number(0.0), number(LEAST), number(most)
    is_locked, _, _, _, value, expect = common(storage, locks)
    dithered = rounding(storage)

    def up_decision(betting, record, width, stride, learns, regret, start, rows, learning, index, positive, negative,
                    lock, locked, t, shared, me, threads):  # fmt: skip
        """Compute the value of one decision of the learner that is reached, and update its regrets."""
        actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
        slot, out, peak = uint32(word(record, layout.OWN_SLOT) * width), word(record, layout.VALUE), zero
        h = uint32(me)
        while h < width:
            is_fixed = lock >= 0 and is_locked(locked, actions, width, h)
            mine = tail(rows, h)
            expected = expect(betting, item, mine, stride, regret, uint32(slot + h), actions, width)
            mine[uint32(out * stride)] = expected
            if learns and not is_fixed:
                at, a = uint32(slot + h), uint32(0)
                while a < actions:
                    gain = value(betting, uint32(item + a), mine, stride) - expected
                    peak = max(peak, abs(decay(number(regret[at]), positive, negative, zero) + gain))
                    at, a = uint32(at + width), uint32(a + 1)
            h = uint32(h + threads)
        if learns:
            peak = top(peak, shared, 0, me, threads)
            seed = seed_of(start + np.int64(slot), t, REGRET)
            ratio = largest / peak if peak > least else zero
            h = uint32(me)
            while h < width:
                is_fixed = lock >= 0 and is_locked(locked, actions, width, h)
                mine, a, k = tail(rows, h), uint32(0), h
                expected = mine[uint32(out * stride)]
                while a < actions:
                    gain = value(betting, uint32(item + a), mine, stride) - expected
                    r = decay(number(regret[uint32(slot + k)]), positive, negative, zero) + gain
                    q = dithered(r * ratio, seed, k) if peak > least else whole(0)
                    regret[uint32(slot + k)] = locked[k] if is_fixed else q
                    a, k = uint32(a + 1), uint32(k + width)
                h = uint32(h + threads)
            if me == 0:
                learning.scale[index] = peak / most if peak > least else zero

    return part(up_decision)


@cache
def going_up(storage: str, locks: bool) -> Any:
    """Return the kernel part that goes up."""
    number = STORAGES[storage].work
    zero, one = number(0.0), number(1.0)
    value, lock_at, up_decision = (
        common(storage, locks).value,
        common(storage, locks).lock_at,
        decision_up(storage, locks),
    )

    def up(betting, cards, board, n, end, learning, good, bad, predict, t, best, rows, alive, stamp, owns, factors,
           root_values, shared, me, threads, begin):  # fmt: skip
        """Go up street roots n to ``end`` like ``up.going_up``. Predictive rules do not support 16 bits."""
        header = tail(cards.board, uint32(board * layout.BOARD_WORDS))
        width, stride = word(header, layout.BOARD_WIDTH), word(header, layout.BOARD_STRIDE)
        roots = uint32(len(betting.root) // layout.ROOT_WORDS)
        to = uint32(uint32(roots * word(header, layout.BOARD_START)) + uint32(n * width))
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            first = word(root, layout.FIRST_ROW)
            marks = uint32(word(header, layout.BOARD_MARKS) + first)
            if not closed(root, word(header, layout.BOARD_TEXTURE)):
                reached = alive[marks] == stamp
                mine = tail(rows, uint32(word(header, layout.BOARD_ROWS) + uint32(first * stride)))
                start = cards.storage[uint32(2 * board + 1)] + np.int64(uint32(word(root, layout.ROOT_SLOT) * width))
                regret, in_whole = tail(learning.regret, uint64(start)), start + cards.shift[uint32(2 * board + 1)]
                d = uint32(word(root, layout.OWN_END) * layout.OWN_WORDS)
                last = uint32(word(root, layout.OWN) * layout.OWN_WORDS)
                position = uint32(uint32(2 * uint32(board * owns)) + uint32(2 * word(root, layout.OWN_END)))
                while reached and d > last:
                    d, position = uint32(d - layout.OWN_WORDS), uint32(position - 2)
                    record = tail(betting.own, d)
                    if alive[uint32(marks + word(record, layout.REACHED))] == stamp:
                        index = decision_index(word(header, layout.BOARD_DECISION), word(record, layout.OWN_NUMBER))
                        lock, locked = lock_at(learning.where, learning.locked, index)
                        learns, positive, negative = lock != ALL_LOCKED, one, one
                        if learns:
                            positive, negative = factors[position], factors[uint32(position + 1)]
                        up_decision(betting, record, width, stride, learns, regret, in_whole, mine, learning, index,
                                    positive, negative, lock, locked, t, shared, me, threads)  # fmt: skip
                    else:
                        h, out = uint32(me), uint32(word(record, layout.VALUE) * stride)
                        while h < width:
                            mine[uint32(out + h)] = zero
                            h = uint32(h + threads)
                h = uint32(me)
                while h < width:
                    root_values[uint32(to + h)] = value(betting, n, tail(mine, h), stride) if reached else zero
                    h = uint32(h + threads)
            n, to = uint32(n + 1), uint32(to + width)

    return part(up)
