"""UP where a rule is called (``updates.rule``): one lane works on all actions of an infoset while the others wait.

``RunArrays.played`` has the strategy as the rule leaves it. ``RunArrays.regret`` [rows, positions] has its memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np

from treeplex.engines.sequence.cuda.arrays import Index, Rates, RunArrays, Shape
from treeplex.engines.sequence.cuda.parts import dividing, lane_of, offsets_of, sizes_of, sums
from treeplex.kernels.cuda.calls import Called, Calls, call_update
from treeplex.kernels.cuda.kernels import SIMULATED, callee, real, select
from treeplex.kernels.cuda.kernels import own as cuda
from treeplex.kernels.cuda.kernels import uint32 as u

_numba: Any = numba


@lru_cache(maxsize=64)
def called_up(storage: str, dealt: bool, called: Called) -> Any:
    """Return the part of kernels that takes a tile up; ``dealt``: whether payoffs are computed beforehand."""
    number, rows, most, call = real(storage), called.rows, called.actions, call_update(called)
    zero, inverse_of, (paid, below) = number(0.0), dividing(storage)[1], sums(storage)

    def up_tile(shape: Shape, learning: RunArrays, w: Index, lane: Index, rates: Rates, calls: Calls) -> None:
        """Take a tile of any shape up, like ``up_any`` of the family."""
        base, first, entry, slot = offsets_of(shape, w)
        n, form, length, children = sizes_of(shape, w)
        row, j, wide, high = lane_of(form, lane)
        here = u(first + j)
        leave, inverse_sum = shape.leave[here], learning.inverse_sum[here]
        if row != u(0) or leave == u(0):  # slot 0 is never read: there is no infoset
            return
        values, played = cuda.local.array(most, _numba.float64), cuda.local.array(most, _numba.float64)
        memory = cuda.local.array((rows + 1, most), _numba.float64)  # an array needs a row
        positions, some, expected, total = np.int64(len(learning.played)), inverse_sum > zero, zero, zero
        for a in range(n):
            step, other = u(u(a) // high), u(u(u(a) % high) * wide + j)
            at = u(u(u(base + step) << u(5)) + other)
            if dealt:
                value = learning.earned[at]
            else:
                value = paid(shape, learning.plan, u(entry + u(step * length)), length, other, rates[0], False)
            value += below(learning.slot, u(slot + u(step * children)), children, other)
            x = learning.played[at]
            expected += select(some, select(x > zero, x, zero) * value, value)
            values[a], played[a] = np.float64(value), np.float64(x)
            for r in range(rows):
                memory[r, a] = np.float64(learning.regret[r * positions + at])
        learning.slot[leave] = expected * select(some, inverse_sum, -inverse_sum)
        if call(rates[1], values, played, memory, n, calls):
            for a in range(n):
                at = u(u(u(base + u(u(a) // high)) << u(5)) + u(u(u(a) % high) * wide + j))
                x = number(played[a])
                learning.played[at] = x
                total += select(x > zero, x, zero)
                for r in range(rows):
                    learning.regret[r * positions + at] = number(memory[r, a])
            learning.inverse_sum[here] = inverse_of(total, n)

    return up_tile if SIMULATED else callee(up_tile)
