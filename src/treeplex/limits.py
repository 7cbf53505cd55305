"""Limits of a run, and targets of exploitability such as ``0.001``, ``0.3%pot``, ``5mbb`` and ``2chips``."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, replace

from treeplex.errors import ParameterError, quoted, real, within

_TARGET = re.compile(r"^\s*(\d+(?:\.\d*)?(?:e-?\d+)?)\s*(%\s*(?:pot)?|mbb|chips?)?\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """Limits of a run. The first one that is reached ends it, and ``None`` means no limit."""

    nash_conv: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if value is not None and name in ("nash_conv", "seconds"):
                number = within(float, name, value, "a number >= 0", 0, sys.float_info.max)
                object.__setattr__(self, name, value if type(value) is int else number)
            elif value is not None:
                object.__setattr__(self, name, within(int, name, value, "an integer >= 1", 1))

    @property
    def any(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for limit in vars(self).values())

    @property
    def counted(self) -> bool:
        """Whether there is a limit on iterations or nodes."""
        return self.iterations is not None or self.nodes is not None

    def otherwise(self, default: Limits) -> Limits:
        """Return self if any limit is set, else ``default``."""
        return self if self.any else default

    def left(self, seconds: float) -> Limits:
        """Subtract ``seconds`` from the time limit."""
        return self if self.seconds is None else replace(self, seconds=max(self.seconds - seconds, 0.0))

    def after(self, seconds: float) -> Limits:
        """Add ``seconds`` to the time limit (inverse of ``left``)."""
        return self if self.seconds is None else replace(self, seconds=self.seconds + seconds)

    def reason(self, seconds: float, iterations: int, nodes: int) -> str:
        """Name of the limit that is reached, other than the target of NashConv; empty if none is."""
        spent = {"iterations": iterations, "seconds": seconds, "nodes": nodes}
        limits = vars(self)
        return next((name for name in spent if limits[name] is not None and spent[name] >= limits[name]), "")

    def next_stop(self, iterations: int, nodes: int, upto: int) -> int:
        """Last iteration, up to ``upto``, that the limits on iterations and nodes allow; at least one more.

        Only an eighth of the estimated remaining nodes is scheduled at once. So a run stops after the first iteration
        that reaches the limit, independently of the iterations at which it was checked before.
        """
        if self.iterations is not None:
            upto = min(upto, self.iterations)
        if self.nodes is not None and iterations:
            upto = min(upto, iterations + (self.nodes - nodes) * iterations // (8 * max(nodes, 1)))
        return max(upto, iterations + 1)


def nash_conv_of(exploitability: float | str, pot: float | None = None, big_blind: float | None = None) -> float:
    """Convert an exploitability to NashConv, in the units of payoffs.

    >>> nash_conv_of("0.5%pot", pot=200)
    2.0
    """
    target = exploitability if isinstance(exploitability, str) else real(exploitability)
    match = None if target is None or len(str(target)) > 100 else _TARGET.match(str(target))
    if match is None or not 0.0 <= float(match[1]) < math.inf:
        raise ParameterError(
            f"The 'exploitability' parameter must be a number, or a text such as 0.3%pot, 5mbb or 2chips,"
            f" got {quoted(exploitability)}."
        )
    amount, unit = float(match[1]), (match[2] or "").lower()
    if unit.startswith("%"):
        if pot is None:
            raise ParameterError("The 'exploitability' parameter in per cent of the pot needs a hold'em spot.")
        amount *= pot / 100.0
    elif unit == "mbb":
        if big_blind is None or not big_blind > 0.0:
            raise ParameterError("The 'exploitability' parameter in mbb needs the size of a big blind in chips.")
        amount *= big_blind / 1000.0
    return 2.0 * amount
