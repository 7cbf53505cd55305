"""The block operator read back from a file: its arrays checked before any kernel trusts them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.compile.blocks import BlockRows, Blocks, RankedBlocks, RankedRows
from treeplex.tensors import Tensors

DIMENSIONS = {"tables": 3, "sequence": 2, "other": 2}
NUMBERS = ("amount", "tables")


def load_blocks(form: str, tensors: Tensors) -> Blocks | RankedBlocks:
    """The operator of this form; KeyError or ValueError if it is not whole."""

    def arrays(side: str, fields: tuple[str, ...]) -> list[npt.NDArray[Any]]:
        return [_typed(tensors, f"blocks.{side}.{field}", field) for field in fields]

    if form == "Blocks":
        rows, columns = (BlockRows(*arrays(side, BlockRows._fields)) for side in ("rows", "columns"))
        return Blocks(rows, columns)
    if form == "RankedBlocks":
        first, second = (RankedRows(*arrays(side, RankedRows._fields)) for side in ("rows", "columns"))
        return RankedBlocks(first, second)
    raise ValueError(f"there is no form of payoffs {form!r}")


def check_blocks(blocks: Blocks | RankedBlocks, sequences: list[int]) -> None:
    """ValueError if an index points outside."""
    for side, own, other in ((blocks.rows, *sequences), (blocks.columns, *sequences[::-1])):
        start = side.start.astype(np.int64)
        height, width = side.sequence.shape
        entries = len(side.amount)
        whole = len(start) == height + 1 and start[0] == 0 and start[-1] == entries and not np.any(np.diff(start) < 0)
        if not whole or len(side.column) != entries or not np.isfinite(side.amount).all():
            raise ValueError("the payoff blocks have another shape")
        _within(side.column, 0, len(side.other))
        _within(side.sequence, -1, own)
        _within(side.other, -1, other)
        if isinstance(side, BlockRows):
            shape = (side.other.shape[1], width)
            if len(side.table) != entries or side.tables.shape[1:] != shape or not np.isfinite(side.tables).all():
                raise ValueError("the payoff tables have another shape")
            _within(side.table, 0, len(side.tables))
        elif (
            len(side.showdown) != entries
            or width != side.other.shape[1]
            or min(side.sequence.min(), side.other.min()) < 0
        ):
            raise ValueError("the payoff blocks have another shape")


def _typed(tensors: Tensors, name: str, field: str) -> npt.NDArray[Any]:
    array, kind = tensors[name], np.float64 if field in NUMBERS else np.int32
    if array.ndim != DIMENSIONS.get(field, 1) or array.dtype != kind or 0 in array.shape:
        raise ValueError(f"{name} is {array.dtype}{list(array.shape)}")
    return array


def _within(values: npt.NDArray[np.integer], low: int, high: int) -> None:
    if len(values) and (int(values.min()) < low or int(values.max()) >= high):
        raise ValueError("payoff blocks point outside the game")
