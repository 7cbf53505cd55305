"""A public tree whose rows can be added and removed, with the regrets and averages in them.

Arrays have spare capacity, so that adding rows costs time in proportion to their number. ``nodes`` and ``rows`` are
views of the part in use.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bools, Floats, Ints
from treeplex.engines.public.arrays import NONE, UNSIZED, Nodes, Rows, Scratch
from treeplex.engines.public.cpu.growing import reach, subtree

SPARE: Final = 1.2  # capacity to allocate, as a multiple of the size needed
UNROLLED: Final = 16  # largest number of hands for which kernels are compiled to unrolled loops
LINKS: Final = ("parent", "child", "sibling")

DTYPES: Final[dict[str, Any]] = {
    "mover": np.int8,
    "fold_out": np.int8,
    "size": np.float64,
    "scale": np.float64,
    "amount": np.float64,
} | dict.fromkeys(("parent", "child", "sibling", "table", "deals", "word", "key", "cards", "idle"), np.int32)


class Block(NamedTuple):
    """A detached set of rows. Links count from its first row, which has neither parent nor sibling."""

    nodes: Nodes
    rows: Rows


def fresh_rows(count: int, hands: int) -> Rows:
    """Return rows of zeros, in which nothing has been learnt."""
    return Rows(*(np.zeros((count, hands)) for _ in Rows._fields))


def fresh_scratch(count: int, hands: int) -> Scratch:
    """Return scratch arrays, in which both players reach the root with probability one."""
    lanes = (0,) * hands if hands <= UNROLLED else ()
    return Scratch(np.ones((2, count, hands)), np.zeros((count, hands)), lanes)


def reached(nodes: Nodes, strategy: Floats, player: int, start: Floats | float = 1.0) -> Floats:
    """Return [P, H], the probability that ``player``'s own moves lead to each node from row 0, which has ``start``."""
    out = np.empty_like(strategy)
    out[0] = start
    reach(nodes, strategy, player, out)
    return out


def reached_by_both(nodes: Nodes, strategy: Floats) -> Floats:
    """Return [2, P, H], the own reach of both players, from the root."""
    out = np.ones((2, *strategy.shape))
    for player in (0, 1):
        reach(nodes, strategy, player, out[player])
    return out


class GrowingTree:
    """A tree in arrays with spare capacity."""

    def __init__(self, block: Block) -> None:
        self.count = 0
        self.hands = block.rows.regret.shape[1]
        self._nodes = Nodes._make(np.empty(0, dtype=DTYPES[name]) for name in Nodes._fields)
        self._rows = fresh_rows(0, self.hands)
        self._append(block)

    @property
    def nodes(self) -> Nodes:
        """The nodes of the tree in use, as views."""
        return Nodes._make(array[: self.count] for array in self._nodes)

    @property
    def rows(self) -> Rows:
        """Regrets, averages and sums of the nodes in use, as views."""
        return Rows(*(array[: self.count] for array in self._rows))

    @property
    def used_bytes(self) -> int:
        """Bytes of the arrays in use. Spare capacity is not counted, because it depends on how the tree grew."""
        return sum(array.nbytes for array in (*self.nodes, *self.rows))

    @property
    def histories(self) -> int:
        """Number of histories that the nodes represent."""
        return int(self._nodes.deals[: self.count].sum())

    def children(self, node: int) -> list[int]:
        """Return the children of a node in order."""
        children: list[int] = []
        child = int(self._nodes.child[node])
        while child != NONE:
            children.append(child)
            child = int(self._nodes.sibling[child])
        return children

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root, which is left out, to ``node``."""
        path: list[int] = []
        while node > 0:
            path.append(node)
            node = int(self._nodes.parent[node])
        return path[::-1]

    def subtree(self, root: int) -> Ints:
        """Return the nodes of a subtree, parents before children."""
        out = np.empty(self.count, dtype=np.int32)
        numbers = out[: subtree(self.nodes, root, out)]
        return np.sort(numbers)

    def copy_out(self, root: int) -> Block:
        """Return a copy of a subtree."""
        where = self.subtree(root)
        numbers = _new_numbers(where, self.count)
        nodes = Nodes._make(array[where] for array in self._nodes)
        self._follow(nodes, numbers)
        nodes.parent[0] = nodes.sibling[0] = NONE
        return Block(nodes, Rows(*(array[where] for array in self._rows)))

    def graft(self, block: Block, parent: int) -> int:
        """Add a block as a child of ``parent``, after its siblings of smaller size; return the number of its root."""
        before = NONE
        size = float(block.nodes.size[0])
        for child in self.children(parent):
            if self._nodes.size[child] == UNSIZED or self._nodes.size[child] < size:
                before = child
        root = self._append(block)
        nodes = self._nodes
        nodes.parent[root] = parent
        if before == NONE:
            nodes.sibling[root], nodes.child[parent] = nodes.child[parent], root
        else:
            nodes.sibling[root], nodes.sibling[before] = nodes.sibling[before], root
        return root

    def hang(self, block: Block, stub: int) -> None:
        """Restore a block below its root ``stub``, which is still in the tree: the inverse of ``prune``."""
        first = self.count - 1  # row i of the block becomes first + i, except row 0, which is the stub
        rest = Block(Nodes._make(array[1:] for array in block.nodes), Rows(*(array[1:] for array in block.rows)))
        start = self._append(rest, shift=first)
        nodes = self._nodes
        nodes.mover[stub] = block.nodes.mover[0]
        nodes.child[stub] = block.nodes.child[0] + first if block.nodes.child[0] != NONE else NONE
        parents = nodes.parent[start : self.count]
        parents[block.nodes.parent[1:] == 0] = stub

    def prune(self, roots: list[int], mover: int) -> Ints:
        """Remove all nodes below ``roots``, whose mover becomes ``mover``; return new numbers of old nodes, or NONE."""
        keep = np.ones(self.count, dtype=np.bool_)
        for root in roots:
            keep[self.subtree(root)[1:]] = False
            self._nodes.mover[root] = mover
            self._nodes.child[root] = NONE
        return self._keep(keep)

    def remove(self, roots: list[int]) -> Ints:
        """Remove subtrees, none inside another, with their roots; return new numbers of old nodes, or NONE."""
        keep = np.ones(self.count, dtype=np.bool_)
        nodes = self._nodes
        for root in roots:
            keep[self.subtree(root)] = False
            parent = int(nodes.parent[root])
            if nodes.child[parent] == root:
                nodes.child[parent] = nodes.sibling[root]
            else:
                before = next(child for child in self.children(parent) if nodes.sibling[child] == root)
                nodes.sibling[before] = nodes.sibling[root]
        return self._keep(keep)

    def _keep(self, keep: Bools) -> Ints:
        """Keep only these rows, whose links must lead to rows that stay; return new numbers of old nodes, or NONE."""
        where = np.flatnonzero(keep).astype(np.int32)
        numbers = _new_numbers(where, self.count)
        self._nodes = Nodes._make(array[where] for array in self._nodes)
        self._follow(self._nodes, numbers)
        self._rows = Rows(*(array[where] for array in self._rows))
        self.count = len(where)
        return numbers

    @staticmethod
    def _follow(nodes: Nodes, numbers: Ints) -> None:
        """Replace links by the new numbers, in place."""
        for links in (nodes.parent, nodes.child, nodes.sibling):
            links[:] = np.where(links >= 0, numbers[links], NONE)

    def _append(self, block: Block, shift: int | None = None) -> int:
        """Add rows at the end, with links counted from ``shift`` on; return the number of the first."""
        start = self.count
        self.count += len(block.nodes.parent)
        self._reserve()
        for array, part in zip(self._rows, block.rows, strict=True):
            array[start : self.count] = part
        for name, array, part in zip(Nodes._fields, self._nodes, block.nodes, strict=True):
            array[start : self.count] = part
            if name in LINKS:
                links = array[start : self.count]
                links[links >= 0] += start if shift is None else shift
        return start

    def _reserve(self) -> None:
        if self.count > len(self._nodes.parent):
            room = int(SPARE * self.count)
            self._nodes = Nodes._make(_enlarged(array, room) for array in self._nodes)
            self._rows = Rows(*(_enlarged(array, room) for array in self._rows))


def _enlarged(array: npt.NDArray[Any], room: int) -> Any:
    larger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _new_numbers(where: Ints, count: int) -> Ints:
    numbers = np.full(count, NONE, dtype=np.int32)
    numbers[where] = np.arange(len(where))
    return numbers
