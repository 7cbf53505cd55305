"""Decisions at which some hands play a locked strategy while the others learn.

``rows`` [actions, H] from ``begin`` on: the strategies of locked hands, zeros for free ones. One thread.
"""

from __future__ import annotations

from treeplex.engines.boards.arrays import Array, Whole
from treeplex.kernels.jit import callee, inlined


@inlined
def is_locked(rows: Array, begin: Whole, size: int, width: int, h: int) -> bool:
    """Return whether a hand has a strategy in the rows of a decision with locked and free hands."""
    for k in range(begin + h, begin + size, width):  # noqa: SIM110 - compiled
        if rows[k] != 0:
            return True
    return False


@callee
def write_locked(rows: Array, begin: Whole, size: int, width: int, target: Array) -> None:
    """Write the strategies of locked hands into the array in which free hands learn."""
    for h in range(width):
        if is_locked(rows, begin, size, width, h):
            for k in range(h, size, width):
                target[k] = rows[begin + k]


@callee
def clear_locked(rows: Array, begin: Whole, size: int, width: int, fresh: Array) -> None:
    """Set new numbers of locked hands to zero, so that they do not affect the scale of 16-bit numbers."""
    for h in range(width):
        if is_locked(rows, begin, size, width, h):
            for k in range(h, size, width):
                fresh[k] = 0


@callee
def write_best_free(rows: Array, begin: Whole, size: int, width: int, values: Array, expected: Array) -> None:
    """Write the best action's value for each free hand into ``expected``, which has the values of locked hands."""
    for h in range(width):
        if not is_locked(rows, begin, size, width, h):
            expected[h] = values[h]
            for k in range(h + width, size, width):
                expected[h] = max(expected[h], values[k])
