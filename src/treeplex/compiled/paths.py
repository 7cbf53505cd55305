"""What walks over the history tree need beside it: incoming sequences, what lies below, and payoff bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.history import HistoryTree
from treeplex.compiled.treeplex import Treeplex

Index = npt.NDArray[np.int64]


class Side(NamedTuple):
    """One player's part."""

    child_start: Ints  # [S + 1] where the infosets right below a sequence begin in ``child``
    child: Ints  # [I] infosets by the sequence they hang from
    best: Floats  # [S] U(I, a): the most the player can be paid after the sequence
    below: Ints  # [S] nodes of the tree below the sequence, over all its histories


class Paths(NamedTuple):
    """For a whole game."""

    sequence: Ints  # [N] the mover's sequence that led to a node, 0 at the root and after chance
    sides: tuple[Side, Side]


def paths(game: CompiledGame) -> Paths:
    """Derive everything from the tree; cost linear in its nodes."""
    tree = game.tree
    sequence = _incoming(tree, game.treeplexes)
    highest, lowest = _bounds(tree)
    mover = np.where(tree.parent >= 0, tree.mover[tree.parent], -1)
    sides: list[Side] = []
    for player, treeplex in enumerate(game.treeplexes):
        own = np.flatnonzero(mover == player)
        best = np.full(treeplex.sequences, -np.inf)
        np.maximum.at(best, sequence[own], highest[own] if player == 0 else -lowest[own])
        below = np.bincount(sequence[own], weights=tree.size[own], minlength=treeplex.sequences).astype(np.int32)
        order = np.argsort(treeplex.parent, kind="stable").astype(np.int32)
        start = np.concatenate(([0], np.cumsum(np.bincount(treeplex.parent, minlength=treeplex.sequences))))
        sides.append(Side(start.astype(np.int32), order, best, below))
    return Paths(sequence, (sides[0], sides[1]))


def _incoming(tree: HistoryTree, treeplexes: tuple[Treeplex, Treeplex]) -> Ints:
    """Children stand in the order of their actions: a node's place among its siblings is its action."""
    nodes = np.arange(tree.nodes)
    parent = tree.parent
    order = np.argsort(parent[1:], kind="stable") + 1  # siblings side by side, in order
    starts = np.flatnonzero(np.diff(parent[order], prepend=-2))
    place = np.zeros(tree.nodes, dtype=np.int32)
    place[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    sequence = np.zeros(tree.nodes, dtype=np.int32)
    for player, treeplex in enumerate(treeplexes):
        own = nodes[1:][tree.mover[parent[1:]] == player]
        sequence[own] = treeplex.first[tree.infoset[parent[own]]] + place[own]
    return sequence


def _bounds(tree: HistoryTree) -> tuple[Floats, Floats]:
    """[N] the highest and the lowest payoff of player 0 at or below each node: a subtree is a run of nodes."""
    ends = np.flatnonzero(tree.size == 1)
    first = np.searchsorted(ends, np.arange(tree.nodes))
    last = np.searchsorted(ends, np.arange(tree.nodes) + tree.size)
    payoff = tree.payoff[ends]
    return _range_maximum(payoff, first, last), -_range_maximum(-payoff, first, last)


def _range_maximum(values: Floats, first: Index, last: Index) -> Floats:
    """max(values[first:last]) of many ranges at once, by tables of maxima over 1, 2, 4, ... values."""
    length = last - first
    out = np.empty(len(first))
    table, width = values, 1
    while True:
        here = np.flatnonzero((length >= width) & (length < 2 * width))
        out[here] = np.maximum(table[first[here]], table[last[here] - width])
        if 2 * width > len(values):
            return out
        table = np.maximum(table[:-width], table[width:])
        width *= 2
