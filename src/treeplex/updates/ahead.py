"""Discounts ahead of what an iteration adds, instead of after it."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.updates.protocol import Minimizer


class Ahead(NamedTuple):
    """R^t(a) = d_t R^{t-1}(a) + r^t(a), with d+ or d- by the sign of R^{t-1}(a); ``schedules.ahead`` for averages.

    What is stored is d_{t+1} R^t(a), which iteration t + 1 begins with: ``rule`` one iteration sooner.
    """

    rule: Minimizer

    @property
    def predict(self) -> float:
        """As the rule's."""
        return self.rule.predict

    def discounts(self, iteration: Floats) -> tuple[Floats, Floats]:
        """Those of the next iteration."""
        return self.rule.discounts(iteration + 1.0)
