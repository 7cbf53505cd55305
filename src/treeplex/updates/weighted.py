"""Regret matching over weighted iterations."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.updates.schedules import Schedule


class Weighted(NamedTuple):
    """R^T(a) ~ sum of w_t r^t(a): regret in iterations of different weight, up to the common factor 1 / w_{T+1}.

    After iteration t regrets are multiplied by w_t / w_{t+1}, so that the next iteration counts once and earlier ones
    less. With w_t = t this is linear CFR. Equation (16) of Ju et al. (2023) bounds regret with these weights.
    """

    schedule: Schedule
    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return the factor, which is the same for regrets of either sign."""
        factor = self.schedule(iteration) / self.schedule(iteration + 1.0)
        return factor, factor
