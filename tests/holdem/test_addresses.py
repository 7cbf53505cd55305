"""Arrays handed to kernels by address: what is not as kernels take it is refused, and little is compiled."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from treeplex import solve
from treeplex.engines.boards.arrays import BoardIndex, Results
from treeplex.engines.boards.cpu.addresses import COLUMNS, FIRST, KINDS, ROWS, new_table, write_row
from treeplex.engines.boards.cpu.passes import run_passes
from treeplex.holdem import Spot, sizes_for

SMALL = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KQs", "QQ,AKs", sizes_for("50%,a", "a"))


def index(**changed) -> BoardIndex:
    offsets = np.arange(3)
    return BoardIndex(offsets, offsets, offsets, np.zeros((4, 2), np.uint16), offsets)._replace(**changed)


def test_every_array_has_a_type_and_every_tuple_its_rows():
    assert all(len(kinds) == len(named._fields) for named, kinds in KINDS.items())
    assert len(ROWS) == len(KINDS) == len(FIRST)
    assert new_table().shape == (sum(ROWS), COLUMNS)


def test_a_row_holds_addresses_and_shapes():
    table, arrays = new_table(), index()
    write_row(table, 1, arrays, np.float32)
    row = table[FIRST[BoardIndex] + 1]
    assert row[:15].reshape(5, 3).tolist() == [
        *([array.ctypes.data, 3, 0] for array in arrays[:3]),
        [arrays.group.ctypes.data, 4, 2],
        [arrays.texture.ctypes.data, 3, 0],
    ]
    assert np.count_nonzero(table) == 11


@pytest.mark.parametrize(
    "changed",
    [
        {"image": np.arange(3, dtype=np.int32)},
        {"image": np.zeros((3, 1), np.int64)},
        {"image": np.arange(6)[::2]},
        {"image": np.arange(3, dtype=">i8")},
        {"group": np.zeros((4, 2), np.uint16).T},
    ],
)
def test_other_arrays_are_refused(changed):
    with pytest.raises(TypeError, match=next(iter(changed))):
        write_row(new_table(), 0, index(**changed), np.float32)


def test_what_is_written_to_must_be_writeable():
    row = np.zeros(3, np.float32)
    table = np.zeros((1, 3), np.float32)
    whole, pairs = np.zeros(3, np.int64), np.zeros((0, 5), np.int64)
    shared = (pairs, table, table, table, np.zeros((0, 3), np.bool_), pairs, np.zeros(2), whole, whole, whole)
    results = Results(table, np.zeros((1, 3)), row, row.copy(), *shared)
    write_row(new_table(), 0, results, np.float32)
    row.flags.writeable = False
    with pytest.raises(TypeError, match="writeable"):
        write_row(new_table(), 0, results, np.float32)


@pytest.mark.parametrize("storage", ["float32", "int16"])
def test_kernels_are_compiled_once_for_solving_evaluating_and_viewing(storage):
    known = set(run_passes.signatures)
    answer = solve(SMALL, iterations=3, storage=storage)
    answer.at("")
    answer.at("check", player="oop")
    first = set(run_passes.signatures)
    assert len(first - known) <= 1
    solve(SMALL, "cfr+", iterations=3, storage=storage, threads=2).at("")
    assert set(run_passes.signatures) == first


@pytest.mark.parametrize("name", ["boards", "game", "hands", "locks", "strength", "streets", "trees"])
def test_loading_a_spot_compiles_nothing(name):
    module = importlib.import_module(f"treeplex.engines.boards.{name}")
    assert not [name for name, value in vars(module).items() if isinstance(value, Dispatcher)]
