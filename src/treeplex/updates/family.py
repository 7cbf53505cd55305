"""Rules of the regret matching family as functions, for whatever is put around a function.

    R^t(a) = d+ x  if x > 0,  d- x otherwise,  where x = R^{t-1}(a) + r^t(a)
    sigma^{t+1}(a) ~ max(R^t(a) + p r^t(a), 0),  uniform if that is zero for every a

These are the equations of ``updates.protocol``, for members whose discounts are the same in every iteration.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.updates.hedge import value_of
from treeplex.updates.protocol import Minimizer
from treeplex.updates.rule import Fixed, Rule
from treeplex.updates.rules import discounted, normalise, positive

ITERATIONS: Final = np.array([1.0, 2.0, 10.0, 1000.0])  # iterations whose discounts must be the same


def as_function(minimizer: Minimizer, name: str) -> Rule:
    """Return a member of the family as a function; its discounts must not change with time. The memory row is R."""
    up, down = minimizer.discounts(ITERATIONS)
    if np.ptp(up) > 0.0 or np.ptp(down) > 0.0:
        raise ParameterError(
            f"The 'minimizer' parameter must be a rule whose discounts are the same in every iteration, got"
            f" {quoted(minimizer)}; write other rules with tp.minimizer."
        )
    return Rule(name, update, 1, Fixed((float(up[0]), float(down[0]), minimizer.predict)), checked=False)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above."""
    actions, expected, total = len(values), value_of(values, strategy), 0.0
    for a in range(actions):
        r = values[a] - expected
        memory[0, a] = discounted(memory[0, a], r, constants[0], constants[1])
        strategy[a] = positive(memory[0, a] + constants[2] * r)
        total += strategy[a]
    for a in range(actions):
        strategy[a] = normalise(strategy[a], total, actions)
