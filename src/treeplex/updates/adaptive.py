"""How far the prediction of APCFR+ is trusted: less, the more predictions have been off.

    Q^t(a) = max(0, Q^{t-1}(a) + r^t(a)),   sigma^{t+1}(a) ~ max(0, Q^t(a) + r^t(a) / (1 + alpha_t))
    alpha_t = min( sqrt( E_t / M_t ), most ),   most = 5
    E_t = sum over s <= t of |r^s - r^{s-1}|^2,   M_t = sum over s <= t of |Q^s - Q^{s-1}|^2,   r^0 = Q^0 = 0

Norms are Euclidean, over the actions of an infoset; each infoset has its own alpha. Where nothing has moved (M_t = 0),
alpha is ``most``. Payoffs in another unit change nothing.

Meng et al. (2025), "Faster game solving via asymmetry of step sizes", arXiv:2503.12770, equations (4) and (10), as the
public C++ library ``nor`` quotes them in ``rm/minimizers/predictive.hpp``; not compared with the paper itself.
"""

from __future__ import annotations

import math

from treeplex.kernels.jit import inlined


@inlined
def trust(errors: float, moves: float, most: float) -> float:
    """1 / (1 + alpha) from E and M."""
    return 1.0 / (1.0 + (min(math.sqrt(errors / moves), most) if moves > 0.0 else most))
