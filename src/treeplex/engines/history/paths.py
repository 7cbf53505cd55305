"""Tables that walks over the history tree need: incoming sequences, nodes below a sequence, and payoff bounds."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.levels import (
    LevelTree,
    Walked,
    best_outcomes,
    chance_reach,
    level_order,
    level_tree,
    walked,
)


class PlayerPaths(NamedTuple):
    """Tables of one player."""

    owner: Ints  # [S] the infoset of a sequence, -1 for the empty one
    child_start: Ints  # [S + 1] where the infosets directly below a sequence begin in ``child``
    child: Ints  # [I] infosets, sorted by their parent sequence
    best: Floats  # [S] U(I, a): the highest payoff of the player after the sequence
    expected: Floats  # [S] the same in expectation, if the opponent cooperates: tighter than U(I, a)
    payoff_range: Floats  # [I] U(I) - L(I): the range of the payoffs below an infoset
    lowest: Floats  # [I] L(I)
    below: Ints  # [S] number of nodes below the sequence, over all its histories
    after: Ints  # [S] number of these up to the player's next move, included
    reach_rows: Csr  # [I, opponent's S] chance's probability of an infoset's histories, by the opponent's sequence


class Paths(NamedTuple):
    """Tables of a whole game."""

    tree: LevelTree
    walked: Walked
    sides: tuple[PlayerPaths, PlayerPaths]
    inner: int  # number of nodes that are not terminals


_KNOWN: WeakKeyDictionary[CompiledGame, Paths] = WeakKeyDictionary()
_ROWS: WeakKeyDictionary[CompiledGame, tuple[Csr, Csr]] = WeakKeyDictionary()


def paths(game: CompiledGame) -> Paths:
    """Return the tables that walks need of a game.

    They are built once, in time linear in the number of nodes of its tree.
    """
    if game not in _KNOWN:
        order = level_order(game.tree.parent)
        tree, size = level_tree(game, order), game.tree.size[order]
        reach, last = chance_reach(tree), (last_sequences(tree, 0), last_sequences(tree, 1))
        highest, expected = best_outcomes(tree, tree.payoff)
        lowest, expected_lowest = best_outcomes(tree, -tree.payoff)
        first = _side(game, tree, 0, size, highest, expected, lowest, reach, last)
        second = _side(game, tree, 1, size, lowest, expected_lowest, highest, reach, last)
        _KNOWN[game] = Paths(tree, walked(tree), (first, second), tree.inner)
    return _KNOWN[game]


def response_rows(game: CompiledGame) -> tuple[Csr, Csr]:
    """Return [S + I, opponent's S] of both players: payoffs of own terminals by opponent sequence, then ``reach_rows``.

    Both are in one matrix, so that best responses need one loop over rows.
    """
    if game not in _ROWS:
        first, second = (
            _stacked(matrix._replace(data=matrix.data * (1 - 2 * player)), paths(game).sides[player].reach_rows)
            for player, matrix in enumerate(game.payoffs)
        )
        _ROWS[game] = first, second
    return _ROWS[game]


def incoming(tree: LevelTree, player: int) -> tuple[Ints, Ints]:
    """Return the nodes directly after a player's moves, and the sequences that lead to them."""
    own = np.flatnonzero(tree.mover == player)
    count = np.diff(tree.child)[own]
    before = np.cumsum(count) - count
    offset: Ints = np.arange(int(count.sum()), dtype=np.int32)
    nodes: Ints = (np.repeat(tree.child[own] - before, count) + offset).astype(np.int32)
    sequence: Ints = (np.repeat(tree.first[own] - before, count) + offset).astype(np.int32)
    return nodes, sequence


def last_sequences(tree: LevelTree, player: int) -> Ints:
    """Return [N], the last sequence of a player on the path to every node; 0 for the empty sequence."""
    nodes, sequence = incoming(tree, player)
    last = np.zeros(len(tree.payoff), dtype=np.int32)
    last[nodes] = sequence
    moved = np.zeros(len(last), dtype=np.bool_)
    moved[nodes] = True
    count = np.diff(tree.child)
    for level in tree.levels[:-1]:
        children = slice(int(tree.child[level.start]), int(tree.child[level.stop]))
        last[children] = np.where(moved[children], last[children], np.repeat(last[level], count[level]))
    return last


def counterfactual_ranges(game: CompiledGame) -> tuple[Floats, Floats]:
    """Return Delta(I), [I], of both players: the range of the payoffs below, times the ``largest_reach`` of I.

    The range of counterfactual values is no wider.
    """
    sides, (first, second) = paths(game).sides, game.treeplexes
    one = sides[0].payoff_range * largest_reach(sides[0].reach_rows, second)
    return one, sides[1].payoff_range * largest_reach(sides[1].reach_rows, first)


def largest_reach(rows: Csr, opponent: Treeplex) -> Floats:
    """Return [I], the largest counterfactual reach of each infoset over all plans of the opponent.

    ``rows`` are ``reach_rows``. From the bottom of the opponent's treeplex up, the best action of each of its infosets
    counts for the sequence above it.
    """
    size, infosets = len(rows.start) - 1, len(opponent.parent)
    owner = np.concatenate(([-1], np.repeat(np.arange(infosets), opponent.actions)))
    depth = np.zeros(opponent.sequences, dtype=np.int64)
    for infoset, above in enumerate(opponent.parent.tolist()):
        depth[opponent.first[infoset] : opponent.first[infoset + 1]] = depth[above] + 1
    row, sequence = np.repeat(np.arange(size), np.diff(rows.start)), rows.column.astype(np.int64)
    reach = rows.data
    for level in range(int(depth.max()), 0, -1):
        here = depth[sequence] == level
        pairs, place = np.unique(row[here] * opponent.sequences + sequence[here], return_inverse=True)
        total = np.bincount(place, weights=reach[here])
        own, place = np.unique(
            pairs // opponent.sequences * infosets + owner[pairs % opponent.sequences], return_inverse=True
        )
        best = np.zeros(len(own))
        np.maximum.at(best, place, total)
        row = np.concatenate((row[~here], own // max(infosets, 1)))
        sequence = np.concatenate((sequence[~here], opponent.parent[own % max(infosets, 1)]))
        reach = np.concatenate((reach[~here], best))
    return np.minimum(np.bincount(row, weights=reach, minlength=size), 1.0)


def _side(
    game: CompiledGame,
    tree: LevelTree,
    player: int,
    size: Ints,
    best: Floats,
    expected: Floats,
    worst: Floats,
    reach: Floats,
    last: tuple[Ints, Ints],
) -> PlayerPaths:
    treeplex = game.treeplexes[player]
    shape = treeplex.infosets, game.treeplexes[1 - player].sequences
    nodes, sequence = incoming(tree, player)
    own = np.flatnonzero(tree.mover == player)
    start = np.concatenate(([0], np.cumsum(np.bincount(treeplex.parent, minlength=treeplex.sequences))))
    return PlayerPaths(
        owner=np.concatenate(([-1], np.repeat(np.arange(treeplex.infosets), treeplex.actions))).astype(np.int32),
        child_start=start.astype(np.int32),
        child=np.argsort(treeplex.parent, kind="stable").astype(np.int32),
        best=_highest(best[nodes], sequence, treeplex.sequences),
        expected=_highest(expected[nodes], sequence, treeplex.sequences),
        payoff_range=_highest(best[own], tree.infoset[own], treeplex.infosets)
        + _highest(worst[own], tree.infoset[own], treeplex.infosets),
        lowest=-_highest(worst[own], tree.infoset[own], treeplex.infosets),
        below=np.bincount(sequence, weights=size[nodes], minlength=treeplex.sequences).astype(np.int32),
        after=np.bincount(last[player], minlength=treeplex.sequences).astype(np.int32),
        reach_rows=Payoffs.gather(shape, tree.infoset[own], last[1 - player][own], reach[own]).rows,
    )


def _stacked(upper: Csr, lower: Csr) -> Csr:
    start = np.concatenate((upper.start, upper.start[-1] + lower.start[1:]))
    return Csr(start, np.concatenate((upper.column, lower.column)), np.concatenate((upper.data, lower.data)))


def _highest(values: Floats, group: Ints, groups: int) -> Floats:
    """Return [groups], the maximum of the values of each group."""
    out = np.full(groups, -np.inf)
    np.maximum.at(out, group, values)
    return out
