"""The history tree level by level, so that the children of a node stand side by side and skipping one costs no look."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compile.game import CompiledGame
from treeplex.games.protocol import TERMINAL

# Columns of ``LevelTree.record``: side by side, so that one look fetches all of a node.
CHILD: Final = 0  # the first child; the next node's is where the children end
MOVER: Final = 1  # 0, 1, CHANCE or TERMINAL
INFOSET: Final = 2  # the mover's, -1 where no player moves
FIRST: Final = 3  # the first sequence of that infoset, 0 where no player moves


class LevelTree(NamedTuple):
    """Histories by depth: the children of ``n`` are ``child[n] .. child[n + 1] - 1``; a terminal has none.

    Child ``k`` of a player's node is reached by sequence ``first[n] + k``.
    """

    record: Ints  # [N + 1, 4]
    probability: Floats  # [N] of the action that led here if chance made it, 1 otherwise
    payoff: Floats  # [N] player 0's at a terminal, 0 elsewhere

    @property
    def child(self) -> Ints:
        """[N + 1]."""
        return self.record[:, CHILD]

    @property
    def mover(self) -> Ints:
        """[N]."""
        return self.record[:-1, MOVER]

    @property
    def infoset(self) -> Ints:
        """[N]."""
        return self.record[:-1, INFOSET]

    @property
    def first(self) -> Ints:
        """[N]."""
        return self.record[:-1, FIRST]

    @property
    def inner(self) -> int:
        """How many nodes are no terminals."""
        return int(np.count_nonzero(np.diff(self.child)))

    @property
    def levels(self) -> list[slice]:
        """The nodes of each depth, from the root down."""
        ends = [0, 1]
        while ends[-1] < len(self.payoff):
            ends.append(int(self.child[ends[-1]]))
        return [slice(begin, end) for begin, end in pairwise(ends)]


class Walked(NamedTuple):
    """A ``LevelTree`` as walks read it: ``outcome`` tells a terminal without a look at its record."""

    record: Ints  # [N + 1, 4]
    probability: Floats  # [N]
    outcome: Floats  # [N] player 0's payoff at a terminal, nan elsewhere


def walked(tree: LevelTree) -> Walked:
    """Record and probability are shared."""
    return Walked(tree.record, tree.probability, np.where(tree.mover == TERMINAL, tree.payoff, np.nan))


def level_order(parent: Ints) -> npt.NDArray[np.intp]:
    """[N] nodes of a preorder listing, sorted by depth and then as listed."""
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
    """The histories of a game in level order; cost linear in their number."""
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
    """[N] twice: the highest ``payoff`` at or below each node, and the highest expected one if both players helped.

    The second takes the mean over chance and the maximum over every player's actions.
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
    """[N] chance's probability of every node: the product of its own moves on the way there."""
    reach = tree.probability.copy()
    count = np.diff(tree.child)
    for level in tree.levels[:-1]:
        children = slice(int(tree.child[level.start]), int(tree.child[level.stop]))
        reach[children] *= np.repeat(reach[level], count[level])
    return reach
