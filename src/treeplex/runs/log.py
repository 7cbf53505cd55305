"""The log of a run: one row per evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from treeplex.algorithms.protocol import Work
from treeplex.arrow import Table, Types, table
from treeplex.engines.evaluation import Evaluation
from treeplex.tensors import count_of, number_of

WHOLE = ("iteration", "nodes_touched")


class LogRow(NamedTuple):
    """Work and quality of a run after ``iteration``."""

    iteration: int
    nodes_touched: int  # histories entered so far, a measure that does not depend on the machine
    seconds: float  # wall clock since the start, with evaluations but without compilation of kernels
    evaluation_seconds: float  # of these, spent on evaluations
    value: float  # of player 0, under the reported strategies
    nash_conv: float  # nan if unknown
    exploitability: float  # nash_conv / 2
    extra: Mapping[str, float] = {}  # further columns of this kind of run

    @staticmethod
    def measured(work: Work, seconds: float, evaluating: float, evaluation: Evaluation) -> LogRow:
        """Build a row from the work done and an evaluation, by the names of their fields."""
        measures = (getattr(evaluation, name) for name in MEASURES)
        return LogRow._make((*work[:2], seconds, evaluating, *measures, {**evaluation.extra, **work.counters}))

    @staticmethod
    def of(fields: Mapping[str, Any]) -> LogRow:
        """Build a row from values by name, or raise ValueError. Missing columns are nan, unknown ones are left out."""
        values: dict[str, Any] = dict.fromkeys(LogRow._fields[:-1], math.nan)
        for name in values:
            value = fields[name] if name in WHOLE else fields.get(name)
            if value is not None:
                values[name] = count_of(value) if name in WHOLE else number_of(value)
        extra: dict[str, Any] = dict(fields.get("extra", {}))
        if not all(type(x) in (int, float) for x in extra.values()):
            raise ValueError("a row of its log has columns that are not numbers")
        return LogRow(**values, extra=extra)


MEASURES: Final = LogRow._fields[4:-1]
"""Columns that an evaluation has under the same names."""

FIRST_COLUMNS: Final = (
    "iteration",
    "nodes_touched",
    "seconds",
    "evaluation_seconds",
    "value",
    "nash_conv",
    "exploitability",
    "extra",
)
"""Columns of checkpoints that do not name them, such as those of 0.2."""


def written_rows(rows: Sequence[LogRow]) -> dict[str, Any]:
    """Return rows as a checkpoint stores them: column names, then values; nan becomes None, since JSON has no nan."""
    values = [[None if isinstance(x, float) and math.isnan(x) else x for x in row[:-1]] for row in rows]
    return {"columns": LogRow._fields, "rows": [[*row, dict(log.extra)] for row, log in zip(values, rows, strict=True)]}


def read_rows(about: Mapping[str, Any]) -> list[LogRow]:
    """Inverse of ``written_rows``; raise ValueError, TypeError or LookupError if there are no such rows."""
    columns = about.get("columns", FIRST_COLUMNS)
    return [LogRow.of(dict(zip(columns, row, strict=True))) for row in about["rows"]]


def to_table(rows: list[LogRow]) -> Table:
    """Return the rows as an Arrow table: common columns first, then those of this kind of run."""
    names = LogRow._fields[:-1]
    types: Types = {name: pa.int64() if name in WHOLE else pa.float64() for name in names}
    columns: dict[str, Any] = {name: [row[index] for row in rows] for index, name in enumerate(names)}
    for name in rows[-1].extra if rows else ():
        columns[name] = [row.extra.get(name, math.nan) for row in rows]
        whole = all(isinstance(number, int) for number in columns[name])
        types[name] = pa.int64() if whole else pa.float64()
    return table(columns, types)
