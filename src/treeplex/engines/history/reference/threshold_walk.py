"""Walks with dynamic thresholding, as the paper tells it (Brown, Kroer & Sandholm 2017), for small games.

Books and traversals are those of ``engines.history.reference.prune``, which keep all that could be kept; here also
every value v(I), so that its variance is taken of the values themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import Odds
from treeplex.engines.history.levels import LevelTree
from treeplex.engines.history.paths import Side
from treeplex.engines.history.reference.prune import Ledger, Walk
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.updates.hedge import MATCHING
from treeplex.updates.reference import step_size
from treeplex.updates.thresholds import cut
from treeplex.updates.turns import SIMULTANEOUS


@dataclass
class Thinking:
    """One player: the books, the values seen, and how to choose."""

    treeplex: Treeplex
    side: Side
    ledger: Ledger
    odds: Odds
    values: list[list[float]] = field(init=False)  # of each infoset, one an iteration, as far as they are known

    def __post_init__(self) -> None:
        self.values = [[] for _ in range(self.treeplex.infosets)]

    def own(self, infoset: int) -> list[int]:
        """An infoset's sequences."""
        return list(range(self.treeplex.first[infoset], self.treeplex.first[infoset + 1]))

    def below(self, s: int) -> list[int]:
        """D(I, a), parents first."""
        found = [infoset for infoset in range(self.treeplex.infosets) if self.treeplex.parent[infoset] == s]
        return sorted(found + [deeper for infoset in found for q in self.own(infoset) for deeper in self.below(q)])

    def eta(self, infoset: int, t: int) -> float:
        """Hedge's rate after iteration t."""
        squares = float(np.var(self.values[infoset])) * t
        squares = 0.0 if len(set(self.values[infoset])) == 1 else squares
        odds = self.odds
        return step_size(odds.kind, odds.log_actions[infoset], odds.payoff_range[infoset], squares, float(t))

    def least(self, infoset: int, t: int) -> float:
        """The threshold of iteration t + 1."""
        return float(self.odds.limit[infoset]) / math.sqrt(t + 1.0)

    def choose(self, infoset: int, t: int) -> None:
        """The strategy after iteration t: Hedge (8) or regret matching (7), thresholded."""
        books, own = self.ledger, self.own(infoset)
        free = [s for s in own if not books.pruned[s]]
        if self.odds.kind == MATCHING:
            likely = np.maximum(books.regret[free], 0.0)
            likely = likely if likely.sum() > 0.0 else np.ones(len(free))
        else:
            likely = np.exp(self.eta(infoset, t) * (books.regret[free] - books.regret[free].max()))
        books.behaviour[own] = 0.0
        books.behaviour[free] = cut(likely / likely.sum(), self.least(infoset, t))

    def learn(self, earned: Floats, mass: Floats, t: int) -> None:
        """v(I) and regrets, from the bottom up."""
        books = self.ledger
        for infoset in reversed(range(self.treeplex.infosets)):
            if mass[infoset] == 0.0:
                continue
            free = [s for s in self.own(infoset) if not books.pruned[s]]
            value = float(books.behaviour[free] @ earned[free])
            earned[self.treeplex.parent[infoset]] += value
            books.regret[free] += earned[free] - value
            books.worth[infoset] += value
            books.mass[infoset] += mass[infoset]
            self.values[infoset] += [0.0] * (t - 1 - len(self.values[infoset])) + [value]

    def revise(self, mass: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the top down, and choose; returns nodes touched."""
        nodes = 0
        for infoset in range(self.treeplex.infosets):
            if mass[infoset] == 0.0 or self.ledger.frozen[infoset]:
                continue
            if self.odds.patience >= 0.0:
                nodes += sum(self._reconsider(infoset, s, matrix, met, t) for s in self.own(infoset))
            self.choose(infoset, t)
        return nodes

    def _reconsider(self, infoset: int, s: int, matrix: Floats, met: list[Floats], t: int) -> int:
        books, eta, least, looked = self.ledger, self.eta(infoset, t), self.least(infoset, t), False
        if books.pruned[s]:
            rest = books.regret[[q for q in self.own(infoset) if not books.pruned[q]]]
            risen = (books.mass[infoset] - books.mass_then[s]) * self.side.best[s]
            bound = books.regret[s] + risen - (books.worth[infoset] - books.worth_then[s])
            likely = math.exp(min(eta * (bound - rest.max()), 0.0))
            if likely / (likely + np.exp(eta * (rest - rest.max())).sum()) < least:  # condition (11)
                return 0
            self.respond(s, matrix, met, t)
            looked = True
        rest = books.regret[[q for q in self.own(infoset) if not books.pruned[q]]]
        likely = math.exp(eta * (books.regret[s] - rest.max()))
        total = float(np.exp(eta * (rest - rest.max())).sum())
        if likely < least * total and likely < 1.0:
            allowed = rest.max() + math.log(least / (1.0 - least) * (total - likely)) / eta
            drift = (books.mass[infoset] * self.side.best[s] - books.worth[infoset]) / t
            if allowed - books.regret[s] > self.odds.patience * drift:
                looked = True
                for deeper in self.below(s):
                    for q in self.own(deeper):
                        if books.pruned[q]:
                            self.respond(q, matrix, met, t)
                books.frozen[self.below(s)] = 1
                books.pruned[s], books.began[s] = 1, len(met)
                books.worth_then[s], books.mass_then[s] = books.worth[infoset], books.mass[infoset]
        return int(self.side.below[s]) if looked else 0

    def respond(self, s: int, matrix: Floats, met: list[Floats], t: int) -> None:
        """End the pruning of ``s`` by one best response to all that the opponent played meanwhile."""
        books = self.ledger
        earned = matrix @ np.sum(met[books.began[s] :], axis=0)
        found = self.below(s)
        for infoset in reversed(found):
            best = float(earned[self.own(infoset)].max())
            books.regret[self.own(infoset)] += earned[self.own(infoset)] - best
            earned[self.treeplex.parent[infoset]] += best
            missed = t - len(self.values[infoset])
            self.values[infoset] += [best / missed] * missed if missed else []
        for infoset in found:
            books.frozen[infoset] = 0
            self.choose(infoset, t)
        books.regret[s] += earned[s] - (books.worth[self.side.owner[s]] - books.worth_then[s])
        books.pruned[s] = 0


def thresholded_iterations(
    tree: LevelTree,
    matrices: Payoffs,
    players: tuple[Thinking, Thinking],
    start: int,
    weight: Floats,
    partial: bool,
    turns: int,
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched."""
    nodes = 0
    treeplexes, ledgers = (players[0].treeplex, players[1].treeplex), (players[0].ledger, players[1].ledger)
    for t, share in enumerate(weight, start + 1):
        for learning in ((0, 1),) if turns == SIMULTANEOUS else ((0,), (1,)):
            walk = Walk(tree, treeplexes, ledgers, partial)
            walk.enter(0, (float(0 in learning), float(1 in learning)), (0, 0))
            nodes += walk.touched
            played = [np.empty(treeplex.sequences) for treeplex in treeplexes]
            for player in (0, 1):
                realization_plan(treeplexes[player], ledgers[player].behaviour, played[player])
            for player in learning:
                ledgers[player].average += share * played[player]
                ledgers[1 - player].met.append(played[1 - player])
            for player in learning:
                rows = matrices[player]
                dense = np.zeros((treeplexes[player].sequences, treeplexes[1 - player].sequences))
                for s in range(len(dense)):
                    span = slice(rows.start[s], rows.start[s + 1])
                    np.add.at(dense[s], rows.column[span], rows.data[span] * (1 - 2 * player))
                players[player].learn(walk.earned[player], walk.mass[player], t)
                nodes += players[player].revise(walk.mass[player], dense, ledgers[1 - player].met, t)
    return nodes
