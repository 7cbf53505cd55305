"""Archive of subgames that no player reaches: on disk until a player reaches them again (section 6).

If every player's reach is zero, no regret and no average below changes, so a subgame can be stored as it is and comes
back with the same bits. All subgames are in one file. It only grows, so that offsets in checkpoints stay valid.
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
SMALLEST: Final = 4  # public nodes; storing fewer does not pay


class StoredSpan(NamedTuple):
    """Position and checksum of a subgame in the file."""

    offset: int
    nodes: int
    checksum: str


class Store:
    """A file of subgames, in ``folder`` or in a temporary one. Arrays of known types follow one another."""

    def __init__(self, folder: Path | None, hands: int) -> None:
        self._folder = folder
        self._hands = hands
        self.check: Callable[[Block], None] | None = None  # validates blocks from the file of an earlier process

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

    def get(self, span: StoredSpan) -> Block:
        """Read a subgame from the file."""
        offset, count, checksum = span
        sizes = [count * np.dtype(DTYPES[name]).itemsize for name in Nodes._fields]
        sizes += [count * self._hands * 8] * len(Rows._fields)
        try:
            with self._path.open("rb") as file:
                file.seek(offset)
                content = file.read(min(sum(sizes), self.size))  # a damaged span may request any number of bytes
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
        """Wait until everything written is on disk."""
        if self.size:
            with self._path.open("rb") as file:
                os.fsync(file.fileno())

    def content(self) -> bytes:
        """Return the content of the whole file."""
        return self._path.read_bytes() if self.size else b""

    def fill(self, content: bytes) -> None:
        """Replace the whole file by ``content`` of another store."""
        if content or self.size:
            with replacing(self._path) as temporary:
                temporary.write_bytes(content)

    def cut(self, end: int) -> None:
        """Truncate the file to ``end``: a killed process may have written more after its last checkpoint."""
        if self.size > end:
            with self._path.open("r+b") as file:
                file.truncate(end)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._path.stat().st_size if self._path.exists() else 0


class PerPlayer(NamedTuple):
    """A number for each player."""

    first: float
    second: float


class ArchivedSubgame(NamedTuple):
    """A subgame on disk, and its sums of regrets."""

    node: int  # its root, which stays in memory
    place: StoredSpan
    histories: int
    largest: PerPlayer  # each player's sum of largest positive regrets
    squares: PerPlayer  # each player's sum of squared positive regrets


class Archive:
    """All subgames on disk, with their nodes."""

    def __init__(self, folder: Path | None, hands: int) -> None:
        self.store = Store(folder, hands)
        self.entries: list[ArchivedSubgame] = []
        self.nodes: Ints = np.empty(0, dtype=np.int32)

    @property
    def histories(self) -> int:
        """Number of histories on disk."""
        return sum(entry.histories for entry in self.entries)

    def histories_by_node(self, count: int) -> Floats:
        """Return [count], the number of histories on disk, at the nodes that are their roots."""
        out = np.zeros(count)
        out[self.nodes] = [entry.histories for entry in self.entries]
        return out

    def sums(self) -> tuple[Floats, Floats]:
        """Return, both [2], the players' sums of largest and of squared positive regrets of subgames on disk."""
        largest = np.array([entry.largest for entry in self.entries]).reshape(-1, 2).sum(axis=0)
        squares = np.array([entry.squares for entry in self.entries]).reshape(-1, 2).sum(axis=0)
        return largest, squares

    def check(self, tree: GrowingTree, horizon: int) -> int:
        """Move subgames to disk that no player has reached at ``horizon`` checks in a row; return their number."""
        nodes = tree.nodes
        dead = ~reached_by_both(nodes, tree.rows.strategy).any(axis=(0, 2))
        nodes.idle[:] = np.where(dead, nodes.idle + 1, 0)
        ripe = nodes.idle >= horizon
        tops: list[int] = np.flatnonzero(ripe & (nodes.child >= 0) & ~ripe[nodes.parent]).tolist()
        below = {root: tree.subtree(root) for root in tops}
        roots = [root for root in tops if len(below[root]) >= SMALLEST]
        if not roots:
            return 0
        inside = {int(n) for root in roots for n in below[root]}
        self._bring_back(
            tree, [entry for entry in self.entries if entry.node in inside]
        )  # no subgame on disk inside another
        try:
            self.entries += [self._put(tree, root) for root in roots]
        except ParameterError:  # the disk is full: the subgames stay in memory
            return 0
        self.renumber(tree.prune(roots, ARCHIVED))
        return len(roots)

    def bring_back_reached(self, tree: GrowingTree, scratch: Scratch) -> None:
        """Bring back every subgame that a player reaches now."""
        self._bring_back(tree, [entry for entry in self.entries if scratch.reach[:, entry.node].any()])

    def bring_back_below(self, tree: GrowingTree, root: int) -> None:
        """Bring back every subgame below a node."""
        if self.entries:
            below = set(tree.subtree(root).tolist())
            self._bring_back(tree, [entry for entry in self.entries if entry.node in below])

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Yield every subgame on disk, one at a time, with its node."""
        for entry in self.entries:
            yield entry.node, self.store.get(entry.place)

    def renumber(self, numbers: Ints | None = None) -> None:
        """Give entries the new ``numbers`` of the nodes of a tree."""
        if numbers is not None:
            self.entries = [entry._replace(node=int(numbers[entry.node])) for entry in self.entries]
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
