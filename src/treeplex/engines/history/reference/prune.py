"""CFR by walks over the history tree with pruning, as in the papers, for small games.

Regret matching: Brown & Sandholm (2015). Hedge and regret matching with dynamic thresholding: Brown, Kroer & Sandholm
(2017). This version stores everything that the papers say could be stored. It has the opponent's strategy of every
iteration, so a best response to the average over the skipped ones needs no stored values. It has every value v(I), so
the variance is computed from the values themselves. All sums are complete after every iteration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import PlainRule, Pruning, WalkRule
from treeplex.engines.history.levels import LevelTree
from treeplex.engines.history.paths import PlayerPaths
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.updates.hedge import MATCHING
from treeplex.updates.reference import matched, step_size
from treeplex.updates.thresholds import cut
from treeplex.updates.turns import SIMULTANEOUS


@dataclass
class Ledger:
    """Regrets, sums and prunings of one player."""

    strategy: Floats  # [S]
    regret: Floats  # [S]
    average: Floats  # [S]
    pruned: Bytes  # [S]
    inside_pruned: Bytes  # [I] below a pruned sequence
    value: Floats  # [I] sum of v(I)
    reach: Floats  # [I] sum of the counterfactual reach
    began: Ints  # [S] number of passes that had been played when pruning began
    began_at: Ints  # [S] the iteration after which pruning began
    value_then: Floats  # [S] ``value`` of the infoset when pruning began
    reach_then: Floats  # [S] ``reach`` of the infoset when pruning began
    played: list[Floats] = field(default_factory=list[Floats])  # plans that the opponent faced, pass by pass


def ledger(treeplex: Treeplex, strategy: Floats) -> Ledger:
    """Return the ledger of a player before the first iteration."""
    regret, average, value_then, reach_then = (np.zeros(treeplex.sequences) for _ in range(4))
    value, reach = np.zeros(treeplex.infosets), np.zeros(treeplex.infosets)
    pruned, inside_pruned = (np.zeros(size, dtype=np.int8) for size in (treeplex.sequences, treeplex.infosets))
    began, began_at = (np.zeros(treeplex.sequences, dtype=np.int32) for _ in range(2))
    return Ledger(
        strategy.copy(), regret, average, pruned, inside_pruned, value, reach, began, began_at, value_then, reach_then
    )


class PrunedWalk:
    """One traversal: nodes entered and, for both players, payments of every sequence and reach of every infoset."""

    def __init__(
        self, tree: LevelTree, treeplexes: tuple[Treeplex, Treeplex], ledgers: tuple[Ledger, Ledger], pruning: Pruning
    ) -> None:
        self.tree, self.ledgers, self.pruning, self.touched = tree, ledgers, pruning, 0
        self.paid = [np.zeros(treeplex.sequences) for treeplex in treeplexes]
        self.reach = [np.zeros(treeplex.infosets) for treeplex in treeplexes]

    def enter(self, node: int, reach: tuple[float, float], last: tuple[int, int]) -> None:
        """Enter a history, with the counterfactual reach and the last sequence of each player."""
        tree = self.tree
        self.touched += 1
        children = range(tree.child[node], tree.child[node + 1])
        mover = int(tree.mover[node])
        if not children:
            self.paid[0][last[0]] += reach[0] * tree.payoff[node]
            self.paid[1][last[1]] -= reach[1] * tree.payoff[node]
            return
        if mover >= 0:
            self.reach[mover][tree.infoset[node]] += reach[mover]
        for offset, child in enumerate(children):
            below, then = list(reach), list(last)
            if mover < 0:
                below = [each * float(tree.probability[child]) for each in below]
            else:
                then[mover] = int(tree.first[node]) + offset
                if self.ledgers[mover].pruned[then[mover]]:
                    continue
                below[1 - mover] *= float(self.ledgers[mover].strategy[then[mover]])
            below = [each if each >= self.pruning.least else 0.0 for each in below]
            if self.pruning.partial and not any(below):
                continue
            self.enter(child, (below[0], below[1]), (then[0], then[1]))


@dataclass
class PrunedLearner:
    """One player: the ledger, the values seen, the rule for strategies and the options of pruning."""

    treeplex: Treeplex
    side: PlayerPaths
    ledger: Ledger
    rule: WalkRule
    pruning: Pruning
    values: list[list[float]] = field(init=False)  # of each infoset, one per iteration up to the last known one

    def __post_init__(self) -> None:
        self.values = [[] for _ in range(self.treeplex.infosets)]

    @property
    def plain(self) -> bool:
        """Return whether the rule is regret matching without thresholds."""
        return isinstance(self.rule, PlainRule)

    def own(self, infoset: int) -> list[int]:
        """Return the sequences of an infoset."""
        return list(range(self.treeplex.first[infoset], self.treeplex.first[infoset + 1]))

    def open(self, infoset: int) -> list[int]:
        """Return the sequences of an infoset that are not pruned."""
        return [s for s in self.own(infoset) if not self.ledger.pruned[s]]

    def below(self, s: int) -> list[int]:
        """Return D(I, a), the infosets below a sequence, parents first."""
        tops = [infoset for infoset in range(self.treeplex.infosets) if self.treeplex.parent[infoset] == s]
        return sorted(tops + [deeper for infoset in tops for q in self.own(infoset) for deeper in self.below(q)])

    def eta(self, infoset: int, t: int) -> float:
        """Return Hedge's learning rate after iteration t."""
        rule, seen = self.rule, self.values[infoset]
        squares = 0.0 if len(set(seen)) == 1 else float(np.var(seen)) * t
        return step_size(rule.kind, rule.log_actions[infoset], rule.payoff_range[infoset], squares, float(t))

    def least(self, infoset: int, t: int) -> float:
        """Return the threshold of iteration t + 1."""
        return float(self.rule.limit[infoset]) / math.sqrt(t + 1.0)

    def choose(self, infoset: int, t: int) -> None:
        """Set the strategy after iteration t over open actions: Hedge or regret matching, thresholded or not."""
        ledger, free = self.ledger, self.open(infoset)
        if self.rule.kind == MATCHING:
            shares = matched(ledger.regret[free])
        else:
            weights = np.exp(self.eta(infoset, t) * (ledger.regret[free] - ledger.regret[free].max()))
            shares = weights / weights.sum()
        ledger.strategy[self.own(infoset)] = 0.0
        ledger.strategy[free] = shares if self.plain else cut(shares, self.least(infoset, t))

    def responding(self) -> set[int]:
        """Return the infosets that play best responses: below unplayed actions of regret at most -(U(I) - L(I))."""
        ledger, infosets = self.ledger, set[int]()
        for s in range(1, self.treeplex.sequences) if self.pruning.respond else ():
            if not ledger.strategy[s] and ledger.regret[s] <= -self.side.payoff_range[self.side.owner[s]]:
                infosets.update(self.below(s))
        return infosets

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """Compute v(I) and regrets, from the bottom up."""
        ledger, responding = self.ledger, self.responding()
        for infoset in reversed(range(self.treeplex.infosets)):
            if reach[infoset] == 0.0:
                continue
            free = self.open(infoset)
            mean = sum(float(ledger.strategy[s] * paid[s]) for s in free)
            value = float(paid[free].max()) if infoset in responding else mean
            paid[self.treeplex.parent[infoset]] += value
            ledger.value[infoset] += value
            ledger.reach[infoset] += reach[infoset]
            self.values[infoset] += [0.0] * (t - 1 - len(self.values[infoset])) + [value]
            for s in free:
                gain = paid[s] - value
                forget = self.rule.plus and gain > 0.0 and ledger.regret[s] <= 0.0
                ledger.regret[s] = gain if forget else ledger.regret[s] + gain
            if self.plain:
                self.choose(infoset, t)

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the top down, and update strategies; return the nodes touched."""
        nodes = 0
        for infoset in range(self.treeplex.infosets):
            if reach[infoset] == 0.0 or self.ledger.inside_pruned[infoset]:
                continue
            if self.pruning.threshold >= 0.0:
                nodes += sum(self._reconsider(infoset, s, matrix, met, t) for s in self.own(infoset))
            self.choose(infoset, t)
        return nodes

    def _reconsider(self, infoset: int, s: int, matrix: Floats, met: list[Floats], t: int) -> int:
        ledger, touched = self.ledger, False
        if ledger.pruned[s]:
            if not self._due(infoset, s, t):
                return 0
            self.respond(s, matrix, met, t)
            touched = True
        if self.promising(infoset, s, t):
            touched = True
            for deeper in self.below(s):
                for q in self.own(deeper):
                    if ledger.pruned[q]:
                        self.respond(q, matrix, met, t)
            ledger.inside_pruned[self.below(s)] = 1
            ledger.pruned[s], ledger.began[s], ledger.began_at[s] = 1, len(met), t
            ledger.value_then[s], ledger.reach_then[s] = ledger.value[infoset], ledger.reach[infoset]
        return int(self.side.below[s]) if touched else 0

    def promising(self, infoset: int, s: int, t: int) -> bool:
        """Return whether more iterations than the threshold will be skipped, by the drift so far (10) or Theorem 1."""
        ledger = self.ledger
        drift = (ledger.reach[infoset] * self.side.best[s] - ledger.value[infoset]) / t
        enough = not self.pruning.fixed or self.guaranteed(s) > self.pruning.threshold
        return enough and self._room(infoset, s, t) > self.pruning.threshold * drift

    def guaranteed(self, s: int) -> float:
        """Return m of Theorem 1."""
        spread = float(self.side.best[s] - self.side.lowest[self.side.owner[s]])
        return math.floor(-self.ledger.regret[s] / spread) if spread > 0.0 else math.inf

    def expired(self, s: int, t: int) -> bool:
        """Return whether a pruning has reached its longest duration."""
        pruning, skipped = self.pruning, t - self.ledger.began_at[s]
        return bool(0.0 < pruning.longest <= skipped or (pruning.fixed and skipped >= self.guaranteed(s)))

    def _due(self, infoset: int, s: int, t: int) -> bool:
        """Return whether a pruning must end: (9) or (11) fails, so the action could be played, or it has expired."""
        ledger = self.ledger
        if self.expired(s, t):
            return True
        risen = (ledger.reach[infoset] - ledger.reach_then[s]) * self.side.best[s]
        if self.plain:
            least = self.pruning.stretch * ledger.regret[s]
            return bool(least + risen > ledger.value[infoset] - ledger.value_then[s])
        rest = ledger.regret[self.open(infoset)]
        bound = ledger.regret[s] + risen - (ledger.value[infoset] - ledger.value_then[s])
        if self.rule.kind == MATCHING:
            total = bound + np.maximum(rest, 0.0).sum()
            return bool(bound > 0.0 and (bound >= rest.max() or bound / total >= self.least(infoset, t)))
        if bound >= rest.max():  # the most likely action is always played
            return True
        eta = self.eta(infoset, t)
        weight = math.exp(eta * (bound - rest.max()))
        return bool(weight / (weight + np.exp(eta * (rest - rest.max())).sum()) >= self.least(infoset, t))

    def _room(self, infoset: int, s: int, t: int) -> float:
        """Return how far the regret of an open action is from being played; -inf if it must not be pruned."""
        regret, rest = float(self.ledger.regret[s]), self.ledger.regret[self.open(infoset)]
        if self.plain:
            return -regret if (rest > 0.0).any() and regret < 0.0 else -math.inf
        least = self.least(infoset, t)
        if self.rule.kind == MATCHING:
            own, total = max(regret, 0.0), float(np.maximum(rest, 0.0).sum())
            if rest.max() <= 0.0 or least >= 1.0 or own >= least * total or regret >= rest.max():
                return -math.inf
            return least / (1.0 - least) * (total - own) - regret
        eta = self.eta(infoset, t)
        weight, total = math.exp(eta * (regret - rest.max())), float(np.exp(eta * (rest - rest.max())).sum())
        if least >= 1.0 or weight >= least * total or weight >= 1.0:
            return -math.inf
        return float(rest.max()) + math.log(least / (1.0 - least) * (total - weight)) / eta - regret

    def respond(self, s: int, matrix: Floats, met: list[Floats], t: int) -> None:
        """End the pruning of ``s`` by one best response to all that the opponent has played since it began."""
        ledger, infosets = self.ledger, self.below(s)
        paid = matrix @ np.sum(met[ledger.began[s] :], axis=0)
        for infoset in reversed(infosets):
            best = float(paid[self.own(infoset)].max())
            ledger.regret[self.own(infoset)] += paid[self.own(infoset)] - best
            paid[self.treeplex.parent[infoset]] += best
            ledger.value[infoset] += best
            ledger.reach[infoset] = times(self.side.reach_rows, infoset, np.sum(met, axis=0))
            missed = t - len(self.values[infoset])
            self.values[infoset] += [best / missed] * missed if missed else []
        for infoset in infosets:
            ledger.inside_pruned[infoset] = 0
            self.choose(infoset, t)
        risen = paid[s] - (ledger.value[self.side.owner[s]] - ledger.value_then[s])
        ledger.regret[s] += risen
        if self.rule.plus and risen > 0.0 and ledger.regret[s] < 0.0:
            ledger.regret[s] = 0.0
        ledger.pruned[s] = 0


class WalkPlayer(Protocol):
    """A player of ``walk_iterations``."""

    @property
    def treeplex(self) -> Treeplex:
        """The player's infosets and sequences."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The player's regrets, sums and prunings."""
        ...

    @property
    def pruning(self) -> Pruning:
        """The player's options of pruning."""
        ...

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """Learn from the payments and the reach of a walk."""
        ...

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning; return the nodes touched."""
        ...


def walk_iterations(
    tree: LevelTree, matrices: Payoffs, players: tuple[WalkPlayer, WalkPlayer], start: int, weight: Floats, turns: int
) -> int:
    """Run one iteration per entry of ``weight``, numbered from ``start + 1``; return the nodes touched."""
    nodes = 0
    treeplexes, ledgers = (players[0].treeplex, players[1].treeplex), (players[0].ledger, players[1].ledger)
    earned = [dense(matrices[player], treeplexes[1 - player].sequences) * (1 - 2 * player) for player in (0, 1)]
    for t, share in enumerate(weight, start + 1):
        for learning in ((0, 1),) if turns == SIMULTANEOUS else ((0,), (1,)):
            walk = PrunedWalk(tree, treeplexes, ledgers, players[0].pruning)
            walk.enter(0, (float(0 in learning), float(1 in learning)), (0, 0))
            nodes += walk.touched
            played = [np.empty(treeplex.sequences) for treeplex in treeplexes]
            for player in (0, 1):
                realization_plan(treeplexes[player], ledgers[player].strategy, played[player])
            for player in learning:
                ledgers[player].average += share * played[player]
                ledgers[1 - player].played.append(played[1 - player])
            for player in learning:
                players[player].learn(walk.paid[player], walk.reach[player], t)
                nodes += players[player].revise(walk.reach[player], earned[player], ledgers[1 - player].played, t)
    return nodes


def times(matrix: Csr, row: int, vector: Floats) -> float:
    """Return the product of a row and a vector."""
    entries = slice(matrix.start[row], matrix.start[row + 1])
    return float(matrix.data[entries] @ vector[matrix.column[entries]])


def dense(matrix: Csr, columns: int) -> Floats:
    """Return the matrix as a dense array, [rows, columns]."""
    out = np.zeros((len(matrix.start) - 1, columns))
    for row in range(len(out)):
        entries = slice(matrix.start[row], matrix.start[row + 1])
        np.add.at(out[row], matrix.column[entries], matrix.data[entries])
    return out
