"""The interface of all rules of the regret matching family.

    r^t(a) = u^t(a) - <sigma^t, u^t>                                the instantaneous regret of action a
    R^t(a) = d+_t x  if x > 0,  d-_t x otherwise,  where x = R^{t-1}(a) + r^t(a)
    sigma^{t+1}(a) ~ max(R^t(a) + p r^t(a), 0),  uniform if that is zero for every a

u: counterfactual values of the actions, sigma: the strategy played. A rule chooses the discounts d+ and d- of every
iteration, and the prediction p.
"""

from __future__ import annotations

from typing import Protocol

from treeplex.arrays import Floats


class Minimizer(Protocol):
    """A rule of the regret matching family."""

    @property
    def predict(self) -> float:
        """``p``: fraction of the last instantaneous regret that is expected to repeat."""
        ...

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return d+ and d- of iterations ``t``, counted from 1."""
        ...
