"""Smooth predictive regret matching+: regrets stay away from zero, where strategies would jump.

    Q^t = P(Q^{t-1} + r^t),   sigma^{t+1} ~ P(Q^t + r^t),   Q^0(a) = z / |A|
    P(x): the point nearest to x among those with y(a) >= 0 for every a and sum over a of y(a) >= z

P(x) = max(x, 0) if that adds up to z or more. Else it is max(x - theta, 0) with theta <= 0 such that it adds up to z:
the projection onto a simplex. So Q^t >= Q^{t-1} + r^t, as in regret matching+. z is a regret, so payoffs in another
unit need another z: here z is a multiple of the game's payoff range. A step size eta, by which r is multiplied, is the
same as z / eta in place of z. With z = 0 it is predictive regret matching+.

Farina et al. (2023), "Regret matching+: (in)stability and fast convergence in games", arXiv:2305.14709, Algorithm 2, as
in the public program of Meng et al. (NeurIPS 2025), github.com/menglinjian/NeurIPS-2025-SOGRM, class ``SPRMSolver``,
where matrices have payoffs within 1/2 of zero, so a range of 1, and z = 1; not compared with the paper itself.
Differs from the C++ library ``nor``, which lifts max(x, 0) by the same number for all actions (no projection where some
x(a) < 0), and only for the strategy.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.jit import inlined
from treeplex.updates.rule import InRanges, Rule
from treeplex.updates.rules import share


def smooth(floor: float) -> Rule:
    """Smooth PRM+ with z = ``floor`` times the range of payoffs. The row of memory: Q."""
    return Rule("smooth-pcfr+", update, memory=1, constants=InRanges((floor,)), start=start, checked=False)


def start(actions: int, rows: int, constants: Floats) -> Floats:
    """Q^0: regrets that are all equal and z in sum."""
    return np.full((rows, actions), constants[0] / actions)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """The equations above."""
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
        strategy[a] = share(strategy[a], total, actions)


@inlined
def lift(numbers: Floats, floor: float) -> float:
    """P(x) in place of x; returns the sum of P(x): z or more, but for rounding.

    theta is found from below: from all actions, then from those above it, until none falls out (Michelot 1986).
    """
    actions, total, theta = len(numbers), 0.0, 0.0
    for a in range(actions):
        total += max(numbers[a], 0.0)
    if total < floor:
        total = 0.0
        for a in range(actions):
            total += numbers[a]
        left = actions
        theta = (total - floor) / left
        while True:
            above, total = 0, 0.0
            for a in range(actions):
                if numbers[a] > theta:
                    above += 1
                    total += numbers[a]
            if above == 0 or above >= left:  # 0: z is lost in rounding, by which more may be above than before, too
                break
            left, theta = above, (total - floor) / above
    total = 0.0
    for a in range(actions):
        numbers[a] = max(numbers[a] - theta, 0.0)
        total += numbers[a]
    return total
