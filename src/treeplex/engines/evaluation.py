"""Result of the evaluation of a profile: value, best responses, NashConv."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from treeplex import arrow
from treeplex.html import html_table


class Evaluation(NamedTuple):
    """Value of a pair of strategies, and its distance from equilibrium. Payoffs are in the units of the rules."""

    value: float
    """Player 0's expected payoff."""

    nash_conv: float
    """Sum over both players of the gain from a best response; 0 exactly at a Nash equilibrium."""

    best_response_values: tuple[float, float]
    """Each player's own payoff when best responding to the other."""

    extra: Mapping[str, float] = {}
    """Further columns of the log, by name. Each kind of run has its own; most games have none."""

    @property
    def exploitability(self) -> float:
        """Half of ``nash_conv``: the average gain per player."""
        return self.nash_conv / 2.0

    def summary(self) -> dict[str, Any]:
        """Return the measures as JSON, with ``None`` for a measure that is not known."""
        return {
            "value": self.value,
            "nash_conv": known(self.nash_conv),
            "exploitability": known(self.exploitability),
            "best_response_values": [known(value) for value in self.best_response_values],
        }

    def to_pandas(self) -> Any:
        """Return one row as a pandas data frame; needs the ``pandas`` extra."""
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
    """Return a number, or None for nan and infinity, which JSON does not have."""
    return number if math.isfinite(number) else None
