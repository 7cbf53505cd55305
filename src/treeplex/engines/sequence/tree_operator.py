"""The payoff operator as walks over the history tree that stop where chance and the opponent hardly come."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu.oracle import TreeOperator, TreeRows, ways

_KNOWN: WeakKeyDictionary[CompiledGame, TreeOperator] = WeakKeyDictionary()


def tree_operator(game: CompiledGame) -> TreeOperator:
    """Both players' rows, with a limit and a count of their own; the tree's arrays are shared by all of a game."""
    if game not in _KNOWN:
        nodes = game.tree.nodes
        chance, first, second = np.empty(nodes), np.empty(nodes, dtype=np.int32), np.empty(nodes, dtype=np.int32)
        ways(game.tree, game.treeplexes, chance, first, second)
        pays = chance * game.tree.payoff
        limit, count = np.zeros(1), np.zeros(1, dtype=np.int64)
        size = game.tree.size
        rows = TreeRows(size, chance, pays, first, second, limit, count)
        _KNOWN[game] = TreeOperator(rows, rows._replace(own=second, other=first))
    limit, count = np.zeros(1), np.zeros(1, dtype=np.int64)
    rows, columns = _KNOWN[game]
    return TreeOperator(rows._replace(limit=limit, entered=count), columns._replace(limit=limit, entered=count))
