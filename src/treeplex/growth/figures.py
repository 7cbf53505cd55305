"""Figures of a growing run, beside its evaluation: columns of the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class _Measured(Protocol):
    @property
    def extra(self) -> Mapping[str, Any]: ...


class GrowthFigures(NamedTuple):
    """How far an abstraction has grown."""

    growing_seconds: float  # spent on checks, recovery games and removals
    nash_conv_in_abstraction: float  # if only the sizes in the abstraction were legal
    histories: int
    archived: int  # histories on disk
    sizes: int  # that were added
    removed: int
    weight: float  # of the past
    bytes: int

    @staticmethod
    def of(measured: _Measured) -> GrowthFigures:
        """Figures of an evaluation or of a row of the log."""
        return GrowthFigures(**{name: measured.extra[name] for name in GrowthFigures._fields})
