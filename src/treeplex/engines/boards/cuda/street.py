"""One tile on one board: down through the opponent's decisions, up through the learner's; a thread for each hand.

Numbers of a hand are read and written by one thread only, so nobody waits for anybody, but for 16-bit numbers: their
scale is that of a whole decision. Numbers are computed in ``work``: float64 for float64, else float32.

Bytes per action and hand, of numbers of b bytes. Down: the opponent's regret read, its average read and written, 3 b;
nothing where the hand does not get there. Up: the learner's regret read and written, 2 b, and 2 b more for predictive
rules; nothing where the opponent does not get there with any hand. Rows are beside that, in shared memory on the last
street where they fit: a row is written once and read once or twice. An evaluation reads b down, and b up if it plays
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
from treeplex.engines.boards.arrays import ALL_LOCKED
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.meeting import meet_block, top, uint64
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import AVERAGE, LARGEST, LATTICE, LEAST, REGRET, STORAGES, dither_seed

TINY: Final = 1e-30  # sums of regrets or averages up to here count as none: dividing by them might overflow
MASK: Final = 0xFFFFFFFF


class Street(NamedTuple):
    """Parts of kernels."""

    down: Any
    factors: Any
    up: Any
    leave: Any


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

    dithered, is_locked = _part(dithered), _part(is_locked)

    def down(betting, cards, board, tile, facing, weight, t, prune, above, above_alive, chance, rows, stride, alive,
             shared, me, threads):  # fmt: skip
        """Reach rows of a tile; the opponent's average is kept on the way, and rows with a hand are marked."""
        width, roots = int32(cards.board[board, layout.THEIR_WIDTH]), betting.tile[tile, layout.ROOTS]
        root = betting.tile[tile, layout.ROOT]
        places = cards.map[uint64(cards.board[board, layout.MAP]) :]
        for row in range(me, betting.tile[tile, layout.REACH], threads):
            there = zero
            if row < roots:
                there = above_alive[uint64(cards.board[board, layout.ABOVE_ALIVE] + betting.entry[uint32(root + row)])]
            alive[uint32(row)] = there
        for r in range(roots):
            entry = betting.entry[uint32(root + r)] * cards.board[board, layout.ABOVE_STRIDE]
            over = above[uint64(cards.board[board, layout.ABOVE_ROWS] + entry) :]
            for h in range(me, width, threads):
                rows[uint32(r * stride + h)] = chance * over[uint32(places[uint32(h)])]
        meet_block()
        storage_at, decision_at = cards.board[board, layout.THEIR_STORAGE], cards.board[board, layout.THEIR_DECISION]
        for n in range(betting.tile[tile, layout.THEIRS], betting.tile[tile, layout.THEIRS_END]):
            actions, slot = betting.theirs[n, layout.ACTIONS], betting.theirs[n, layout.SLOT]
            above_row, place = betting.theirs[n, layout.ABOVE], decision_at + betting.theirs[n, layout.NUMBER]
            first = roots + slot - betting.tile[tile, layout.THEIR_SLOT]
            start, even, lock = storage_at + np.int64(slot) * width, one / number(actions), np.int64(-1)
            source, average, locked = facing.source[uint64(start) :], facing.average, facing.locked
            out = rows[uint32(first * stride) :]
            if learn:
                average, lock = average[uint64(start) :], facing.where[uint64(place)]
                locked = locked[uint64(lock if lock >= 0 else 0) :]
            if scaled and learn:
                meet_block()  # marks of the row above are complete
                if alive[uint32(above_row)] == zero:
                    for h in range(me, width, threads):
                        for a in range(actions):
                            out[uint32(a * stride + h)] = zero
                    continue
            if not prune and me == 0:
                for a in range(actions):
                    alive[uint32(first + a)] = alive[uint32(above_row)]
            unit = number(facing.scale[uint64(place)]) if scaled and learn else one
            peak = zero
            for h in range(me, width, threads):
                parent = rows[uint32(above_row * stride + h)]
                held = learn and lock >= 0 and is_locked(locked, actions, width, h)
                if parent == zero:  # nothing is read where the opponent does not get with this hand
                    for a in range(actions):
                        out[uint32(a * stride + h)] = zero
                        if scaled and learn and weight > zero and not held:
                            peak = max(peak, abs(number(average[uint32(a * width + h)]) * unit))
                    continue
                total = zero
                for a in range(actions):
                    total += max(number(source[uint32(a * width + h)]), zero)
                known, shared_out = match(parent, total, tiny, one)
                factor, rest = (shared_out, zero) if known else (zero, parent * even)
                for a in range(actions):
                    k = uint32(a * width + h)
                    x = max(number(source[k]), zero) * factor + rest
                    out[uint32(a * stride + h)] = x
                    if prune and x != zero:
                        alive[uint32(first + a)] = one
                    if learn and weight > zero:
                        if held:
                            if not scaled:
                                average[k] = locked[k]
                        elif scaled:
                            peak = max(peak, abs(number(average[k]) * unit + weight * x))
                        else:
                            average[k] += weight * x
            if scaled and learn and weight > zero:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start, t, AVERAGE)
                ratio = largest / peak if peak > least else zero
                for h in range(me, width, threads):
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                    for a in range(actions):
                        k = uint32(a * width + h)
                        fresh = number(average[k]) * unit + weight * out[uint32(a * stride + h)]
                        q = dithered(fresh * ratio, seed, k) if peak > least else whole(0)
                        average[k] = locked[k] if held else q
                if me == 0:
                    facing.scale[uint64(place)] = peak / LARGEST if peak > least else zero

    def factors(betting, cards, board, tile, learning, clock, t, alive, kept, me, threads):
        """``kept``: what each decision's regrets are multiplied by, all discounts since it was last updated."""
        begin = betting.tile[tile, layout.OWN]
        for n in range(begin + me, betting.tile[tile, layout.OWN_END], threads):
            place = uint64(cards.board[board, layout.DECISION] + betting.own[n, layout.NUMBER])
            if alive[uint32(betting.own[n, layout.REACHED])] == zero or learning.where[place] == ALL_LOCKED:
                continue
            positive, negative = 1.0, 1.0
            for k in range(learning.last[place], t):
                positive *= clock.positive[k]
                negative *= clock.negative[k]
            learning.last[place] = t
            unit = number(learning.scale[place]) if scaled else one
            kept[uint32(2 * (n - begin))] = number(positive) * unit
            kept[uint32(2 * (n - begin) + 1)] = number(negative) * unit

    def value(betting, item, rows, stride, h):
        """Of an action or a street root to a hand."""
        total = zero
        for k in range(betting.item_start[uint32(item)], betting.item_start[uint32(item + 1)]):
            total += betting.item_chips[uint32(k)] * rows[uint32(betting.item_row[uint32(k)] * stride + h)]
        return total

    value = _part(value)

    def up(betting, cards, board, tile, learning, good, bad, predict, t, best, roots, rows, stride, alive, kept, shared,
           me, threads):  # fmt: skip
        """Values of the learner's decisions, from the last to the first, and what is learnt from them.

        ``roots``: of the street, whose items come before those of actions. Of values of actions only the value of the
        decision is kept: they are added up again where they are needed.
        """
        width, begin = int32(cards.board[board, layout.WIDTH]), betting.tile[tile, layout.OWN]
        storage_at, decision_at = cards.board[board, layout.STORAGE], cards.board[board, layout.DECISION]
        count = betting.tile[tile, layout.OWN_END] - begin
        first = betting.tile[tile, layout.ROWS] - betting.tile[tile, layout.CHANCES] - count
        for done in range(count):
            n = count - 1 - done
            actions, slot = betting.own[begin + n, layout.ACTIONS], betting.own[begin + n, layout.SLOT]
            place = uint64(decision_at + betting.own[begin + n, layout.NUMBER])
            out, item = rows[uint32((first + n) * stride) :], roots + slot
            if alive[uint32(betting.own[begin + n, layout.REACHED])] == zero:
                for h in range(me, width, threads):
                    out[uint32(h)] = zero
                continue
            start, even, lock = storage_at + np.int64(slot) * width, one / number(actions), learning.where[place]
            source, regret, predicted = learning.source[uint64(start) :], learning.regret, learning.predicted
            locked = learning.locked[uint64(lock if lock >= 0 else 0) :]
            teach = learn and lock != ALL_LOCKED
            positive, negative, peak = one, one, zero
            if teach:
                positive, negative = kept[uint32(2 * n)], kept[uint32(2 * n + 1)]
                regret = regret[uint64(start) :]
                if predict > zero:
                    predicted = predicted[uint64(start) :]
            for h in range(me, width, threads):
                held = lock >= 0 and is_locked(locked, actions, width, h)
                if learn or not best or held or lock == ALL_LOCKED:
                    total, weighted, plain = zero, zero, zero
                    for a in range(actions):
                        v = value(betting, item + a, rows, stride, h)
                        x = max(number(source[uint32(a * width + h)]), zero)
                        total += x
                        weighted += x * v
                        plain += v
                    known, shared_out = match(weighted, total, tiny, one)
                    expected = shared_out if known else plain * even
                else:
                    expected = value(betting, item, rows, stride, h)
                    for a in range(1, actions):
                        expected = max(expected, value(betting, item + a, rows, stride, h))
                out[uint32(h)] = expected
                if not teach:
                    continue
                for a in range(actions):
                    k = uint32(a * width + h)
                    gain = value(betting, item + a, rows, stride, h) - expected
                    r = decay(number(regret[k]), positive, negative, zero) + gain
                    if scaled:
                        peak = peak if held else max(peak, abs(r))
                    else:
                        regret[k] = locked[k] if held else r
                        if predict > zero:
                            again = decay(r, good, bad, zero) + predict * gain
                            predicted[k] = locked[k] if held else again
            if scaled and teach:
                peak = top(peak, shared, 0, me, threads)
                seed = seed_of(start, t, REGRET)
                ratio = largest / peak if peak > least else zero
                for h in range(me, width, threads):
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

    def leave(betting, cards, board, tile, rows, stride, found, me, threads):
        """Values of the street roots."""
        width = int32(cards.board[board, layout.WIDTH])
        for r in range(betting.tile[tile, layout.ROOTS]):
            root = betting.tile[tile, layout.ROOT] + r
            to = found[uint64(cards.board[board, layout.FOUND] + np.int64(root) * width) :]
            for h in range(me, width, threads):
                to[uint32(h)] = value(betting, root, rows, stride, h)

    return Street(_part(down), _part(factors), _part(up), _part(leave))
