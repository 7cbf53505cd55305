"""The history tree level by level, so that the children of a node stand side by side and skipping one costs no look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compile.game import CompiledGame


class LevelTree(NamedTuple):
    """Histories by depth: the children of ``n`` are ``child[n] .. child[n + 1] - 1``; a terminal has none.

    Child ``k`` of a player's node is reached by sequence ``first[n] + k``. Where no player moves, infoset is -1 and
    first is 0.
    """

    record: Ints  # [N + 1, 4] child, mover, infoset and first of each node, side by side: one look fetches all
    probability: Floats  # [N] of the action that led here if chance made it, 1 otherwise
    payoff: Floats  # [N] player 0's at a terminal, 0 elsewhere

    @property
    def child(self) -> Ints:
        """[N + 1]."""
        return self.record[:, 0]

    @property
    def mover(self) -> Ints:
        """[N] 0, 1, CHANCE or TERMINAL."""
        return self.record[:-1, 1]

    @property
    def infoset(self) -> Ints:
        """[N] the mover's."""
        return self.record[:-1, 2]

    @property
    def first(self) -> Ints:
        """[N] the first sequence of that infoset."""
        return self.record[:-1, 3]

    @property
    def inner(self) -> int:
        """How many nodes are no terminals."""
        return int(np.count_nonzero(np.diff(self.child)))


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
    record[:, 0] = np.concatenate(([1], 1 + np.cumsum(count)))
    record[:-1, 1] = tree.mover[order]
    record[:-1, 2] = tree.infoset[order]
    for player, treeplex in enumerate(game.treeplexes):
        own = np.flatnonzero(record[:-1, 1] == player)
        record[own, 3] = treeplex.first[record[own, 2]]
    return LevelTree(record, tree.probability[order], tree.payoff[order])


def best_outcomes(tree: LevelTree, payoff: Floats) -> tuple[Floats, Floats]:
    """[N] twice: the highest ``payoff`` at or below each node, and the highest expected one if both players wished it.

    The second takes the mean over chance and the maximum over every player's actions.
    """
    highest, wished = payoff.copy(), payoff.copy()
    inner = np.flatnonzero(np.diff(tree.child))
    depth_ends = [1]
    while depth_ends[-1] < len(payoff):
        depth_ends.append(int(tree.child[depth_ends[-1]]))
    for begin, end in reversed(list(zip([0, *depth_ends[:-1]], depth_ends, strict=True))):
        here = inner[np.searchsorted(inner, begin) : np.searchsorted(inner, end)]
        if len(here) == 0:
            continue
        span = slice(int(tree.child[begin]), int(tree.child[end]))
        starts = tree.child[here] - span.start
        chance = tree.mover[here] < 0
        highest[here] = np.maximum.reduceat(highest[span], starts)
        mean = np.add.reduceat(tree.probability[span] * wished[span], starts)
        wished[here] = np.where(chance, mean, np.maximum.reduceat(wished[span], starts))
    return highest, wished
