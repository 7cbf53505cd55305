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

LEAST_ROWS, ROWS_PER_BYTE = 2**16, 64
"""Of a file of so many bytes: half a row for each is usual, since labels differ."""

BATCH = 2**16
"""Rows that are unpacked at a time."""


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


def first_indices(sought: Texts, within: Texts) -> npt.NDArray[np.int64]:
    """Where each text of ``sought`` first stands in ``within``; -1 where it does not."""
    return pc.fill_null(pc.index_in(sought, value_set=within), -1).to_numpy(zero_copy_only=False)


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
    types = _types(kind)
    columns = list(zip(*listed, strict=True)) or [()] * len(types)
    return table(dict(zip(types, columns, strict=True)), types)


def _types(kind: type[NamedTuple]) -> dict[str, pa.DataType]:
    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    return {name: kinds[hint] for name, hint in get_type_hints(kind).items()}


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


def read_row(path: Path, kind: type[NamedTuple]) -> dict[str, Any]:
    """The row of a file that ``records`` made of one record, as a dictionary; ValueError if it is another file."""
    (found,) = _read(path, _types(kind), 1).to_pylist()
    return found


def read_parquet(path: Path, types: Types, most: int | None = None) -> Table:
    """The columns named in ``types``, cast to them; ValueError if one is missing or has empty cells.

    Nothing is unpacked that has more than ``most`` rows (if nobody knows: ``ROWS_PER_BYTE`` for each byte of the file),
    or text of more than ``LARGEST_TEXT`` bytes: a small file may say that one long text stands in it a billion times.
    """
    whole = _read(path, types, most)
    source = whole.cast(pa.schema(list(types.items()))).replace_schema_metadata(whole.schema.metadata)
    source.validate(full=True)  # texts may be no UTF-8
    if any(column.null_count for column in source.columns):
        raise ValueError("some cells are empty")
    return source


def _read(path: Path, types: Types, most: int | None) -> Table:
    """These columns, a batch at a time and no more of them than the head says; texts as they are stored, each once.

    Only what is safe is asked of the head: of a damaged one, details of columns may end the interpreter.
    """
    with pq.ParquetFile(path) as file:
        _refuse_types(file.schema_arrow, types)
    named = [name for name, kind in types.items() if kind == pa.string()]
    with pq.ParquetFile(path, read_dictionary=named) as file:
        head, schema = file.metadata, file.schema_arrow
        groups = [head.row_group(i) for i in range(head.num_row_groups)]
        rows = head.num_rows
        limit = most if most is not None else min(LARGEST_ROWS, max(LEAST_ROWS, ROWS_PER_BYTE * path.stat().st_size))
        if not 0 <= rows <= limit or sum(group.num_rows for group in groups) != rows:
            raise ValueError(f"it has {rows:,} rows, at most {limit:,} are possible")
        if any(not 0 <= group.total_byte_size <= LARGEST_TEXT for group in groups):
            raise ValueError("it would take more than 2 GiB")
        batches, read, text = list[Any](), 0, 0
        for batch in file.iter_batches(BATCH, columns=list(types), use_threads=False):
            read, text = read + batch.num_rows, text + max((_length(batch.column(name)) for name in named), default=0)
            if read > rows:
                raise ValueError(f"it has more rows than the {rows:,} it says")
            if text > LARGEST_TEXT:
                raise ValueError("its labels would take more than 2 GiB")
            batches.append(batch)
        return pa.Table.from_batches(batches, pa.schema([schema.field(name) for name in types], schema.metadata))


def _refuse_types(schema: pa.Schema, types: Types) -> None:
    """ValueError unless every column is there once, with texts or numbers as it should."""
    for name, kind in types.items():
        if schema.names.count(name) != 1:
            raise ValueError(f"it has no column '{name}'" if name not in schema.names else f"it has two '{name}'")
        found = schema.field(name).type
        text = any(is_text(found) for is_text in (pa.types.is_dictionary, pa.types.is_string, pa.types.is_binary))
        number = pa.types.is_integer(found) or pa.types.is_floating(found)
        if not (text if kind == pa.string() else number):
            raise ValueError(f"its column '{name}' is of type {found!s:.40}")


def _length(column: Any) -> int:
    """Bytes of the texts of a column, unpacked."""
    if not pa.types.is_dictionary(column.type):
        return column.nbytes
    lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).to_numpy(zero_copy_only=False)
    used = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
    return int(lengths.astype(np.int64)[used].sum()) if len(lengths) else 0


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
