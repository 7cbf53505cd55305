"""Discounts applied before an iteration adds to the sums, instead of after it."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.updates.protocol import Minimizer


class Ahead(NamedTuple):
    """R^t(a) = d_t R^{t-1}(a) + r^t(a), with d+ or d- by the sign of R^{t-1}(a); ``schedules.ahead`` for averages.

    The stored number is d_{t+1} R^t(a), with which iteration t + 1 starts: ``rule`` one iteration earlier.
    """

    rule: Minimizer

    @property
    def predict(self) -> float:
        """Prediction of the inner rule."""
        return self.rule.predict

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Return the discounts of the next iteration."""
        return self.rule.discounts(iteration + 1.0)
