"""The payoff operator as truncated walks over the history tree.

A walk stops where chance and the opponent have too little probability of arriving.
"""

from __future__ import annotations

import numpy as np

from treeplex.compile.game import CompiledGame
from treeplex.engines.history.paths import paths
from treeplex.engines.sequence.cpu.oracle import TreeOperator, TreeSide


def tree_operator(game: CompiledGame) -> TreeOperator:
    """Return the operator of a game, with a limit and a count of its own; both players' sides share them."""
    tree = paths(game).tree
    depth = len(tree.levels)
    node, next_, own, other = (np.empty(depth, dtype=np.int32) for _ in range(4))
    rows = TreeSide(tree, 0, np.zeros(1), np.zeros(1, dtype=np.int64), node, next_, np.empty(depth), own, other)
    return TreeOperator(rows, rows._replace(player=1))
