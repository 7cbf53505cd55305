"""Typed wrappers of the few Arrow operations that treeplex uses: columns of text, and tables on disk.

Labels are stored in Arrow arrays, so that millions of them do not become millions of Python strings. The type stubs
of pyarrow leave much unknown, and only this file has to deal with that.
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
"""Largest number of rows of a table if the caller does not know its size."""

LARGEST_TEXT = 2**31
"""Largest number of bytes of one column of text."""

LEAST_ROWS, ROWS_PER_BYTE = 2**16, 64
"""Rows that a file of any size may have, and rows per byte of a larger one. Half a row per byte is usual."""

BATCH = 2**16
"""Number of rows unpacked at a time."""


def texts(values: Iterable[str]) -> Texts:
    """Build a column of text."""
    return pa.array(list(values), type=pa.string())


def unpacked(column: Texts) -> list[str]:
    """Return the texts as Python strings."""
    return column.to_pylist()


def take(column: Texts, indices: Indices) -> Texts:
    """Return the texts at ``indices``."""
    return column.take(pa.array(indices))


def numerals(numbers: Indices) -> Texts:
    """Convert whole numbers to text."""
    return pa.array(numbers).cast(pa.string())


def joined(left: Texts, right: Texts, separator: str = "") -> Texts:
    """Concatenate the texts of ``left`` and ``right`` pair by pair."""
    return pc.binary_join_element_wise(left, right, separator)


def stacked(columns: Sequence[Texts]) -> Texts:
    """Concatenate columns, one after the other."""
    return pa.concat_arrays(list(columns))


def grouped(column: Texts) -> tuple[Texts, npt.NDArray[np.int32]]:
    """The distinct texts in order of first appearance, and for each row the number of its text."""
    encoded = column.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def first_indices(sought: Texts, within: Texts) -> npt.NDArray[np.int64]:
    """Index in ``within`` of the first occurrence of each text of ``sought``; -1 if there is none."""
    return pc.fill_null(pc.index_in(sought, value_set=within), -1).to_numpy(zero_copy_only=False)


class Encoded(NamedTuple):
    """A column of text as it is stored."""

    offsets: Ints  # [n + 1]
    text: npt.NDArray[np.uint8]  # UTF-8


def encode(column: Texts) -> Encoded:
    """Return the offsets and bytes of a column of text."""
    _, offsets, data = column.buffers()
    if len(column) == 0 or offsets is None:
        return Encoded(np.zeros(1, dtype=np.int32), np.empty(0, dtype=np.uint8))
    bounds = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, dtype=np.uint8)
    return Encoded(bounds - bounds[0], text[bounds[0] : bounds[-1]].copy())


def decode(offsets: Ints, text: npt.NDArray[np.uint8]) -> Texts:
    """Return the column with these offsets and bytes; raise ValueError if they are not one."""
    inside = len(offsets) > 0 and offsets.dtype == np.int32 and offsets[0] == 0 and offsets[-1] == len(text)
    if not inside or np.any(np.diff(offsets) < 0):
        raise ValueError("offsets of labels do not fit their text")
    column = pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text.tobytes())
    )
    column.validate(full=True)
    return column


def table(columns: dict[str, Any], types: Types, about: dict[str, str] | None = None) -> Table:
    """Build a table of columns, cast to ``types`` where these name them, with the metadata ``about``."""
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
    """Bytes of memory that the column uses."""
    return column.nbytes


def text_column(source: Table, name: str) -> Texts:
    """Return a column of text as one array."""
    return pa.concat_arrays(source[name].chunks) if source[name].num_chunks else texts([])


def numbers(source: Table, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers."""
    return source[name].to_numpy()


def rows(source: Table) -> list[dict[str, Any]]:
    """Return the rows as dictionaries."""
    return source.to_pylist()


def write_parquet(source: Table, path: Path) -> None:
    """Write a table to a file, either completely or not at all."""
    with replacing(path) as temporary:
        pq.write_table(source, temporary, compression="zstd")


def read_row(path: Path, kind: type[NamedTuple]) -> dict[str, Any]:
    """Read the single row of a file written from one of ``records``, as a dictionary.

    Raises ValueError if the file is not one of these.
    """
    (row,) = _read(path, _types(kind), 1).to_pylist()
    return row


def read_parquet(path: Path, types: Types, most: int | None = None) -> Table:
    """Read the columns named in ``types``, cast to them; raise ValueError if one is missing or has empty cells.

    A file is rejected before it is unpacked if it has more than ``most`` rows (by default ``ROWS_PER_BYTE`` per byte of
    the file), or text of more than ``LARGEST_TEXT`` bytes. A small file may claim a billion copies of one long text.
    """
    whole = _read(path, types, most)
    source = whole.cast(pa.schema(list(types.items()))).replace_schema_metadata(whole.schema.metadata)
    source.validate(full=True)  # texts may not be UTF-8
    if any(column.null_count for column in source.columns):
        raise ValueError("some cells are empty")
    return source


def _read(path: Path, types: Types, most: int | None) -> Table:
    """Read these columns batch by batch, at most as many rows as the header states.

    Texts stay dictionary-encoded, each stored once. Only safe fields of the header are read: in a damaged file, reading
    the details of columns may crash the interpreter.
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
            raise ValueError(f"it has {rows:,} rows, but at most {limit:,} are possible")
        if any(not 0 <= group.total_byte_size <= LARGEST_TEXT for group in groups):
            raise ValueError("it would take more than 2 GiB")
        batches, read, text = list[Any](), 0, 0
        for batch in file.iter_batches(BATCH, columns=list(types), use_threads=False):
            read, text = read + batch.num_rows, text + max((_length(batch.column(name)) for name in named), default=0)
            if read > rows:
                raise ValueError(f"it has more rows than the {rows:,} that its header states")
            if text > LARGEST_TEXT:
                raise ValueError("its labels would take more than 2 GiB")
            batches.append(batch)
        return pa.Table.from_batches(batches, pa.schema([schema.field(name) for name in types], schema.metadata))


def _refuse_types(schema: pa.Schema, types: Types) -> None:
    """Raise ValueError unless every column exists exactly once and holds texts or numbers as required."""
    for name, kind in types.items():
        if schema.names.count(name) != 1:
            raise ValueError(f"it has no column '{name}'" if name not in schema.names else f"it has two '{name}'")
        dtype = schema.field(name).type
        text = any(is_text(dtype) for is_text in (pa.types.is_dictionary, pa.types.is_string, pa.types.is_binary))
        number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
        if not (text if kind == pa.string() else number):
            raise ValueError(f"its column '{name}' is of type {dtype!s:.40}")


def _length(column: Any) -> int:
    """Bytes of the texts of a column after unpacking."""
    if not pa.types.is_dictionary(column.type):
        return column.nbytes
    lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).to_numpy(zero_copy_only=False)
    used = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
    return int(lengths.astype(np.int64)[used].sum()) if len(lengths) else 0


def frame(source: Table) -> Any:
    """Convert the table to a pandas data frame."""
    try:
        import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "A data frame") from None
    return source.to_pandas()


def zstd(data: bytes) -> bytes:
    """Compress bytes with zstd."""
    return pa.compress(data, codec="zstd", asbytes=True)


def about(source: Table) -> dict[str, str]:
    """Return the metadata stored with a table."""
    return {key.decode(): value.decode() for key, value in (source.schema.metadata or {}).items()}
