"""Subgames on disk: one file that is only ever added to, so that what a checkpoint refers to stays where it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.engines.public.arrays import Nodes, Rows
from treeplex.engines.public.tree import DTYPES, Block
from treeplex.errors import FormatError, ParameterError
from treeplex.files import reason, refuse_special, replacing

FILE: Final = "archive.bin"


class StoredSpan(NamedTuple):
    """Where a subgame lies."""

    offset: int
    nodes: int
    checksum: str


class Store:
    """A file of subgames, in a folder or, without one, in a temporary one. Arrays of known types, one after another."""

    def __init__(self, folder: Path | None, hands: int) -> None:
        self._folder = folder
        self._hands = hands
        self.check: Callable[[Block], None] | None = None  # of what comes from the file of an earlier process

    @cached_property
    def _path(self) -> Path:
        if self._folder is not None:
            refuse_special(self._folder / FILE)
            return self._folder / FILE
        folder = tempfile.mkdtemp(prefix="treeplex-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / FILE

    def put(self, block: Block) -> StoredSpan:
        """Write a subgame at the end of the file."""
        content = b"".join(array.tobytes() for array in (*block.nodes, *block.rows))
        try:
            with self._path.open("ab") as file:
                offset = file.tell()
                file.write(content)
        except OSError as error:
            raise ParameterError(f"The file {self._path} cannot be written: {reason(error)}.") from error
        return StoredSpan(offset, len(block.nodes.parent), _checksum(content))

    def get(self, place: StoredSpan) -> Block:
        """Read a subgame."""
        offset, count, checksum = place
        sizes = [count * np.dtype(DTYPES[name]).itemsize for name in Nodes._fields]
        sizes += [count * self._hands * 8] * len(Rows._fields)
        try:
            with self._path.open("rb") as file:
                file.seek(offset)
                content = file.read(min(sum(sizes), self.size))  # what is asked for may be anything
        except OSError as error:
            raise FormatError(f"cannot be read ({error.strerror}).", path=str(self._path)) from error
        if _checksum(content) != checksum or len(content) != sum(sizes) or not count:
            raise FormatError("a subgame in it is damaged.", path=str(self._path))
        cuts: list[int] = np.cumsum([0, *sizes]).tolist()
        parts = [content[begin:end] for begin, end in pairwise(cuts)]
        split = len(Nodes._fields)
        named = zip(Nodes._fields, parts[:split], strict=True)
        nodes = Nodes._make(np.frombuffer(part, dtype=DTYPES[name]).copy() for name, part in named)
        rows = [np.frombuffer(part).reshape(count, self._hands).copy() for part in parts[split:]]
        block = Block(nodes, Rows(*rows))
        if self.check is not None:
            try:
                self.check(block)
            except ValueError as error:
                raise FormatError(f"a subgame in it is damaged ({error}).", path=str(self._path)) from error
        return block

    def flush(self) -> None:
        """Wait until what has been written is on the disk."""
        if self.size:
            with self._path.open("rb") as file:
                os.fsync(file.fileno())

    def content(self) -> bytes:
        """The whole file."""
        return self._path.read_bytes() if self.size else b""

    def fill(self, content: bytes) -> None:
        """Replace the whole file by what ``content`` gave elsewhere."""
        if content or self.size:
            with replacing(self._path) as temporary:
                temporary.write_bytes(content)

    def cut(self, end: int) -> None:
        """Forget what was written after a checkpoint by a process that was killed."""
        if self.size > end:
            with self._path.open("r+b") as file:
                file.truncate(end)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._path.stat().st_size if self._path.exists() else 0


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
