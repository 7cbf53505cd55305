"""The log of a run: one row a checkpoint, written after its iteration."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from treeplex.arrow import Table, Types, table


class LogRow(NamedTuple):
    """How things stood after ``iteration``."""

    iteration: int
    nodes_touched: int  # histories entered so far, the measure that does not depend on the machine
    seconds: float  # wall clock since the start, evaluations included
    evaluation_seconds: float  # of these, spent measuring
    value: float  # player 0's, of the strategies reported
    nash_conv: float
    exploitability: float  # nash_conv / 2


TYPES: Types = {name: pa.int64() if name in ("iteration", "nodes_touched") else pa.float64() for name in LogRow._fields}


def to_table(rows: list[LogRow]) -> Table:
    """The rows as an Arrow table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(TYPES)
    return table(dict(zip(TYPES, columns, strict=True)), TYPES)
