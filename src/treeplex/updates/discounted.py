"""Regret matching that gradually forgets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats


class Discounted(NamedTuple):
    """After iteration t: positive R times t^alpha / (t^alpha + 1), negative R times t^beta / (t^beta + 1).

    alpha = beta = 1 is linear CFR up to a common factor. Brown & Sandholm (2019), "Solving imperfect-information games
    via discounted regret minimization", section 4.

    ``rise`` h is not in the paper: beta t / (t + h) replaces beta. Negative regrets are then forgotten fast at first,
    when they contain early mistakes, and slowly later, when an action that returns at once makes strategies oscillate.
    """

    alpha: float
    beta: float
    rise: float = 0.0
    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return the factors above for positive and for negative regrets."""
        beta = self.beta * iteration / (iteration + self.rise)
        return discount(iteration, self.alpha), discount(iteration, beta)


def discount(iteration: Floats, power: float | Floats) -> Floats:
    """Return t^power / (t^power + 1)."""
    with np.errstate(over="ignore"):  # a huge t^-power means a discount of zero
        return 1.0 / (1.0 + iteration**-power)
