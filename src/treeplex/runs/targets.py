"""How close to equilibrium is close enough, as people say it: ``0.001``, ``0.3%pot``, ``5mbb``, ``2chips``."""

from __future__ import annotations

import math
import re

from treeplex.errors import ParameterError, quoted, real

_FORM = re.compile(r"^\s*(\d+(?:\.\d*)?(?:e-?\d+)?)\s*(%\s*(?:pot)?|mbb|chips?)?\s*$", re.IGNORECASE)


def nash_conv_of(exploitability: float | str, pot: float | None = None, big_blind: float | None = None) -> float:
    """The NashConv that an exploitability amounts to, in the units of payoffs.

    >>> nash_conv_of("0.5%pot", pot=200)
    2.0
    """
    said = exploitability if isinstance(exploitability, str) else real(exploitability)
    found = None if said is None or len(str(said)) > 100 else _FORM.match(str(said))
    if found is None or not 0.0 <= float(found[1]) < math.inf:
        raise ParameterError(
            f"The 'exploitability' parameter must be a number, or such as 0.3%pot, 5mbb or 2chips, got"
            f" {quoted(exploitability)}."
        )
    amount, unit = float(found[1]), (found[2] or "").lower()
    if unit.startswith("%"):
        if pot is None:
            raise ParameterError("The 'exploitability' parameter in per cent of the pot needs a hold'em spot.")
        amount *= pot / 100.0
    elif unit == "mbb":
        if big_blind is None or not big_blind > 0.0:
            raise ParameterError("The 'exploitability' parameter in mbb needs the chips of a big blind.")
        amount *= big_blind / 1000.0
    return 2.0 * amount
