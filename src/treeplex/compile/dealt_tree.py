"""The history tree of a dealt game: a copy of the public tree for every deal, less the cards that are in a hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.history import MOST_NODES, HistoryTree, Index, levels
from treeplex.compile.memory import require
from treeplex.compile.public import PublicGame
from treeplex.errors import GameError
from treeplex.games.dealt import DealtRules
from treeplex.games.protocol import CHANCE, TERMINAL

BYTES_PER_NODE = 150  # measured peak

Hands = tuple[Index, ...]
"""[D] the hand of each player in every deal."""


class DealtTree(NamedTuple):
    """Data from which the tree is built on demand."""

    rules: DealtRules
    public: PublicGame
    infoset: tuple[Ints, Ints]  # [P, H] of each player
    nodes: int

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Labels of all actions: public moves and cards first, then the deals."""
        first, second = self.rules.hands()
        deals = [*first, *second]
        if self.rules.together:
            deals = [f"{first[a]},{second[b]}" for a, b in np.argwhere(self.rules.deal() > 0).tolist()]
        return tuple(dict.fromkeys([*self.public.actions, *deals]))

    def build(self) -> HistoryTree:
        """Build all histories. Cost: about 0.4 microseconds and, at the peak, 150 bytes per node."""
        require(self.rules.name, self.nodes, BYTES_PER_NODE, "a history tree of")
        if self.nodes > MOST_NODES:
            raise GameError(f"{self.rules.name} has {self.nodes:,} nodes, more than a history tree can number.")
        joint, tree, parent = self.rules.deal(), self.public.tree, self.public.parent
        hands = np.nonzero(joint)
        odds = self._odds(
            hands
        )  # [P, D] probability of the last public card at the nodes that it leads to, 1 at all others
        possible = odds > 0.0
        if self.public.chances:
            for level in levels(tree.depth)[1:]:
                possible[level] &= possible[parent[level]]
        alive = possible.T  # [D, P]
        before = np.zeros((alive.shape[0], alive.shape[1] + 1), dtype=np.int32)
        np.cumsum(alive, axis=1, out=before[:, 1:])
        sizes = before[:, -1].astype(np.int64)
        # Chance nodes that deal: the root and, if hands are dealt one by one, a node per hand of player 0.
        opens = np.zeros(len(sizes), dtype=np.int64)
        if not self.rules.together:
            opens = np.diff(hands[0], prepend=-1).astype(bool).astype(np.int64)
        start = 1 + np.cumsum(opens) + np.concatenate(([0], np.cumsum(sizes)[:-1]))
        # The public tree of every deal.
        history = _empty(self.nodes)
        deal, node = np.nonzero(alive)
        position = start[deal] + before[deal, node]
        mover = tree.mover[node]
        history.mover[position] = mover
        history.parent[position] = start[deal] + before[deal, parent[node]]
        history.size[position] = before[deal, node + tree.size[node]] - before[deal, node]
        history.action[position] = tree.action[node]
        for player in (0, 1):
            own = np.flatnonzero(mover == player)
            history.infoset[position[own]] = self.infoset[player][node[own], hands[player][deal[own]]]
        outcomes = np.stack([self.rules.outcome(outcome)[hands] for outcome in self.public.outcomes])
        end = np.flatnonzero(mover == TERMINAL)
        history.payoff[position[end]] = tree.amount[node[end]] * outcomes[tree.table[node[end]], deal[end]]
        if self.public.chances:
            history.probability[position] = odds[node, deal]
        self._dealing(history, start, opens, hands, joint[hands])
        return history

    def _odds(self, hands: Hands) -> Floats:
        tree, parent = self.public.tree, self.public.parent
        odds = np.ones((len(tree.mover), len(hands[0])))
        tables = [self.rules.odds(state)[:, hands[0], hands[1]] for state in self.public.chances]
        for node in self.public.moves(CHANCE)[0].tolist():
            odds[node] = tables[int(tree.table[parent[node]])][int(tree.place[node])]
        return odds

    def _dealing(self, history: HistoryTree, start: Index, opens: Index, hands: Hands, dealt: Floats) -> None:
        """Fill in the chance nodes that deal the hands; ``history`` is modified in place."""
        code = {label: number for number, label in enumerate(self.vocabulary)}
        first, second = self.rules.hands()
        history.parent[0], history.size[0], history.action[0] = -1, self.nodes, -1
        if self.rules.together:
            pairs = zip(hands[0].tolist(), hands[1].tolist(), strict=True)
            history.action[start] = [code[f"{first[a]},{second[b]}"] for a, b in pairs]
            history.parent[start] = 0
            history.probability[start] = dealt
            return
        opening = np.flatnonzero(opens)
        group = np.cumsum(opens) - 1
        marginal = np.add.reduceat(dealt, opening)
        chance = start[opening] - 1
        history.action[start] = np.array([code[label] for label in second], dtype=np.int32)[hands[1]]
        history.parent[start] = chance[group]
        history.probability[start] = dealt / marginal[group]
        history.action[chance] = np.array([code[label] for label in first], dtype=np.int32)[hands[0][opening]]
        history.probability[chance] = marginal
        history.size[chance] = np.append(chance[1:], self.nodes) - chance


def _empty(nodes: int) -> HistoryTree:
    return HistoryTree(
        mover=np.full(nodes, CHANCE, dtype=np.int8),
        parent=np.zeros(nodes, dtype=np.int32),
        size=np.empty(nodes, dtype=np.int32),
        infoset=np.full(nodes, -1, dtype=np.int32),
        action=np.empty(nodes, dtype=np.int32),
        probability=np.ones(nodes, dtype=np.float64),
        payoff=np.zeros(nodes, dtype=np.float64),
    )
