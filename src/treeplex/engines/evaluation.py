"""What an evaluation of a profile finds: value, best responses, NashConv."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from treeplex import arrow
from treeplex.html import html_table


class Evaluation(NamedTuple):
    """The value of a pair of strategies, and how far from equilibrium it is. Payoffs are those of the rules."""

    value: float
    """Player 0's expected payoff."""

    nash_conv: float
    """Sum over both players of what a best response would gain; 0 exactly at a Nash equilibrium."""

    best_response_values: tuple[float, float]
    """Each player's own payoff when best responding to the other."""

    extra: Mapping[str, float] = {}
    """Further columns of the log, by name, since each kind of run has its own; empty for most games."""

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``: the average gain per player."""
        return self.nash_conv / 2.0

    def summary(self) -> dict[str, Any]:
        """The measures as JSON; ``None`` where one is not known."""
        return {
            "value": self.value,
            "nash_conv": known(self.nash_conv),
            "exploitability": known(self.exploitability),
            "best_response_values": [known(value) for value in self.best_response_values],
        }

    def to_pandas(self) -> Any:
        """One row as a pandas data frame; needs the ``pandas`` extra."""
        return arrow.frame(arrow.table({name: [number] for name, number in self._numbers().items()}, {}))

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{number:.6g}") for name, number in self._numbers().items()]
        return html_table("Evaluation", ("", ""), rows)

    def _numbers(self) -> dict[str, float]:
        first, second = self.best_response_values
        return {
            "value": self.value,
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "best_response_value_0": first,
            "best_response_value_1": second,
            **self.extra,
        }


def known(number: float) -> float | None:
    """A number as JSON has it, which knows neither nan nor infinity."""
    return number if math.isfinite(number) else None
