"""How to grow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from treeplex.algorithms.growth.add import METHODS
from treeplex.algorithms.growth.discount import DISCOUNTS
from treeplex.algorithms.growth.where import ESTIMATES
from treeplex.engines.public.game import RULES
from treeplex.errors import ParameterError

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
        _choice("method", self.method, METHODS)
        _choice("estimate", self.estimate, ESTIMATES)
        _choice("discount", self.discount, DISCOUNTS)
        _choice("algorithm", self.algorithm, RULES)
        factor: Any = self.factor
        if isinstance(factor, bool) or not isinstance(factor, int | float) or math.isnan(factor) or factor < 1.0:
            raise ParameterError(f"The 'factor' parameter must be a number from 1 up, got {factor!r}.")
        for name, low in (("every", 1), ("archive", 0)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ParameterError(f"The '{name}' parameter must be a whole number from {low} up, got {value!r}.")


def _choice(name: str, value: Any, legal: Iterable[str]) -> None:
    if value not in legal:
        options = ", ".join(f'"{option}"' for option in legal)
        raise ParameterError(f"The '{name}' parameter must be one of {options}, got {value!r}.")


def growth_fields(growth: Growth) -> dict[str, Any]:
    """For JSON, which has no infinity."""
    return asdict(growth) | ({"factor": "inf"} if math.isinf(growth.factor) else {})
