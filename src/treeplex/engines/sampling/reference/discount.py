"""Regrets that are discounted at an infoset's next update, by the sums of logarithms of ``updates.lazy_discounts``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from treeplex.engines.sampling.arrays import LearnerTable


@dataclass
class Discount:
    """Discounts of one player: L of positive and of other regrets now, and at the last update of each infoset."""

    now: tuple[float, float] = (0.0, 0.0)
    last: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])

    def apply(self, table: LearnerTable, start: int, width: int) -> None:
        """Multiply the regrets of an infoset by exp(L(t) - L(s)), where s is the iteration of its last update."""
        up, down = (math.exp(t - s) for t, s in zip(self.now, self.last.get(start, (0.0, 0.0)), strict=True))
        for k in range(start, start + width):
            table.regret[k] *= up if table.regret[k] > 0.0 else down
        self.last[start] = self.now
