"""Regret matching that expects the last instantaneous regret to repeat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.updates.discounted import discount


class PredictivePlus(NamedTuple):
    """Q^t(a) = d_t max(0, Q^{t-1}(a) + r^t(a));  sigma^{t+1}(a) ~ max(0, Q^t(a) + p r^t(a)).

    Without ``alpha``, d_t = 1: predictive regret matching+ of Farina, Kroer & Sandholm (2021), "Faster game solving via
    predictive Blackwell approachability", Algorithm 2, predicting that the last utilities repeat: p = 1.
    With it, d_t = t^alpha / (t^alpha + 1): the rule of PDCFR+, Xu et al. (2024), "Minimizing weighted counterfactual
    regret with optimistic online mirror descent".
    With p = 1/3, which trusts the prediction less: SAPCFR+, Meng et al. (2025), "Faster game solving via asymmetry of
    step sizes".
    Differs from Farina et al. in: inside a game each infoset predicts its own last instantaneous regret (as Xu et al.
    do) instead of recomputing the values below it with the new strategies.
    """

    alpha: float | None = None
    predict: float = 1.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return the factors: positive regret is discounted if at all, negative regret is forgotten at once."""
        positive = np.ones_like(iteration) if self.alpha is None else discount(iteration, self.alpha)
        return positive, np.zeros_like(iteration)
