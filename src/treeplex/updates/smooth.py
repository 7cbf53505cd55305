"""Smooth predictive regret matching+: regrets stay away from zero, where strategies would jump.

    Q^t = P(Q^{t-1} + r^t),   sigma^{t+1} ~ P(Q^t + r^t),   Q^0(a) = z / |A|
    P(x): the point nearest to x among those with y(a) >= 0 for every a and sum over a of y(a) >= z

P(x) = max(x, 0) if that sums to z or more. Otherwise it is max(x - theta, 0) with theta <= 0 such that it sums to z:
the projection onto a simplex. So Q^t >= Q^{t-1} + r^t, as in regret matching+. z is a regret, so payoffs in another
unit need another z. Here z is a multiple of the game's payoff range. Multiplying r by a step size eta is the same as
replacing z by z / eta. With z = 0 this is predictive regret matching+.

Farina et al. (2023), "Regret matching+: (in)stability and fast convergence in games", arXiv:2305.14709, Algorithm 2, as
in the public program of Meng et al. (NeurIPS 2025), github.com/menglinjian/NeurIPS-2025-SOGRM, class ``SPRMSolver``.
There, matrices have payoffs within 1/2 of zero, so a range of 1, and z = 1. Not compared with the paper itself.
Differs from the C++ library ``nor``, which lifts max(x, 0) by the same number for all actions (no projection where some
x(a) < 0), and only for the strategy.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.jit import inlined
from treeplex.updates.rule import InRanges, Rule
from treeplex.updates.rules import normalise


def smooth(floor: float) -> Rule:
    """Smooth PRM+ with z = ``floor`` times the range of payoffs. The memory row is Q."""
    return Rule("smooth-pcfr+", update, memory=1, constants=InRanges((floor,)), start=start, checked=False)


def start(actions: int, rows: int, constants: Floats) -> Floats:
    """Return Q^0: equal regrets that sum to z."""
    return np.full((rows, actions), constants[0] / actions)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above."""
    actions, expected = len(values), 0.0
    for a in range(actions):
        expected += strategy[a] * values[a]
    for a in range(actions):
        memory[0, a] += values[a] - expected
    lift(memory[0], constants[0])
    for a in range(actions):
        strategy[a] = memory[0, a] + (values[a] - expected)
    total = lift(strategy, constants[0])
    for a in range(actions):
        strategy[a] = normalise(strategy[a], total, actions)


@inlined
def lift(numbers: Floats, floor: float) -> float:
    """Replace x by P(x) and return the sum of P(x): z or more, except for rounding.

    theta rises from the value for all actions to that for the actions above it, until none drops out (Michelot 1986).
    """
    actions, total, theta = len(numbers), 0.0, 0.0
    for a in range(actions):
        total += max(numbers[a], 0.0)
    if total < floor:
        total = 0.0
        for a in range(actions):
            total += numbers[a]
        remaining = actions
        theta = (total - floor) / remaining
        while True:
            above, total = 0, 0.0
            for a in range(actions):
                if numbers[a] > theta:
                    above += 1
                    total += numbers[a]
            if above == 0 or above >= remaining:  # 0: z is lost in rounding, which may also put more above than before
                break
            remaining, theta = above, (total - floor) / above
    total = 0.0
    for a in range(actions):
        numbers[a] = max(numbers[a] - theta, 0.0)
        total += numbers[a]
    return total
