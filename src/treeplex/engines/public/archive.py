"""Subgames that nobody reaches go to disk, and come back to the same bits before anybody does (section 6).

Where every player's reach is zero, no regret and no average below changes; so a subgame can be put aside as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import ARCHIVED, Scratch
from treeplex.engines.public.cpu.sizes import regrets
from treeplex.engines.public.store import Store, StoredSpan
from treeplex.engines.public.tree import Block, GrowingTree, reached_by_both
from treeplex.errors import ParameterError

SMALLEST: Final = 4  # public nodes: less does not pay


class ArchivedSubgame(NamedTuple):
    """A subgame on disk."""

    node: int  # its root, which stays in memory
    place: StoredSpan
    histories: int
    largest: tuple[float, float]  # each player's sum of largest positive regrets
    squares: tuple[float, float]  # and of squared ones


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
        pairs = [(float(sums[0]), float(sums[1])) for sums in (largest, squares)]
        return ArchivedSubgame(root, self.store.put(block), histories, pairs[0], pairs[1])

    def _bring_back(self, tree: GrowingTree, entries: list[ArchivedSubgame]) -> None:
        for entry in entries:
            tree.hang(self.store.get(entry.place), entry.node)
            self.entries.remove(entry)
        self.renumber()
