"""Discounts whose exponents move with the progress of a run: hyperparameter schedules."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.updates.discounted import discount
from treeplex.updates.schedules import progress


class Scheduled(NamedTuple):
    """``Discounted`` with alpha = 1 + 3 p and beta = -1 - 2 p at iteration t, where p = min(t / horizon, 1).

    Zhang, McAleer & Sandholm (2024), "Faster game solving via hyperparameter schedules", equation (4). Early regrets,
    negative ones above all, are forgotten at once; later positive ones hardly at all.
    """

    horizon: int
    predict: float = 0.0

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return the factors above for positive and for negative regrets."""
        done = progress(iteration, self.horizon)
        return discount(iteration, 1.0 + 3.0 * done), discount(iteration, -1.0 - 2.0 * done)
