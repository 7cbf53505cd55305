"""Regret matching over weighted iterations."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.updates.schedules import Schedule


class Weighted(NamedTuple):
    """R^T(a) ~ sum of w_t r^t(a): regret in iterations of different weight, up to the common factor 1 / w_{T+1}.

    After iteration t regrets are multiplied by w_t / w_{t+1}, so that the next one counts once and those before less.
    With w_t = t it is linear CFR. Equation (16) of Ju et al. (2023) bounds the regret so weighted.
    """

    schedule: Schedule
    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """The same for regrets of either sign."""
        shrunk = self.schedule(iteration) / self.schedule(iteration + 1.0)
        return shrunk, shrunk
