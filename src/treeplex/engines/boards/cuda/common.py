"""Kernel parts that passes down and up have in common, in every storage."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.engines.boards.arrays import ALL_LOCKED, FREE
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.barrier import LANES, uint64
from treeplex.kernels.cuda.kernels import SIMULATED, callee, prefetch, rule, select, uint32
from treeplex.updates.rules import matched
from treeplex.updates.storage import STORAGES

TINY: Final = 1e-30  # sums of regrets or averages up to here count as zero, since dividing by them might overflow
SECTOR: Final = 32  # bytes per memory request
WORD: Final = 2**32 - 1


class Common(NamedTuple):
    """Kernel parts for numbers in one storage."""

    is_locked: Any
    lock_at: Any
    matching_factors: Any
    mixed: Any
    value: Any
    expect: Any


def part(function):
    """Compile a function that kernels call, except under the simulator."""
    return function if SIMULATED else callee(function)


def _decision_index(first, number):
    """Return a decision's index. ``first`` may be negative modulo 2^32, since boards of a class skip numbers."""
    return uint64(uint32(first + number) & WORD)


decision_index: Any = part(_decision_index)


def _word(record, k):
    return uint32(record[k])


word: Any = part(_word)


def _closed(root, texture):
    """Return whether a street root is not open on boards of this texture."""
    open_on = uint32(root[layout.OPEN_ON])
    return open_on != 0 and open_on != texture  # noqa: PLR1714 - Numba knows no tuple of two types


closed: Any = part(_closed)


@cache
def common(storage: str, locks: bool) -> Common:
    """Return the kernel parts for a storage; ``locks``: may hands be locked?"""
    number = STORAGES[storage].work
    match = rule(matched, where=select)
    zero, one, tiny = number(0.0), number(1.0), number(TINY)

    def is_locked(rows, actions, width, h):
        a = uint32(0)
        while a < actions:
            if rows[uint32(a * width + h)] != 0:
                return True
            a = uint32(a + 1)
        return False

    def lock_at(where, rows, index):
        """Return the start of a decision's locked rows, and those rows."""
        lock = where[index] if locks else np.int64(FREE)
        return lock, rows[uint64(lock if lock >= 0 else 0) :]

    def matching_factors(total, parts, rest, actions):
        """Regret matching: return ``parts`` over the total and zero; or zero and ``rest`` over the actions."""
        known, each = match(parts, total, tiny, one)
        return (each, zero) if known else (zero, rest / number(actions))

    matching_factors = part(matching_factors)

    def mixed(total, weighted, plain, actions):
        """Return the value of a decision to a hand, from sums over its actions."""
        by_strategy, evenly = matching_factors(total, weighted, plain, actions)
        return by_strategy if total > tiny else evenly

    mixed = part(mixed)

    def value(betting, item, rows, stride):
        """Return the value of an action or a street root to a hand, two items at a time; ``rows`` begin at the hand."""
        total = zero
        k, end = uint32(betting.item_start[item]), uint32(betting.item_start[uint32(item + 1)])
        while uint32(k + 1) < end:
            x = rows[uint32(betting.item[k] * stride)]
            y = rows[uint32(betting.item[uint32(k + 1)] * stride)]
            total += betting.chips[k] * x + betting.chips[uint32(k + 1)] * y
            k = uint32(k + 2)
        if k < end:
            total += betting.chips[k] * rows[uint32(betting.item[k] * stride)]
        return total

    value = part(value)

    def expect(betting, item, mine, stride, source, at, actions, width):
        """Return the value of a decision to a hand, by the strategy normalised from ``source``, from ``at`` on."""
        total, weighted, plain, a = zero, zero, zero, uint32(0)
        while a < actions:
            v, x = value(betting, uint32(item + a), mine, stride), max(number(source[at]), zero)
            total += x
            weighted += x * v
            plain += v
            at, a = uint32(at + width), uint32(a + 1)
        return mixed(total, weighted, plain, actions)

    return Common(part(is_locked), part(lock_at), matching_factors, mixed, value, part(expect))


@cache
def fetching(storage: str) -> Any:
    """Return the kernel part that prefetches numbers."""
    per_sector = SECTOR // STORAGES[storage].bytes
    sectors = max(2 * LANES // per_sector, 1)  # sectors of an action, for the hands of a warp

    def fetch(numbers, others, begin, end, width, h, both):
        """Prefetch numbers of actions ``begin`` to ``end``, for the warp's hands, into the L2 cache.

        Arrays begin with the numbers of the thread's two hands. Each lane requests one sector of memory.
        """
        lane = uint32(uint32(h // 2) % LANES)
        a, first = uint32(begin + uint32(lane // sectors)), uint32(per_sector * (lane % sectors))
        if begin < end and uint32(uint32(h - 2 * lane) + first) < width:
            at = np.int64(uint32(a * width)) + np.int64(first) - np.int64(2 * lane)
            while a < end:
                prefetch(numbers, at)
                if both:
                    prefetch(others, at)
                a, at = uint32(a + LANES // sectors), at + np.int64(LANES // sectors * width)

    return part(fetch)


@cache
def factor(storage: str, locks: bool) -> Any:
    """Return the kernel part that computes discounts."""
    number, scaled, lock_at = STORAGES[storage].work, STORAGES[storage].scaled, common(storage, locks).lock_at
    one = number(1.0)

    def find_factor(betting, decision, n, learning, clock, t, mark, stamp, factors, at):
        """Compute the factors of the regrets of decision n: all discounts since it was last updated.

        ``decision``: number of the board's first decision. ``mark``: mark of the reach row of decision n.
        """
        index = decision_index(decision, uint32(betting.own[uint32(n * layout.OWN_WORDS + layout.OWN_NUMBER)]))
        if mark == stamp and lock_at(learning.where, learning.locked, index)[0] != ALL_LOCKED:
            positive, negative = 1.0, 1.0
            for k in range(learning.last[index], t):
                positive *= clock.positive[k]
                negative *= clock.negative[k]
            learning.last[index] = t
            unit = number(learning.scale[index]) if scaled else one
            factors[at] = number(positive) * unit
            factors[uint32(at + 1)] = number(negative) * unit

    return part(find_factor)
