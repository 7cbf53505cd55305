"""Rules (``updates.rule``) as parts of GPU kernels: their Python is compiled anew for the GPU, into the kernel.

Nothing catches what a rule raises there, and indices are not checked: rules are tried before, as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any, Final

import numpy as np

from treeplex.kernels.cuda.kernels import SIMULATED, callee

TOLERANCE: Final = 1e-6  # how far from one probabilities may add up: that of ``updates.rule``


def device_function(function: Callable[..., Any]) -> Any:
    """A function of a user, or one compiled by Numba, as a part of kernels; so are those that it calls."""
    plain: Any = getattr(function, "py_func", function)
    if SIMULATED:
        return plain
    own = {name: _compiled(plain.__globals__[name]) for name in plain.__code__.co_names if name in plain.__globals__}
    cells = tuple(CellType(_compiled(cell.cell_contents)) for cell in plain.__closure__ or ())
    copy = FunctionType(plain.__code__, plain.__globals__ | own, plain.__name__, plain.__defaults__, cells)
    return callee(copy)


def _compiled(thing: Any) -> Any:
    return device_function(thing) if hasattr(thing, "py_func") else thing


@lru_cache(maxsize=64)
def call_update(update: Callable[..., None], rows: int, constants: bool) -> Any:
    """The part of kernels that updates one infoset.

    ``call(t, values, played, kept, strategy, at, step, memory, first, row, action, numbers, astray, count)``:
    ``values``, ``played`` [A] and ``kept`` [rows + 1, A] are arrays of the thread's own, float64, of which the first
    has the values, and ``count`` says of how many actions. The strategy of action a is ``strategy[at + a * step]``,
    zeros standing for a uniform one; row r of the memory has ``memory[first + r * row + a * action]``. ``numbers``: the
    rule's constants. ``astray[0]``: the first iteration in which it left no probabilities, after which it is not called.
    """
    apply = device_function(update)

    def plain(t: Any, values: Any, strategy: Any, memory: Any, numbers: Any) -> None:
        apply(t, values, strategy, memory)

    chosen: Any = apply if constants else plain if SIMULATED else callee(plain)

    def call(
        t: Any, values: Any, played: Any, kept: Any, strategy: Any, at: Any, step: Any, memory: Any, first: Any,
        row: Any, action: Any, numbers: Any, astray: Any, count: Any,
    ) -> None:  # fmt: skip
        if astray[0] != 0:
            return
        total, lowest = 0.0, 0.0
        for a in range(count):
            played[a] = np.float64(strategy[at + a * step])
            total += played[a]
        for a in range(count):
            if total == 0.0:
                played[a] = 1.0 / np.float64(count)
            for r in range(rows):
                kept[r, a] = np.float64(memory[first + r * row + a * action])
        chosen(np.float64(t), values[:count], played[:count], kept[:rows, :count], numbers)
        total = 0.0
        for a in range(count):
            x = played[a]
            strategy[at + a * step] = x
            total, lowest = total + x, min(lowest, x)
            for r in range(rows):
                memory[first + r * row + a * action] = kept[r, a]
        if not (abs(total - 1.0) <= TOLERANCE and lowest >= -TOLERANCE):
            astray[0] = t

    return call if SIMULATED else callee(call)
