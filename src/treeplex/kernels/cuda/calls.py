"""Rules (``updates.rule``) as parts of GPU kernels: their Python code is compiled for the GPU, into the kernel.

Exceptions of a rule are not caught there, and indices are not checked. Rules are tested before, as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.cuda.kernels import SIMULATED, callee

TOLERANCE: Final = 1e-6  # of the sum of probabilities, as in ``updates.rule``


class Called(NamedTuple):
    """Compile-time properties of a rule."""

    update: Callable[..., None]
    rows: int  # rows of memory
    constants: bool  # whether the rule takes constants
    actions: int  # largest number of actions of an infoset


class Calls(NamedTuple):
    """Arguments of kernels for a rule, arrays on the GPU."""

    constants: Any
    astray: Any  # [1] the first iteration in which the rule left no distribution; it is not called afterwards


def device_function(function: Callable[..., Any]) -> Any:
    """Compile a function of a user, or one compiled by Numba, as a part of kernels, with the functions it calls."""
    plain: Any = getattr(function, "py_func", function)
    if SIMULATED:
        return plain
    own = {name: _compiled(plain.__globals__[name]) for name in plain.__code__.co_names if name in plain.__globals__}
    cells = tuple(CellType(_compiled(cell.cell_contents)) for cell in plain.__closure__ or ())
    copy = FunctionType(plain.__code__, plain.__globals__ | own, plain.__name__, plain.__defaults__, cells)
    return callee(copy)


def _compiled(thing: object) -> object:
    """Return an object that a function refers to: compiled for the GPU if Numba has compiled it, else as it is."""
    return device_function(thing) if callable(thing) and hasattr(thing, "py_func") else thing


@lru_cache(maxsize=64)
def call_update(called: Called) -> Any:
    """Build the part of kernels that updates one infoset: ``call(t, values, strategy, memory, count, calls)``.

    ``values``, ``strategy`` [A] and ``memory`` [rows + 1, A] are float64 arrays of the thread. Their first
    ``count`` actions belong to the infoset; a strategy of zeros stands for a uniform one. ``call`` returns False if the
    rule was not called, because it left no distribution before.
    """
    apply, rows = device_function(called.update), called.rows

    def plain(t: float, values: Floats, strategy: Floats, memory: Floats, numbers: Floats) -> None:
        apply(t, values, strategy, memory)

    chosen: Any = apply if called.constants else plain if SIMULATED else callee(plain)

    def call(t: int, values: Floats, strategy: Floats, memory: Floats, count: int, calls: Calls) -> bool:
        if calls.astray[0] != 0:
            return False
        total, lowest = 0.0, 0.0
        for a in range(count):
            total += strategy[a]
        if total == 0.0:
            for a in range(count):
                strategy[a] = 1.0 / np.float64(count)
        chosen(np.float64(t), values[:count], strategy[:count], memory[:rows, :count], calls.constants)
        total = 0.0
        for a in range(count):
            total, lowest = total + strategy[a], min(lowest, strategy[a])
        if not (abs(total - 1.0) <= TOLERANCE and lowest >= -TOLERANCE):
            calls.astray[0] = t
        return True

    return call if SIMULATED else callee(call)
