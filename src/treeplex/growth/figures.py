"""Figures of a growing run, as columns of the log beside its evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class _Measured(Protocol):
    @property
    def extra(self) -> Mapping[str, Any]: ...


class GrowthFigures(NamedTuple):
    """Size of a growing abstraction, with the quality and the cost of the run."""

    growing_seconds: float  # spent on checks, recovery games and removals
    nash_conv_in_abstraction: float  # NashConv if only the sizes in the abstraction were legal
    histories: int
    archived: int  # histories on disk
    sizes: int  # sizes added
    removed: int
    weight: float  # weight of the past
    bytes: int

    @staticmethod
    def of(measured: _Measured) -> GrowthFigures:
        """Return the figures of an evaluation or of a row of the log."""
        return GrowthFigures(**{name: measured.extra[name] for name in GrowthFigures._fields})
