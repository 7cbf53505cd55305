"""APCFR+: the more predictions have been wrong, the less they count.

    Q^t(a) = max(0, Q^{t-1}(a) + r^t(a)),   sigma^{t+1}(a) ~ max(0, Q^t(a) + r^t(a) / (1 + alpha_t))
    alpha_t = min( sqrt( E_t / M_t ), most ),   most = 5
    E_t = sum over s <= t of |r^s - r^{s-1}|^2,   M_t = sum over s <= t of |Q^s - Q^{s-1}|^2,   r^0 = Q^0 = 0

Norms are Euclidean, over the actions of an infoset, and each infoset has its own alpha. Where nothing has moved
(M_t = 0), alpha is ``most``. The unit of payoffs does not matter.

Meng et al. (2025), "Faster game solving via asymmetry of step sizes", arXiv:2503.12770, equations (4) and (10), as
quoted by the public C++ library ``nor`` in ``rm/minimizers/predictive.hpp``. Not compared with the paper itself.
"""

from __future__ import annotations

import math

from treeplex.arrays import Floats
from treeplex.kernels.jit import inlined
from treeplex.updates.rule import Fixed, Rule
from treeplex.updates.rules import normalise, positive


def adaptive(most: float) -> Rule:
    """APCFR+ with alpha at most ``most``. Rows of memory: Q, r, E and M, the last two in their first numbers."""
    return Rule("apcfr+", update, memory=4, constants=Fixed((most,)), checked=False)


def update(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above."""
    actions, expected, total = len(values), 0.0, 0.0
    for a in range(actions):
        expected += strategy[a] * values[a]
    for a in range(actions):
        r = values[a] - expected
        q = positive(memory[0, a] + r)
        memory[2, 0] += (r - memory[1, a]) ** 2
        memory[3, 0] += (q - memory[0, a]) ** 2
        memory[0, a], memory[1, a] = q, r
    trusted = trust(memory[2, 0], memory[3, 0], constants[0])
    for a in range(actions):
        strategy[a] = positive(memory[0, a] + trusted * memory[1, a])
        total += strategy[a]
    for a in range(actions):
        strategy[a] = normalise(strategy[a], total, actions)


@inlined
def trust(errors: float, moves: float, most: float) -> float:
    """Return 1 / (1 + alpha) from E and M."""
    return 1.0 / (1.0 + (min(math.sqrt(errors / moves), most) if moves > 0.0 else most))
