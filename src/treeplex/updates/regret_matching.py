"""Regret matching, and the variant that forgets negative regret."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats


class RegretMatching(NamedTuple):
    """R^t(a) = R^{t-1}(a) + r^t(a);  sigma^{t+1}(a) ~ max(R^t(a), 0).

    Hart & Mas-Colell (2000); in every infoset of a game, Zinkevich et al. (2007).
    """

    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return ones: nothing is forgotten."""
        return np.ones_like(iteration), np.ones_like(iteration)


class RegretMatchingPlus(NamedTuple):
    """Q^t(a) = max(0, Q^{t-1}(a) + r^t(a));  sigma^{t+1}(a) ~ Q^t(a).

    Follows the definition of R^{+,T} and sigma^{T+1} in section 2 of Tammelin (2014).
    """

    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return ones and zeros: negative regret is forgotten at once."""
        return np.ones_like(iteration), np.zeros_like(iteration)
