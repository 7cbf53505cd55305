"""CFR with Hedge in every infoset."""

from __future__ import annotations

from typing import Final

from treeplex.algorithms.cfr import CFR, ORDERS
from treeplex.algorithms.options import named, number, turn_order
from treeplex.updates import hedge as rules
from treeplex.updates.schedules import uniform

RATES: Final = {"variance": rules.VARIANCE, "theory": rules.THEORY}


def hedge(rate: str = "variance", d: float = 0.0, turns: str = "alternating", order: str = "played") -> CFR:
    """CFR with Hedge, uniform average (Brown, Kroer & Sandholm 2017, equation 8).

    ``rate``: the step size, either "theory" or based on the "variance" of an infoset's values. ``d``: above zero, adds
    dynamic thresholding. ``order``: as in ``cfr_plus``.
    """
    rule = rules.hedge(hedge_rate(rate), number("d", d, 0.0, 1e3))
    return CFR(rule, uniform(), turn_order(turns), named("order", order, ORDERS))


def hedge_rate(name: object) -> int:
    """Return the constant of a step-size rule by name."""
    return named("rate", name, RATES)
