"""Kernel parts for the two hands of a thread: read their numbers, and keep those of locked hands."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from treeplex.engines.boards.arrays import ALL_LOCKED
from treeplex.engines.boards.cuda.common import common, part
from treeplex.engines.boards.cuda.pairs import pairs
from treeplex.kernels.cuda.kernels import uint32
from treeplex.updates.storage import STORAGES

SOON: Final = 4  # actions that are read where they are used, without a prefetch


class HandParts(NamedTuple):
    """Kernel parts for two hands."""

    four: Any
    read_locks: Any
    unless_locked: Any


@cache
def two_hands(storage: str, locks: bool) -> HandParts:
    """Return the kernel parts for a storage; ``locks``: may hands be locked?"""
    number = STORAGES[storage].work
    none = (number(0.0), number(0.0))
    is_locked, lock_at, load = common(storage, locks).is_locked, common(storage, locks).lock_at, pairs(number).load

    def four(numbers, at, actions, width):
        """Load numbers of both hands for up to four actions; zero for missing actions."""
        x1, x2, x3 = none, none, none
        x0 = load(numbers, at)
        if actions > uint32(1):
            x1 = load(numbers, uint32(at + width))
        if actions > uint32(2):
            x2 = load(numbers, uint32(at + uint32(2 * width)))
        if actions > uint32(3):
            x3 = load(numbers, uint32(at + uint32(3 * width)))
        return x0, x1, x2, x3

    def read_locks(where, rows, index, actions, width, h):
        """Return whether all hands, the first hand and the second hand are locked, and the decision's locked rows."""
        lock, fixed = lock_at(where, rows, index)
        first = lock >= 0 and is_locked(fixed, actions, width, h)
        second = lock >= 0 and is_locked(fixed, actions, width, uint32(h + 1))
        return lock == ALL_LOCKED, first, second, fixed

    def unless_locked(x, locked, at):
        """Return new numbers ``x``, but locked numbers for locked hands; ``locked``: see ``read_locks``."""
        if locks:
            x = number(locked[3][at]) if locked[1] else x[0], number(locked[3][uint32(at + 1)]) if locked[2] else x[1]
        return x

    return HandParts(part(four), part(read_locks), part(unless_locked))
