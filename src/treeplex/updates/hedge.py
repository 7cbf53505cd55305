"""Hedge: how large its steps are, and which of its weights dynamic thresholding keeps.

Brown, Kroer & Sandholm (2017), sections 2, 3 and 5.
"""

from __future__ import annotations

import math
from typing import Final

from treeplex.kernels.jit import inlined, kernel

VARIANCE: Final = 0  # step-size rules
THEORY: Final = 1
MATCHING: Final = 2  # no Hedge but regret matching
LEAST_RANGE: Final = 1e-6  # of ``payoff_range``: what 3 sqrt(VAR(I)) is taken to be at least


@kernel
def step_size(rule: int, log_actions: float, payoff_range: float, squares: float, t: float) -> float:
    """eta after t iterations, with ``log_actions`` = ln |A|, ``payoff_range`` = D, ``squares`` = t VAR(I).

    THEORY, with D = Delta(I): sqrt(8 ln |A|) / (D sqrt(t)). VARIANCE, with D the range of the whole game:
    sqrt(ln |A|) / (3 sqrt(VAR(I)) sqrt(t)), where 3 sqrt(VAR(I)) is kept between ``LEAST_RANGE`` D and D, and is D
    while nothing has varied.
    """
    if rule == VARIANCE:
        width = payoff_range
        if squares != 0.0:
            width = min(max(3.0 * math.sqrt(squares / t), LEAST_RANGE * payoff_range), payoff_range)
        return math.sqrt(log_actions / t) / width
    return math.sqrt(8.0 * log_actions / t) / payoff_range


@inlined
def kept(weight: float, least: float) -> float:
    """A softmax weight, or zero if it is below the threshold ``least``; the best action has exp(0) = 1, and stays."""
    return 0.0 if weight < least and weight < 1.0 else weight
