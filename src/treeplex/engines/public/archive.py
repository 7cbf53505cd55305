"""Subgames that nobody reaches go to disk, and come back to the same bits before anybody does (section 6).

Where every player's reach is zero, no regret and no average below changes; so a subgame can be put aside as it is.
They lie in one file that is only ever added to, so that what a checkpoint refers to stays where it was.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import ARCHIVED, Nodes, Rows, Scratch
from treeplex.engines.public.cpu.sizes import regrets
from treeplex.engines.public.tree import DTYPES, Block, GrowingTree, reached_by_both
from treeplex.errors import FormatError, ParameterError
from treeplex.files import reason, refuse_special, replacing

FILE: Final = "archive.bin"
SMALLEST: Final = 4  # public nodes: less does not pay


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


class PerPlayer(NamedTuple):
    """A number of each player."""

    first: float
    second: float


class ArchivedSubgame(NamedTuple):
    """A subgame on disk."""

    node: int  # its root, which stays in memory
    place: StoredSpan
    histories: int
    largest: PerPlayer  # each player's sum of largest positive regrets
    squares: PerPlayer  # and of squared ones


class Archive:
    """What is on disk."""

    def __init__(self, folder: Path | None, hands: int) -> None:
        self.store = Store(folder, hands)
        self.entries: list[ArchivedSubgame] = []
        self.nodes: Ints = np.empty(0, dtype=np.int32)

    @property
    def histories(self) -> int:
        """How many are on disk."""
        return sum(entry.histories for entry in self.entries)

    def histories_by_node(self, count: int) -> Floats:
        """[count] how many are on disk, at the nodes they hang from."""
        out = np.zeros(count)
        out[self.nodes] = [entry.histories for entry in self.entries]
        return out

    def sums(self) -> tuple[Floats, Floats]:
        """[2] both players' sums of largest and of squared positive regrets, of what is on disk."""
        largest = np.array([entry.largest for entry in self.entries]).reshape(-1, 2).sum(axis=0)
        squares = np.array([entry.squares for entry in self.entries]).reshape(-1, 2).sum(axis=0)
        return largest, squares

    def check(self, tree: GrowingTree, horizon: int) -> int:
        """Move to disk what nobody has reached for ``horizon`` checks in a row; returns how many subgames."""
        nodes = tree.nodes
        dead = ~reached_by_both(nodes, tree.rows.strategy).any(axis=(0, 2))
        nodes.idle[:] = np.where(dead, nodes.idle + 1, 0)
        ripe = nodes.idle >= horizon
        tops: list[int] = np.flatnonzero(ripe & (nodes.child >= 0) & ~ripe[nodes.parent]).tolist()
        below = {root: tree.subtree(root) for root in tops}
        found = [root for root in tops if len(below[root]) >= SMALLEST]
        if not found:
            return 0
        inside = {int(n) for root in found for n in below[root]}
        self._bring_back(tree, [entry for entry in self.entries if entry.node in inside])  # nothing inside on disk
        try:
            self.entries += [self._put(tree, root) for root in found]
        except ParameterError:  # the disk is full: they stay in memory
            return 0
        self.renumber(tree.prune(found, ARCHIVED))
        return len(found)

    def bring_back_reached(self, tree: GrowingTree, scratch: Scratch) -> None:
        """Bring back every subgame that somebody reaches now."""
        self._bring_back(tree, [entry for entry in self.entries if scratch.reach[:, entry.node].any()])

    def bring_back_below(self, tree: GrowingTree, root: int) -> None:
        """Bring back whatever lies below a node."""
        if self.entries:
            below = set(tree.subtree(root).tolist())
            self._bring_back(tree, [entry for entry in self.entries if entry.node in below])

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Every subgame on disk, one at a time, with its node."""
        for entry in self.entries:
            yield entry.node, self.store.get(entry.place)

    def renumber(self, place: Ints | None = None) -> None:
        """Follow the nodes of a tree to new numbers."""
        if place is not None:
            self.entries = [entry._replace(node=int(place[entry.node])) for entry in self.entries]
        self.nodes = np.array([entry.node for entry in self.entries], dtype=np.int32)

    def _put(self, tree: GrowingTree, root: int) -> ArchivedSubgame:
        block = tree.copy_out(root)
        largest, squares = np.zeros(2), np.zeros(2)
        regrets(block.nodes, block.rows.regret, largest, squares)
        histories = int(block.nodes.deals[1:].sum())
        sums = (PerPlayer(*pair.tolist()) for pair in (largest, squares))
        return ArchivedSubgame(root, self.store.put(block), histories, *sums)

    def _bring_back(self, tree: GrowingTree, entries: list[ArchivedSubgame]) -> None:
        for entry in entries:
            tree.hang(self.store.get(entry.place), entry.node)
            self.entries.remove(entry)
        self.renumber()


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
