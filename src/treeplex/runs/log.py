"""The log of a run: one row per evaluation, taken after its iteration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from treeplex.arrow import Table, Types, table
from treeplex.tensors import count_of, number_of

WHOLE = ("iteration", "nodes_touched")


class LogRow(NamedTuple):
    """How things stood after ``iteration``."""

    iteration: int
    nodes_touched: int  # histories entered so far, the measure that does not depend on the machine
    seconds: float  # wall clock since the start, evaluations included, compilation of kernels not
    evaluation_seconds: float  # of these, spent evaluating
    value: float  # player 0's, of the strategies reported
    nash_conv: float  # nan where it is not known
    exploitability: float  # nash_conv / 2
    extra: Mapping[str, float] = {}  # further columns of this kind of run

    def fields(self) -> list[Any]:
        """For JSON, which has no nan."""
        return [None if isinstance(x, float) and math.isnan(x) else x for x in self[:-1]] + [dict(self.extra)]

    @staticmethod
    def of(fields: list[Any]) -> LogRow:
        """The opposite of ``fields``, or ValueError; columns that were not known then are left out."""
        iteration, nodes, *common, extra = fields
        numbers = [math.nan if x is None else number_of(x) for x in common]
        columns: dict[str, Any] = dict(extra)
        if not all(type(x) in (int, float) for x in columns.values()):
            raise ValueError("a row of its log has columns that are not numbers")
        return LogRow(count_of(iteration), count_of(nodes), *numbers, extra=columns)


def to_table(rows: list[LogRow]) -> Table:
    """The rows as an Arrow table: common columns first, then those of this kind of run."""
    names = LogRow._fields[:-1]
    types: Types = {name: pa.int64() if name in WHOLE else pa.float64() for name in names}
    columns: dict[str, Any] = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    for name in rows[-1].extra if rows else ():
        columns[name] = [row.extra.get(name, math.nan) for row in rows]
        whole = all(isinstance(number, int) for number in columns[name])
        types[name] = pa.int64() if whole else pa.float64()
    return table(columns, types)
