"""The history tree level by level: the children of a node are adjacent, so skipping one reads no memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compile.game import CompiledGame
from treeplex.games.protocol import TERMINAL

# Columns of ``LevelTree.record``. They are adjacent, so that one memory access fetches all of a node.
CHILD: Final = 0  # the first child; the children end where those of the next node begin
MOVER: Final = 1  # 0, 1, CHANCE or TERMINAL
INFOSET: Final = 2  # the mover's infoset, -1 where no player moves
FIRST: Final = 3  # the first sequence of that infoset, 0 where no player moves


class LevelTree(NamedTuple):
    """Histories by depth: the children of ``n`` are ``child[n] .. child[n + 1] - 1``; a terminal has none.

    Child ``k`` of a player's node is reached by sequence ``first[n] + k``.
    """

    record: Ints  # [N + 1, 4]
    probability: Floats  # [N] probability of the action that leads here if it is a chance action, 1 otherwise
    payoff: Floats  # [N] payoff of player 0 at a terminal, 0 elsewhere

    @property
    def child(self) -> Ints:
        """[N + 1] The first child of every node, and where the last one's children end."""
        return self.record[:, CHILD]

    @property
    def mover(self) -> Ints:
        """[N] The player to move, CHANCE or TERMINAL."""
        return self.record[:-1, MOVER]

    @property
    def infoset(self) -> Ints:
        """[N] The mover's infoset, -1 where no player moves."""
        return self.record[:-1, INFOSET]

    @property
    def first(self) -> Ints:
        """[N] The first sequence of the mover's infoset, 0 where no player moves."""
        return self.record[:-1, FIRST]

    @property
    def inner(self) -> int:
        """Number of nodes that are not terminals."""
        return int(np.count_nonzero(np.diff(self.child)))

    @property
    def levels(self) -> list[slice]:
        """The nodes of each depth, from the root down."""
        ends = [0, 1]
        while ends[-1] < len(self.payoff):
            ends.append(int(self.child[ends[-1]]))
        return [slice(begin, end) for begin, end in pairwise(ends)]


class Walked(NamedTuple):
    """A ``LevelTree`` as walks read it: ``outcome`` identifies a terminal without reading its record."""

    record: Ints  # [N + 1, 4]
    probability: Floats  # [N]
    outcome: Floats  # [N] player 0's payoff at a terminal, nan elsewhere


def walked(tree: LevelTree) -> Walked:
    """Return a tree for walks, which shares record and probability with ``tree``."""
    return Walked(tree.record, tree.probability, np.where(tree.mover == TERMINAL, tree.payoff, np.nan))


def level_order(parent: Ints) -> npt.NDArray[np.intp]:
    """Return [N], the nodes of a preorder listing, sorted by depth and then in the order of the listing."""
    by_parent = np.argsort(parent, kind="stable")[1:]  # without the root
    count = np.bincount(parent[1:], minlength=len(parent))
    start = np.cumsum(count) - count
    levels = [np.zeros(1, dtype=np.intp)]
    while True:
        inner = levels[-1][count[levels[-1]] > 0]
        if len(inner) == 0:
            return np.concatenate(levels)
        steps = np.ones(int(count[inner].sum()), dtype=np.intp)
        ends = np.cumsum(count[inner])
        steps[0] = start[inner[0]]
        steps[ends[:-1]] = start[inner[1:]] - (start[inner[:-1]] + count[inner[:-1]] - 1)
        levels.append(by_parent[np.cumsum(steps)])


def level_tree(game: CompiledGame, order: npt.NDArray[np.intp]) -> LevelTree:
    """Return the histories of a game in level order, in time linear in their number."""
    tree = game.tree
    count = np.bincount(tree.parent[1:], minlength=tree.nodes)[order]
    record = np.zeros((tree.nodes + 1, 4), dtype=np.int32)
    record[:, CHILD] = np.concatenate(([1], 1 + np.cumsum(count)))
    record[:-1, MOVER] = tree.mover[order]
    record[:-1, INFOSET] = tree.infoset[order]
    for player, treeplex in enumerate(game.treeplexes):
        own = np.flatnonzero(record[:-1, MOVER] == player)
        record[own, FIRST] = treeplex.first[record[own, INFOSET]]
    return LevelTree(record, tree.probability[order], tree.payoff[order])


def best_outcomes(tree: LevelTree, payoff: Floats) -> tuple[Floats, Floats]:
    """Return, both [N], the highest ``payoff`` at or below each node, and the highest expected one.

    The second takes the mean over chance and the maximum over both players' actions.
    """
    highest, expected = payoff.copy(), payoff.copy()
    inner = np.flatnonzero(np.diff(tree.child))
    for level in reversed(tree.levels):
        here = inner[np.searchsorted(inner, level.start) : np.searchsorted(inner, level.stop)]
        if len(here) == 0:
            continue
        children = slice(int(tree.child[level.start]), int(tree.child[level.stop]))
        starts = tree.child[here] - children.start
        highest[here] = np.maximum.reduceat(highest[children], starts)
        mean = np.add.reduceat(tree.probability[children] * expected[children], starts)
        expected[here] = np.where(tree.mover[here] < 0, mean, np.maximum.reduceat(expected[children], starts))
    return highest, expected


def chance_reach(tree: LevelTree) -> Floats:
    """Return [N], chance's probability of every node: the product of the chance probabilities on the path to it."""
    reach = tree.probability.copy()
    count = np.diff(tree.child)
    for level in tree.levels[:-1]:
        children = slice(int(tree.child[level.start]), int(tree.child[level.stop]))
        reach[children] *= np.repeat(reach[level], count[level])
    return reach
