"""When a run stops."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from treeplex.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    """The first one reached ends a run; ``None`` means never for that reason."""

    nash_conv: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("nash_conv", "seconds"):
            self._check(name, (int, float), 0, "a number >= 0")
        for name in ("iterations", "nodes"):
            self._check(name, (int,), 1, "an integer >= 1")

    def _check(self, name: str, types: tuple[type, ...], low: int, kind: str) -> None:
        value: Any = getattr(self, name)
        legal = isinstance(value, types) and not isinstance(value, bool) and math.isfinite(value) and value >= low
        if value is not None and not legal:
            raise ParameterError(f"The '{name}' parameter must be {kind}, got {value!r}.")

    @property
    def any(self) -> bool:
        """Is there a reason to stop at all?"""
        return any(limit is not None for limit in (self.nash_conv, self.seconds, self.iterations, self.nodes))

    def left(self, seconds: float) -> Limits:
        """The same after so many seconds."""
        return self if self.seconds is None else replace(self, seconds=max(self.seconds - seconds, 0.0))

    def reason(self, seconds: float, iterations: int, nodes: int) -> str:
        """Why to stop now, other than for a good enough answer; empty if not at all."""
        if self.iterations is not None and iterations >= self.iterations:
            return "iterations"
        if self.seconds is not None and seconds >= self.seconds:
            return "seconds"
        if self.nodes is not None and nodes >= self.nodes:
            return "nodes"
        return ""

    def next_stop(self, iterations: int, nodes: int, upto: int) -> int:
        """The last iteration, up to ``upto``, that the limits on iterations and nodes allow: at least one more.

        Only an eighth of what seems left of the nodes is taken at once, so that a run stops after the first iteration
        that reaches the limit, wherever it was looked at before.
        """
        if self.iterations is not None:
            upto = min(upto, self.iterations)
        if self.nodes is not None and iterations:
            upto = min(upto, iterations + (self.nodes - nodes) * iterations // (8 * max(nodes, 1)))
        return max(upto, iterations + 1)
