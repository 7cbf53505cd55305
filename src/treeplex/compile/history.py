"""The whole game tree, node by node in depth-first order, for walks that prune."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bytes, Floats, Ints

Index = npt.NDArray[np.intp]

MOST_NODES = 2**31 - 2**17
"""Largest number of nodes that 32-bit numbers can index."""


class HistoryTree(NamedTuple):
    """Histories in depth-first preorder: the first child of ``n`` is ``n + 1``, its next sibling ``n + size[n]``.

    Children stand in the order of their actions, so child ``k`` of a player's node is sequence ``first[infoset] + k``.
    """

    mover: Bytes  # [N] 0, 1, CHANCE or TERMINAL
    parent: Ints  # [N] -1 at the root
    size: Ints  # [N] nodes in the subtree, the node itself included
    infoset: Ints  # [N] the mover's infoset, -1 where no player moves
    action: Ints  # [N] the label of the action that led here, -1 at the root
    probability: Floats  # [N] of that action if chance made it, 1 otherwise
    payoff: Floats  # [N] player 0's at a terminal, 0 elsewhere

    @property
    def nodes(self) -> int:
        """Number of histories, ``N``."""
        return len(self.mover)

    @property
    def terminals(self) -> int:
        """Number of terminals, ``Z``."""
        return int(np.count_nonzero(self.size == 1))


def levels(depth: Ints) -> list[Index]:
    """Return the nodes of every depth, from the root down, each level in tree order."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


def parents_from_depth(depth: Ints) -> Ints:
    """[N] parent of every node of a preorder listing: the last node before it that is one level up."""
    parent = np.full(len(depth), -1, dtype=np.int32)
    for above, here in pairwise(levels(depth)):
        parent[here] = above[np.searchsorted(above, here) - 1]
    return parent
