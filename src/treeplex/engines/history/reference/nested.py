"""Regret-based pruning with free starts, persistent nested prunings and partial best responses, for small games.

Prunings end and begin as in ``engines.history.cpu.nested``; all else is as in ``prune``. This version stores the
opponent's strategy of every pass. It computes the payments of a sequence in a stretch of passes from those strategies,
so it needs neither sums of payments nor a clock.
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
    """One player. State and strategies are those of ``learner``."""

    learner: PrunedLearner
    matrix: Floats = field(init=False)  # [S, opponent's S] payoffs
    met: list[Floats] = field(init=False)  # the opponent's strategies, pass by pass
    t: int = field(init=False)
    nodes: int = field(init=False)

    @property
    def treeplex(self) -> Treeplex:
        """The player's infosets and sequences."""
        return self.learner.treeplex

    @property
    def ledger(self) -> Ledger:
        """The player's regrets, sums and prunings."""
        return self.learner.ledger

    @property
    def pruning(self) -> Pruning:
        """The player's options of pruning."""
        return self.learner.pruning

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """Compute v(I) and regrets, from the bottom up."""
        self.learner.learn(paid, reach, t)

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the bottom up, and update strategies; return the nodes touched."""
        self.matrix, self.met, self.t, self.nodes = matrix, met, t, 0
        ledger = self.ledger
        for infoset in np.flatnonzero(reach)[::-1].tolist():
            for s in self.learner.own(infoset):
                if ledger.pruned[s] and (self.learner.expired(s, t) or self._due(infoset, s, 0.0)):
                    risen = self._paid(s, int(ledger.began[s])) - (ledger.value[infoset] - ledger.value_then[s])
                    ledger.regret[s] += risen
                    if self.learner.rule.plus and risen > 0.0 and ledger.regret[s] < 0.0:
                        ledger.regret[s] = 0.0
                    ledger.pruned[s] = 0
            self._begin(infoset)
        return self.nodes

    def _due(self, infoset: int, s: int, earned: float) -> bool:
        """Return whether (9) fails if the infoset has ``earned`` this much in addition to the sum in its ledger."""
        ledger = self.ledger
        risen = (ledger.reach[infoset] - ledger.reach_then[s]) * self.learner.side.best[s]
        return bool(ledger.regret[s] + risen > ledger.value[infoset] + earned - ledger.value_then[s])

    def _begin(self, infoset: int) -> None:
        """Prune the sequences that satisfy (10), and apply regret matching to the others."""
        ledger = self.ledger
        for s in [s for s in self.learner.open(infoset) if self.learner.promising(infoset, s, self.t)]:
            ledger.pruned[s], ledger.began[s], ledger.began_at[s] = 1, len(self.met), self.t
            ledger.value_then[s], ledger.reach_then[s] = ledger.value[infoset], ledger.reach[infoset]
        self.learner.choose(infoset, self.t)

    def _paid(self, s: int, since: int) -> float:
        """Return the payments of a sequence since that pass, with one best response below to all of it."""
        side, stretch = self.learner.side, np.sum(self.met[since:], axis=0)
        self.nodes += int(side.after[s])
        total = float(self.matrix[s] @ stretch)
        for infoset in side.child[side.child_start[s] : side.child_start[s + 1]].tolist():
            if times(side.reach_rows, infoset, stretch) > 0.0:
                total += self._settle(infoset, since)
        return total

    def _settle(self, infoset: int, since: int) -> float:
        """Bring an infoset up to date; return the earnings of the best response there since that pass."""
        ledger, side = self.ledger, self.learner.side
        gain = {s: self._paid(s, since) for s in self.learner.open(infoset)}
        ledger.reach[infoset] = times(side.reach_rows, infoset, np.sum(self.met, axis=0))
        earned, regret = max(gain.values()), dict[int, float]()
        for s in self.learner.own(infoset):
            if ledger.pruned[s] and self._due(infoset, s, earned):
                risen = self._paid(s, int(ledger.began[s])) - (ledger.value[infoset] - ledger.value_then[s])
                regret[s] = float(ledger.regret[s]) + risen
                earned = max(earned, regret[s])
        for s, paid in gain.items():
            ledger.regret[s] += paid - earned
        for s, after in regret.items():
            forget = self.learner.rule.plus and after - earned > ledger.regret[s]
            ledger.regret[s], ledger.pruned[s] = 0.0 if forget else after - earned, 0
        ledger.value[infoset] += earned
        self._begin(infoset)
        return earned
