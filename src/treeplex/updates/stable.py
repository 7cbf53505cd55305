"""Stable predictive regret matching+: an infoset whose regrets are all small begins anew.

    Q(a) = max(0, Q^{t-1}(a) + r^t(a))
    if Q(a) <= z for every a:  Q^t(a) = z,  sigma^{t+1} uniform       a restart, which predicts nothing
    else:                      Q^t(a) = Q(a),  sigma^{t+1}(a) ~ max(0, Q(a) + r^t(a))

Q^0 = 0. z is a regret, so payoffs in another unit need another z: here z is a multiple of the game's payoff range.
With z = 0 it is predictive regret matching+.

Farina et al. (2023), "Regret matching+: (in)stability and fast convergence in games", arXiv:2305.14709, Algorithm 1, as
the public C++ library ``nor`` has it (``rm/minimizers/predictive.hpp``); not compared with the paper itself. There
z = 1 in the game's own payoffs, whatever they are.
"""

from __future__ import annotations

from treeplex.kernels.jit import inlined


@inlined
def restarts(largest: float, floor: float) -> bool:
    """Whether an infoset with this largest regret begins anew."""
    return largest <= floor
