"""Decisions at which some hands play a locked strategy while the others learn.

``rows`` [actions, H] from ``begin`` on: the strategies of locked hands, zeros for free ones. One thread.
"""

from __future__ import annotations

from treeplex.engines.boards.arrays import Array, Whole
from treeplex.kernels.jit import callee, inlined


@inlined
def is_locked(rows: Array, begin: Whole, size: int, width: int, h: int) -> bool:
    """Has a hand a strategy among the rows of a decision with locked and free hands?"""
    for k in range(begin + h, begin + size, width):  # noqa: SIM110 - compiled
        if rows[k] != 0:
            return True
    return False


@callee
def hold(rows: Array, begin: Whole, size: int, width: int, target: Array) -> None:
    """Write the strategies of locked hands where those of free hands are learned."""
    for h in range(width):
        if is_locked(rows, begin, size, width, h):
            for k in range(h, size, width):
                target[k] = rows[begin + k]


@callee
def spare(rows: Array, begin: Whole, size: int, width: int, fresh: Array) -> None:
    """Zero what locked hands would learn, so that it does not decide the scale of 16-bit numbers."""
    for h in range(width):
        if is_locked(rows, begin, size, width, h):
            for k in range(h, size, width):
                fresh[k] = 0


@callee
def respond(rows: Array, begin: Whole, size: int, width: int, values: Array, expected: Array) -> None:
    """The best action's value to each hand that is free; what the others play is expected already."""
    for h in range(width):
        if not is_locked(rows, begin, size, width, h):
            expected[h] = values[h]
            for k in range(h + width, size, width):
                expected[h] = max(expected[h], values[k])
