"""A part of a compiled game: the game that remains if players may choose only some of their actions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from treeplex import arrow
from treeplex.arrays import Bools, Ints, Longs, pair
from treeplex.compile.game import CompiledGame, Prebuilt
from treeplex.compile.history import HistoryTree, Index, levels
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.games.protocol import CHANCE

Masks = tuple[Bools, Bools]
"""[S] of each player: whether the action of a sequence may be chosen. The first number is that of the empty one."""


class Part(NamedTuple):
    """The game by some actions, and the numbers that its infosets and sequences have in the whole game."""

    game: CompiledGame
    infosets: tuple[Index, Index]
    sequences: tuple[Index, Index]


class Behind(NamedTuple):
    """Histories of the whole game as a choice of actions divides them."""

    present: Bools  # [N] all actions that lead there may be chosen
    action: tuple[Longs, Longs]  # [N] the player's only missing action on the way, as a sequence; 0: none or several
    infosets: Masks  # [I] of each player: whether any of its histories is present

    def nodes(self, player: int, sequence: int) -> Index:
        """Return the histories that a missing action of ``player`` would add."""
        return np.flatnonzero(self.action[player] == sequence)

    def counts(self, player: int, sequences: int) -> Longs:
        """[S] number of histories that each missing action of ``player`` would add; 0 for other actions."""
        counts = np.bincount(self.action[player], minlength=sequences)
        counts[0] = 0
        return counts


class WholeGame:
    """A compiled game with the sequences of its histories, of which parts are made."""

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.tree = game, game.tree
        self.nodes = self.tree.nodes
        depth = np.zeros(self.nodes, dtype=np.int32)
        self.sequence = pair(np.zeros(self.nodes, dtype=np.int64) for _ in range(2))  # [N] each player's last one
        self.chance = np.ones(self.nodes)  # [N] product of the probabilities of chance on the way
        self._down(depth)
        self.owner = pair(np.repeat(np.arange(t.infosets), t.actions) for t in game.treeplexes)  # [S - 1]
        self._levels = pair(_levels(treeplex) for treeplex in game.treeplexes)

    def _down(self, depth: Ints) -> None:
        """Fill in depths, sequences and chance, from parents to children."""
        tree, first = self.tree, [treeplex.first for treeplex in self.game.treeplexes]
        for node, above in enumerate(tree.parent[1:].tolist(), 1):
            depth[node] = depth[above] + 1
        place = _places(tree.parent)
        for level in levels(depth)[1:]:
            above = tree.parent[level]
            self.chance[level] = self.chance[above] * np.where(
                tree.mover[above] == CHANCE, tree.probability[level], 1.0
            )
            for player in (0, 1):
                own = tree.mover[above] == player
                chosen = first[player][tree.infoset[above] * own] + place[level]
                self.sequence[player][level] = np.where(own, chosen, self.sequence[player][above])

    def matrix(self, player: int) -> Any:
        """Return the payoffs to ``player`` as a sparse matrix, a row per sequence of its own."""
        side: Csr = self.game.payoffs[player]
        shape = pair(self.game.treeplexes[p].sequences for p in (player, 1 - player))
        return sparse.csr_array((side.data * (1.0 - 2.0 * player), side.column, side.start), shape=shape)

    def missing(self, player: int, mask: Bools) -> tuple[Longs, Longs]:
        """[S] number of missing actions up to a sequence, and the last of them (0: none)."""
        count, last = np.zeros(len(mask), dtype=np.int64), np.zeros(len(mask), dtype=np.int64)
        for level, above in self._levels[player]:
            count[level] = count[above] + ~mask[level]
            last[level] = np.where(mask[level], last[above], level)
        return count, last

    def behind(self, masks: Masks) -> Behind:
        """Divide the histories by the actions that may be chosen."""
        (count, last), (count_1, last_1) = (self.missing(player, masks[player]) for player in (0, 1))
        first, second = self.sequence
        missing, missing_1 = count[first], count_1[second]
        present = missing + missing_1 == 0
        alone = missing + missing_1 == 1
        action = np.where(alone & (missing == 1), last[first], 0), np.where(alone & (missing_1 == 1), last_1[second], 0)
        infosets = pair(np.zeros(treeplex.infosets, dtype=bool) for treeplex in self.game.treeplexes)
        for player in (0, 1):
            infosets[player][self.tree.infoset[present & (self.tree.mover == player)]] = True
        return Behind(present, action, infosets)

    def part(self, masks: Masks, behind: Behind, name: str) -> Part:
        """Build the game in which only the actions of ``masks`` may be chosen."""
        whole = self.game
        infosets = pair(np.flatnonzero(mask) for mask in behind.infosets)
        sequences = pair(self._sequences(player, masks[player], behind.infosets[player]) for player in (0, 1))
        treeplexes, labels = list[Treeplex](), list[Labels]()
        for player in (0, 1):
            new, old = _numbers(sequences[player], whole.treeplexes[player].sequences), infosets[player]
            count = np.bincount(self.owner[player][sequences[player][1:] - 1], minlength=len(behind.infosets[player]))
            first = np.concatenate(([1], 1 + np.cumsum(count[old]))).astype(np.int32)
            treeplexes.append(Treeplex(first, new[whole.treeplexes[player].parent[old]].astype(np.int32)))
            names = whole.labels[player]
            labels.append(Labels(arrow.take(names.infosets, old), names.actions[sequences[player]]))
        payoffs = self._payoffs(sequences)
        nodes, terminals = np.flatnonzero(behind.present), self.tree.size == 1
        game = CompiledGame(
            name,
            pair(treeplexes),
            pair(labels),
            whole.actions,
            len(nodes),
            int(np.count_nonzero(behind.present & terminals)),
            whole.largest_payoff,
            lambda: self._tree(nodes, infosets),
            Prebuilt(payoffs),
            constant=whole.constant,
            unit=whole.unit,
        )
        return Part(game, infosets, sequences)

    def within(self, player: int, infosets: Index, masks: Masks) -> Index:
        """Return the present sequences of some infosets."""
        among = np.zeros(self.game.treeplexes[player].infosets, dtype=bool)
        among[infosets] = True
        return self._sequences(player, masks[player], among)[1:]

    def _sequences(self, player: int, mask: Bools, infosets: Bools) -> Index:
        """Numbers of the sequences that remain, the empty one first."""
        return np.concatenate(([0], 1 + np.flatnonzero(mask[1:] & infosets[self.owner[player]])))

    def _payoffs(self, sequences: tuple[Index, Index]) -> Payoffs:
        left = self.matrix(0)[sequences[0]][:, sequences[1]].tocoo()
        return Payoffs.gather(pair(map(len, sequences)), left.row, left.col, left.data)

    def _tree(self, nodes: Index, infosets: tuple[Index, Index]) -> HistoryTree:
        """Build the histories that remain, renumbered."""
        tree, new = self.tree, _numbers(nodes, self.nodes)
        infoset = tree.infoset[nodes]
        for player in (0, 1):
            own = tree.mover[nodes] == player
            count = self.game.treeplexes[player].infosets
            infoset[own] = _numbers(infosets[player], count)[infoset[own]]
        before = np.concatenate(([0], np.cumsum(new >= 0)))
        return HistoryTree(
            tree.mover[nodes],
            np.where(tree.parent[nodes] < 0, -1, new[tree.parent[nodes]]).astype(np.int32),
            (before[nodes + tree.size[nodes]] - before[nodes]).astype(np.int32),
            infoset,
            tree.action[nodes],
            tree.probability[nodes],
            tree.payoff[nodes],
        )


def _levels(treeplex: Treeplex) -> list[tuple[Index, Index]]:
    """Sequences by the number of own actions up to them, from 1 on, each level with the sequences before them."""
    above = np.concatenate(([-1], np.repeat(treeplex.parent, treeplex.actions)))
    depth = np.zeros(len(above), dtype=np.int32)
    for infoset, parent in enumerate(treeplex.parent.tolist()):
        depth[treeplex.first[infoset] : treeplex.first[infoset + 1]] = depth[parent] + 1
    return [(level, above[level]) for level in levels(depth)[1:]]


def _places(parent: Ints) -> Longs:
    """[N] position of each node among its siblings."""
    order = np.argsort(parent, kind="stable")
    grouped = parent[order]
    starts = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
    place = np.empty(len(parent), dtype=np.int64)
    place[order] = np.arange(len(parent)) - np.repeat(starts, np.diff(np.append(starts, len(parent))))
    return place


def _numbers(indices: Index, count: int) -> Longs:
    """[count] position of each number in ``indices``, -1 if it is not there."""
    out = np.full(count, -1, dtype=np.int64)
    out[indices] = np.arange(len(indices))
    return out
