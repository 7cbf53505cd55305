"""The few Arrow operations treeplex uses, with types: columns of text, and tables on disk.

Labels are kept in Arrow arrays: millions of them without millions of Python strings. pyarrow's own type stubs leave
much unknown; that stays in this file.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from treeplex.arrays import Ints
from treeplex.errors import MissingExtraError
from treeplex.files import replacing

Texts = pa.StringArray
Table = pa.Table
Indices = npt.NDArray[np.integer]
Types = Mapping[str, pa.DataType]

ArrowError = pa.ArrowException

LARGEST_ROWS = 2**28
"""Of a table whose size nothing else tells."""

LARGEST_TEXT = 2**31
"""Bytes of one column of text."""


def texts(values: Iterable[str]) -> Texts:
    """A column of text."""
    return pa.array(list(values), type=pa.string())


def unpacked(column: Texts) -> list[str]:
    """The texts as Python strings."""
    return column.to_pylist()


def take(column: Texts, indices: Indices) -> Texts:
    """column[indices]."""
    return column.take(pa.array(indices))


def numerals(numbers: Indices) -> Texts:
    """Whole numbers as text."""
    return pa.array(numbers).cast(pa.string())


def joined(left: Texts, right: Texts, separator: str = "") -> Texts:
    """Each text of ``left`` before the one of ``right`` in the same place."""
    return pc.binary_join_element_wise(left, right, separator)


def stacked(columns: Sequence[Texts]) -> Texts:
    """One column after the other."""
    return pa.concat_arrays(list(columns))


def grouped(column: Texts) -> tuple[Texts, npt.NDArray[np.int32]]:
    """The distinct texts in order of first appearance, and for each place the number of its text."""
    encoded = column.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def found_at(wanted: Texts, within: Texts) -> npt.NDArray[np.int64]:
    """Where each text of ``wanted`` first stands in ``within``; -1 where it does not."""
    return pc.fill_null(pc.index_in(wanted, value_set=within), -1).to_numpy(zero_copy_only=False)


class Encoded(NamedTuple):
    """A column of text as it is stored."""

    offsets: Ints  # [n + 1]
    text: npt.NDArray[np.uint8]  # UTF-8


def encode(column: Texts) -> Encoded:
    """Offsets and bytes of a column of text."""
    _, offsets, data = column.buffers()
    if len(column) == 0 or offsets is None:
        return Encoded(np.zeros(1, dtype=np.int32), np.empty(0, dtype=np.uint8))
    bounds = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, dtype=np.uint8)
    return Encoded(bounds - bounds[0], text[bounds[0] : bounds[-1]].copy())


def decode(offsets: Ints, text: npt.NDArray[np.uint8]) -> Texts:
    """The column with these offsets and bytes; refuses (ValueError) what is not one."""
    inside = len(offsets) > 0 and offsets.dtype == np.int32 and offsets[0] == 0 and offsets[-1] == len(text)
    if not inside or np.any(np.diff(offsets) < 0):
        raise ValueError("offsets of labels do not fit their text")
    column = pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text.tobytes())
    )
    column.validate(full=True)
    return column


def table(columns: dict[str, Any], types: Types, about: dict[str, str] | None = None) -> Table:
    """A table with these columns, of ``types`` where these are named, and a few words about it."""
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, type=types.get(name))
        for name, column in columns.items()
    ]
    return pa.table(arrays, names=list(columns)).replace_schema_metadata(about)


def records(kind: type[NamedTuple], listed: Sequence[tuple[Any, ...]]) -> Table:
    """One row per record, one column per field: whole numbers, numbers or text."""
    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    types = {name: kinds[hint] for name, hint in get_type_hints(kind).items()}
    columns = list(zip(*listed, strict=True)) or [()] * len(types)
    return table(dict(zip(types, columns, strict=True)), types)


def text_bytes(column: Texts) -> int:
    """Memory the column holds."""
    return column.nbytes


def text_column(source: Table, name: str) -> Texts:
    """A column of text, in one piece."""
    return pa.concat_arrays(source[name].chunks) if source[name].num_chunks else texts([])


def numbers(source: Table, name: str) -> npt.NDArray[Any]:
    """A column of numbers."""
    return source[name].to_numpy()


def rows(source: Table) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return source.to_pylist()


def write_parquet(source: Table, path: Path) -> None:
    """Write a whole file, or none."""
    with replacing(path) as temporary:
        pq.write_table(source, temporary, compression="zstd")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a small file of ours as dictionaries."""
    return pq.read_table(path, partitioning=None).to_pylist()


def read_parquet(path: Path, types: Types, most: int | None = None) -> Table:
    """The columns named in ``types``, cast to them; ValueError if one is missing or has empty cells.

    A file of more than ``most`` rows, or whose text would take more than ``LARGEST_TEXT``, is refused before that is
    unpacked: a small file may say that one long text stands in it a billion times.
    """
    rows = pq.read_metadata(path).num_rows
    if rows > (LARGEST_ROWS if most is None else most):
        raise ValueError(f"it has {rows:,} rows, at most {LARGEST_ROWS if most is None else most:,} are possible")
    named = [name for name, kind in types.items() if kind == pa.string()]
    whole = pq.read_table(path, read_dictionary=named)
    _refuse_long_text(whole, named)
    missing = [name for name in types if name not in whole.column_names]
    if missing:
        raise ValueError(f"it has no column '{missing[0]}'")
    source = (
        whole.select(list(types)).cast(pa.schema(list(types.items()))).replace_schema_metadata(whole.schema.metadata)
    )
    source.validate(full=True)  # texts may be no UTF-8
    if any(column.null_count for column in source.columns):
        raise ValueError("some cells are empty")
    return source


def _refuse_long_text(source: Table, names: list[str]) -> None:
    for column in (source[name] for name in names if name in source.column_names):
        chunks: list[Any] = list(column.chunks) if pa.types.is_dictionary(column.type) else []
        for chunk in chunks:
            lengths = pc.fill_null(pc.binary_length(chunk.dictionary), 0).to_numpy(zero_copy_only=False)
            used = pc.fill_null(chunk.indices, 0).to_numpy(zero_copy_only=False)
            if len(lengths) and int(lengths.astype(np.int64)[used].sum()) > LARGEST_TEXT:
                raise ValueError("its labels would take more than 2 GiB")


def frame(source: Table) -> Any:
    """The table as a pandas data frame."""
    try:
        import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "A data frame") from None
    return source.to_pandas()


def zstd(data: bytes) -> bytes:
    """Compressed by zstd."""
    return pa.compress(data, codec="zstd", asbytes=True)


def about(source: Table) -> dict[str, str]:
    """The words stored with a table."""
    return {key.decode(): value.decode() for key, value in (source.schema.metadata or {}).items()}
