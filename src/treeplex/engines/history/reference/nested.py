"""Regret-based pruning with free starts, nested prunings that are kept and partial best responses, for small games.

As ``prune``, with another way to end and begin: ``engines.history.cpu.nested``. Here the opponent's strategy of every
pass is kept, and what a sequence was paid in a stretch is computed from the passes of that stretch. No sum of payments
and no clock is carried along.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import Pruning
from treeplex.engines.history.reference.prune import Ledger, PrunedLearner, times


@dataclass
class NestedLearner:
    """One player: what it knows and how it chooses is that of ``learner``."""

    learner: PrunedLearner
    matrix: Floats = field(init=False)  # [S, opponent's S] payoffs
    met: list[Floats] = field(init=False)  # what the opponent has played, pass by pass
    t: int = field(init=False)
    nodes: int = field(init=False)

    @property
    def treeplex(self) -> Treeplex:
        """The player's."""
        return self.learner.treeplex

    @property
    def ledger(self) -> Ledger:
        """The player's."""
        return self.learner.ledger

    @property
    def pruning(self) -> Pruning:
        """The player's."""
        return self.learner.pruning

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """v(I) and regrets, from the bottom up."""
        self.learner.learn(paid, reach, t)

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the bottom up, and choose; returns nodes touched."""
        self.matrix, self.met, self.t, self.nodes = matrix, met, t, 0
        books = self.ledger
        for infoset in np.flatnonzero(reach)[::-1].tolist():
            for s in self.learner.own(infoset):
                if books.pruned[s] and (self.learner.expired(s, t) or self._due(infoset, s, 0.0)):
                    risen = self._paid(s, int(books.began[s])) - (books.value[infoset] - books.value_then[s])
                    books.regret[s] += risen
                    if self.learner.rule.plus and risen > 0.0 and books.regret[s] < 0.0:
                        books.regret[s] = 0.0
                    books.pruned[s] = 0
            self._begin(infoset)
        return self.nodes

    def _due(self, infoset: int, s: int, earned: float) -> bool:
        """Does (9) fail, if the infoset has ``earned`` that much beside what its books say?"""
        books = self.ledger
        risen = (books.reach[infoset] - books.reach_then[s]) * self.learner.side.best[s]
        return bool(books.regret[s] + risen > books.value[infoset] + earned - books.value_then[s])

    def _begin(self, infoset: int) -> None:
        """Prune what (10) promises enough of; regret matching over the rest."""
        books = self.ledger
        for s in [s for s in self.learner.open(infoset) if self.learner.promising(infoset, s, self.t)]:
            books.pruned[s], books.began[s], books.began_at[s] = 1, len(self.met), self.t
            books.value_then[s], books.reach_then[s] = books.value[infoset], books.reach[infoset]
        self.learner.choose(infoset, self.t)

    def _paid(self, s: int, since: int) -> float:
        """What a sequence would have been paid since that pass, with one best response below to all of it."""
        side, stretch = self.learner.side, np.sum(self.met[since:], axis=0)
        self.nodes += int(side.after[s])
        total = float(self.matrix[s] @ stretch)
        for infoset in side.child[side.child_start[s] : side.child_start[s + 1]].tolist():
            if times(side.ways, infoset, stretch) > 0.0:
                total += self._settle(infoset, since)
        return total

    def _settle(self, infoset: int, since: int) -> float:
        """Bring an infoset up to date; returns what the response earned there since that pass."""
        books, side = self.ledger, self.learner.side
        gain = {s: self._paid(s, since) for s in self.learner.open(infoset)}
        books.reach[infoset] = times(side.ways, infoset, np.sum(self.met, axis=0))
        earned, regret = max(gain.values()), dict[int, float]()
        for s in self.learner.own(infoset):
            if books.pruned[s] and self._due(infoset, s, earned):
                risen = self._paid(s, int(books.began[s])) - (books.value[infoset] - books.value_then[s])
                regret[s] = float(books.regret[s]) + risen
                earned = max(earned, regret[s])
        for s, paid in gain.items():
            books.regret[s] += paid - earned
        for s, after in regret.items():
            forget = self.learner.rule.plus and after - earned > books.regret[s]
            books.regret[s], books.pruned[s] = 0.0 if forget else after - earned, 0
        books.value[infoset] += earned
        self._begin(infoset)
        return earned
