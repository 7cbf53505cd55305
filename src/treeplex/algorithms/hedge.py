"""CFR with Hedge in every infoset."""

from __future__ import annotations

from typing import Final

from treeplex.algorithms.cfr import CFR, ORDERS
from treeplex.algorithms.options import named, number, turn_order
from treeplex.errors import ParameterError, non_negative
from treeplex.updates import hedge as rules
from treeplex.updates.schedules import uniform

RATES: Final = {"variance": rules.VARIANCE, "theory": rules.THEORY}
ALL_RATES: Final = {**RATES, "known": rules.KNOWN}


def hedge(
    rate: str = "variance",
    d: float = 0.0,
    turns: str = "alternating",
    order: str = "played",
    rounds: int = 0,
) -> CFR:
    """CFR with Hedge, uniform average (Brown, Kroer & Sandholm 2017, equation 8).

    ``rate``: the step size, either "theory" or based on the "variance" of an infoset's values, or that of a "known"
    number of ``rounds``, which stays the same in every iteration. ``d``: above zero, adds dynamic thresholding.
    ``order``: as in ``cfr_plus``.
    """
    kind, planned = named("rate", rate, ALL_RATES), non_negative("rounds", rounds)
    if (kind == rules.KNOWN) != (planned > 0):
        raise ParameterError(
            "The 'rounds' parameter must be the number of iterations of the run with rate=known, and 0 with other"
            f" rates, got {rounds!r} with rate={rate}."
        )
    rule = rules.hedge(kind, number("d", d, 0.0, 1e3), planned)
    return CFR(rule, uniform(), turn_order(turns), named("order", order, ORDERS))


def hedge_rate(name: object) -> int:
    """Return the constant of a step-size rule by name."""
    return named("rate", name, RATES)
