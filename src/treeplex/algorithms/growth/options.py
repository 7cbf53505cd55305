"""How to grow."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

from treeplex.algorithms.growth.add import METHODS
from treeplex.algorithms.growth.discount import DISCOUNTS
from treeplex.algorithms.growth.where import ESTIMATES
from treeplex.engines.public.game import RULES
from treeplex.errors import ParameterError, within

CHOICES: Final = {"method": METHODS, "estimate": ESTIMATES, "discount": DISCOUNTS, "algorithm": RULES}
ARCHIVE_EVERY: Final = 10  # checks for new actions per check for what can be archived


@dataclass(frozen=True)
class Growth:
    """How an abstraction grows.

    ``method``: add by "recovery" game or by regret "transfer". ``factor``: by how much proposition 1 is made stronger;
    infinity adds nothing. ``every``: iterations between two checks for new actions; each adds one size at most.
    ``estimate``: how regrets of missing sizes are estimated, by "transfer", at once, or by "best-response".
    ``discount``: weigh the past by the "recommended" equation (22) or by the "bound" (8).
    ``algorithm``: "cfr" as in the paper, or "cfr+". ``archive``: move subtrees with zero reach for this many checks to
    disk; 0 never does.
    """

    method: str = "recovery"
    factor: float = 1.01
    every: int = 5
    estimate: str = "transfer"
    discount: str = "recommended"
    algorithm: str = "cfr"
    archive: int = 0

    def __post_init__(self) -> None:
        for name, legal in CHOICES.items():
            if getattr(self, name) not in legal:
                options = ", ".join(f'"{option}"' for option in legal)
                raise ParameterError(f"The '{name}' parameter must be one of {options}, got {getattr(self, name)!r}.")
        within(float, "factor", self.factor, "a number from 1 up", 1)
        within(int, "every", self.every, "a whole number from 1 up", 1)
        within(int, "archive", self.archive, "a whole number from 0 up", 0)


def growth_fields(growth: Growth) -> dict[str, Any]:
    """For JSON, which has no infinity."""
    return asdict(growth) | ({"factor": "inf"} if math.isinf(growth.factor) else {})
