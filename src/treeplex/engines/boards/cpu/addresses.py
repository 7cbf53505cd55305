"""Arrays passed to kernels by address: one table of integers instead of two hundred arrays.

Numba unpacks every array into seven numbers wherever it is passed on. With all arrays of a subgame as arguments it
compiles for half a minute. It also counts references to arrays, and threads contend for these counters. So a subgame is
a table with one row per NamedTuple of ``boards.arrays``, and three numbers per array: address, length, columns.
Functions that work on numbers read the rows they need (``betting_at`` and so on). Their callers pass on the table.

A table does not keep its arrays alive; the code that creates it must. ``write_row`` checks their types and shapes.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.np.arrayobj import populate_array

from treeplex.engines.boards.arrays import (
    Betting,
    BoardIndex,
    Hands,
    Offsets,
    PlayerArrays,
    Results,
    RuleCalls,
    Schedules,
    StreetScratch,
)
from treeplex.kernels.jit import instruction

LEVELS: Final = 3
WORDS: Final = 3  # per array: address, length, columns
COLUMNS: Final = WORDS * max(
    len(named._fields) for named in (Betting, BoardIndex, Hands, PlayerArrays, Results, StreetScratch)
)

WORK, STORED = "work", "stored"
"""Types that a table is built for: one of computations, one of regrets and averages."""

_I2, _I1, _F2, _F1, _L2, _L1 = (
    ("int32", 2), ("int32", 1), ("float64", 2), ("float64", 1), ("int64", 2), ("int64", 1)
)  # fmt: skip
_SMALL, _CARD, _BIT, _SCALE = ("uint16", 1), ("uint8", 1), ("bool", 1), ("float32", 1)
_W1, _S1 = (WORK, 1), (STORED, 1)

Row = Betting | BoardIndex | Hands | PlayerArrays | Results | RuleCalls | Schedules | StreetScratch

KINDS: Final[dict[type[Row], tuple[tuple[str, int], ...]]] = {
    Betting: (_I2, _I2, _I2, _I2, _I1, (WORK, 2), _I2),
    Hands: (_L1, _I1, _SMALL, _CARD, _CARD, _SMALL, _L1, _L1, _L1, _SMALL, _SMALL, _L1),
    BoardIndex: (_L1, _L1, _L1, ("uint16", 2), _L1),
    StreetScratch: (*(10 * (_W1,)), _BIT, _L1, _L2, _L2, (WORK, 2)),
    PlayerArrays: (_S1, _S1, _S1, _I1, _SCALE, _SCALE, _S1, _L1, _S1, _W1),
    Results: ((WORK, 2), _F2, _W1, _W1, _L2, (WORK, 2), (WORK, 2), (WORK, 2), ("bool", 2), _L2, _F1, _L1, _L1, _L1),
    Schedules: (_F1, _F1, _F1),
    RuleCalls: (_L1, _F2, _L1, _L1, _F1),
}
"""Type and dimensions of the arrays of each NamedTuple."""

WRITTEN: Final = (StreetScratch, PlayerArrays, Results, RuleCalls)
READ: Final = ("source", "where", "locked", "start", "part", "passes", "rule", "chosen", "code", "constants")
"""NamedTuples that kernels write to, and names of their arrays that kernels only read."""

ROWS: Final = (2 * LEVELS, 2 * LEVELS, LEVELS, LEVELS, 2, 1, 1, 1)
"""Number of rows of each NamedTuple, in the order of ``KINDS``."""

FIRST: Final = dict(zip(KINDS, np.cumsum((0, *ROWS)).tolist(), strict=False))
"""First row of each NamedTuple in a table."""


def new_table() -> Offsets:
    """Return a table without arrays."""
    return np.zeros((sum(ROWS), COLUMNS), dtype=np.int64)


def write_row(table: Offsets, row: int, arrays: Row, work: npt.DTypeLike, stored: npt.DTypeLike | None = None) -> None:
    """Write addresses and shapes of a NamedTuple's arrays into ``table``, at ``row`` from its first row."""
    names, kind_of = {WORK: work, STORED: stored}, type(arrays)
    words: list[int] = []
    for name, array, (kind, dimensions) in zip(arrays._fields, arrays, KINDS[kind_of], strict=True):
        expected, flags = np.dtype(names.get(kind, kind)), array.flags
        writes = kind_of in WRITTEN and name not in READ
        if array.dtype != expected or array.ndim != dimensions or not flags.c_contiguous or flags.writeable < writes:
            raise TypeError(
                f"{kind_of.__name__}.{name} must be {expected}, with {dimensions} dimensions, contiguous"
                f"{' and writeable' if writes else ''}; got {array.dtype}{array.shape}, strides {array.strides}."
            )
        words += [array.ctypes.data, *array.shape, *([0] * (WORDS - 1 - dimensions))]
    table[FIRST[kind_of] + row, : len(words)] = words


def _reader(named: type[Row]) -> Callable[..., Any]:
    """Return an instruction that reads a row of a table as arrays of ``named``, without reference counts."""

    def read(typingctx, tables, row):
        element = {WORK: tables.types[1].dtype, STORED: tables.types[2].dtype}
        kinds = [
            types.Array(element.get(kind) or getattr(types, "boolean" if kind == "bool" else kind), dimensions, "C")
            for kind, dimensions in KINDS[named]
        ]

        def codegen(context, builder, signature, arguments):
            word = ir.IntType(64)
            table = context.make_array(signature.args[0].types[0])(
                context, builder, builder.extract_value(arguments[0], 0)
            )
            at = context.cast(builder, arguments[1], signature.args[1], types.int64)
            first = builder.mul(builder.add(at, word(FIRST[named])), word(COLUMNS))
            members = []
            for k, kind in enumerate(kinds):
                words = [
                    builder.gep(table.data, [builder.add(first, word(WORDS * k + j))], source_etype=word)
                    for j in range(1 + kind.ndim)
                ]
                pointer = context.get_data_type(kind.dtype).as_pointer()
                data = builder.load(builder.bitcast(words[0], pointer.as_pointer()), typ=pointer)
                shape = [builder.load(address, typ=word) for address in words[1:]]
                size = word(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
                strides = [size] if kind.ndim == 1 else [builder.mul(size, shape[1]), size]
                array = context.make_array(kind)(context, builder)
                populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
                members.append(array._getvalue())
            return context.make_tuple(builder, signature.return_type, members)

        result: Any = types.BaseTuple.from_types(kinds, named)
        return result(tables, row), codegen

    return instruction(read)


betting_at = _reader(Betting)
hands_at = _reader(Hands)
boards_at = _reader(BoardIndex)
scratch_at = _reader(StreetScratch)
player_at = _reader(PlayerArrays)
results_at = _reader(Results)
schedules_at = _reader(Schedules)
calls_at = _reader(RuleCalls)
