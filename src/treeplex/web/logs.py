"""The log of a run, from its table or, during the run, from its checkpoint, of which only the head is read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from treeplex.arrow import ArrowError, numbers, read_parquet
from treeplex.runs.log import WHOLE, LogRow, read_rows

LONGEST: Final = 2**24  # bytes of the head of a checkpoint, and of a log

MOST: Final = 100_000  # rows of a log
READ: Final = ("iteration", "nodes_touched", "seconds", "nash_conv")
TYPES: Final = {name: pa.int64() if name in WHOLE else pa.float64() for name in READ}

Columns = dict[str, list[Any] | None]


def log_of(folder: Path, pot: float | None, job_rows: Sequence[Sequence[Any]] = ()) -> Columns:
    """Return the longest log: of the last answer's table, the checkpoint, or the job's progress."""
    rows, news = rows_of(folder), [_of_job(row) for row in job_rows]
    if news and (not rows or news[-1].iteration > rows[-1].iteration):
        rows = news
    return {
        "iteration": [row.iteration for row in rows],
        "nodes": [row.nodes_touched for row in rows],
        "seconds": [row.seconds for row in rows],
        "nash_conv": [_known(row.nash_conv) for row in rows],
        "percent_of_pot": None if pot is None else [_known(percent_of(row.nash_conv, pot)) for row in rows],
    }


def rows_of(folder: Path) -> list[LogRow]:
    """Return the rows of a run so far; none if they cannot be read."""
    checkpoint, table = rows_of_checkpoint(folder / "checkpoint.safetensors"), _rows_of_table(folder / "log.parquet")
    if not checkpoint or not table:
        return checkpoint or table
    return table if table[-1].iteration >= checkpoint[-1].iteration else checkpoint


def percent_of(nash_conv: float, pot: float) -> float:
    """Return exploitability, half of NashConv, in per cent of the pot."""
    return 50.0 * nash_conv / pot


def about_checkpoint(path: Path) -> dict[str, Any]:
    """Return the metadata in the head of a checkpoint; empty if it is missing or incomplete."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header: Any = json.loads(file.read(size)) if size <= LONGEST else {}
        return json.loads(header["__metadata__"]["about"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def rows_of_checkpoint(path: Path) -> list[LogRow]:
    """Return the rows in the head of a checkpoint; none if they cannot be read."""
    try:
        return read_rows(about_checkpoint(path))
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return []


def _rows_of_table(path: Path) -> list[LogRow]:
    if not path.is_file() or path.stat().st_size > LONGEST:
        return []
    try:
        table = read_parquet(path, TYPES, MOST)
        columns = [numbers(table, name).tolist() for name in TYPES]
    except (OSError, ValueError, TypeError, ArrowError):
        return []
    return [_row(*values) for values in zip(*columns, strict=True)]


def _of_job(row: Sequence[Any]) -> LogRow:
    iteration, seconds, nash_conv, nodes = row
    return _row(iteration, nodes, seconds, math.nan if nash_conv is None else nash_conv)


def _row(iteration: float, nodes: float, seconds: float, nash_conv: float) -> LogRow:
    return LogRow(int(iteration), int(nodes), seconds, 0.0, math.nan, nash_conv, math.nan)


def _known(number: float) -> float | None:
    return number if math.isfinite(number) else None
