"""CFR by walks over the history tree with pruning, as the papers tell it, for small games.

Regret matching: Brown & Sandholm (2015). Hedge and regret matching with dynamic thresholding: Brown, Kroer & Sandholm
(2017). Here everything is kept that the papers say could be kept: the opponent's strategy of every iteration, so that a
best response to its average over the skipped ones needs no stored values; every value v(I), so that its variance is
taken of the values themselves; and sums are complete after every iteration.
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
    """One player's books."""

    strategy: Floats  # [S]
    regret: Floats  # [S]
    average: Floats  # [S]
    pruned: Bytes  # [S]
    inside_pruned: Bytes  # [I] below a pruned sequence
    value: Floats  # [I] sum of v(I)
    reach: Floats  # [I] sum of the counterfactual reach
    began: Ints  # [S] how many passes had been played when pruning began
    began_at: Ints  # [S] after which iteration
    value_then: Floats  # [S]
    reach_then: Floats  # [S]
    played: list[Floats] = field(default_factory=list[Floats])  # what the opponent met of this player, pass by pass


def ledger(treeplex: Treeplex, strategy: Floats) -> Ledger:
    """Before the first iteration."""
    regret, average, value_then, reach_then = (np.zeros(treeplex.sequences) for _ in range(4))
    value, reach = np.zeros(treeplex.infosets), np.zeros(treeplex.infosets)
    pruned, inside_pruned = (np.zeros(size, dtype=np.int8) for size in (treeplex.sequences, treeplex.infosets))
    began, began_at = (np.zeros(treeplex.sequences, dtype=np.int32) for _ in range(2))
    return Ledger(
        strategy.copy(), regret, average, pruned, inside_pruned, value, reach, began, began_at, value_then, reach_then
    )


class PrunedWalk:
    """One traversal: nodes entered, what every sequence is paid, reach of every infoset; for both players."""

    def __init__(
        self, tree: LevelTree, treeplexes: tuple[Treeplex, Treeplex], ledgers: tuple[Ledger, Ledger], partial: bool
    ) -> None:
        self.tree, self.ledgers, self.partial, self.touched = tree, ledgers, partial, 0
        self.paid = [np.zeros(treeplex.sequences) for treeplex in treeplexes]
        self.reach = [np.zeros(treeplex.infosets) for treeplex in treeplexes]

    def enter(self, node: int, reach: tuple[float, float], last: tuple[int, int]) -> None:
        """A history, with the counterfactual reach and the last sequence of each player."""
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
        for place, child in enumerate(children):
            below, then = list(reach), list(last)
            if mover < 0:
                below = [each * float(tree.probability[child]) for each in below]
            else:
                then[mover] = int(tree.first[node]) + place
                if self.ledgers[mover].pruned[then[mover]]:
                    continue
                below[1 - mover] *= float(self.ledgers[mover].strategy[then[mover]])
            if self.partial and not any(below):
                continue
            self.enter(child, (below[0], below[1]), (then[0], then[1]))


@dataclass
class PrunedLearner:
    """One player: the books, the values seen, how to choose and what to skip."""

    treeplex: Treeplex
    side: PlayerPaths
    ledger: Ledger
    rule: WalkRule
    pruning: Pruning
    values: list[list[float]] = field(init=False)  # of each infoset, one per iteration, as far as they are known

    def __post_init__(self) -> None:
        self.values = [[] for _ in range(self.treeplex.infosets)]

    @property
    def plain(self) -> bool:
        """Regret matching without thresholds?"""
        return isinstance(self.rule, PlainRule)

    def own(self, infoset: int) -> list[int]:
        """An infoset's sequences."""
        return list(range(self.treeplex.first[infoset], self.treeplex.first[infoset + 1]))

    def open(self, infoset: int) -> list[int]:
        """Those that are not pruned."""
        return [s for s in self.own(infoset) if not self.ledger.pruned[s]]

    def below(self, s: int) -> list[int]:
        """D(I, a), parents first."""
        found = [infoset for infoset in range(self.treeplex.infosets) if self.treeplex.parent[infoset] == s]
        return sorted(found + [deeper for infoset in found for q in self.own(infoset) for deeper in self.below(q)])

    def eta(self, infoset: int, t: int) -> float:
        """Hedge's rate after iteration t."""
        rule, seen = self.rule, self.values[infoset]
        squares = 0.0 if len(set(seen)) == 1 else float(np.var(seen)) * t
        return step_size(rule.kind, rule.log_actions[infoset], rule.payoff_range[infoset], squares, float(t))

    def least(self, infoset: int, t: int) -> float:
        """The threshold of iteration t + 1."""
        return float(self.rule.limit[infoset]) / math.sqrt(t + 1.0)

    def choose(self, infoset: int, t: int) -> None:
        """The strategy after iteration t over what is not pruned: Hedge or regret matching, thresholded or not."""
        books, free = self.ledger, self.open(infoset)
        if self.rule.kind == MATCHING:
            shares = matched(books.regret[free])
        else:
            weights = np.exp(self.eta(infoset, t) * (books.regret[free] - books.regret[free].max()))
            shares = weights / weights.sum()
        books.strategy[self.own(infoset)] = 0.0
        books.strategy[free] = shares if self.plain else cut(shares, self.least(infoset, t))

    def responding(self) -> set[int]:
        """Infosets where best responses are played: behind unplayed actions of regret at most -(U(I) - L(I))."""
        books, found = self.ledger, set[int]()
        for s in range(1, self.treeplex.sequences) if self.pruning.respond else ():
            if not books.strategy[s] and books.regret[s] <= -self.side.payoff_range[self.side.owner[s]]:
                found.update(self.below(s))
        return found

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """v(I) and regrets, from the bottom up."""
        books, responding = self.ledger, self.responding()
        for infoset in reversed(range(self.treeplex.infosets)):
            if reach[infoset] == 0.0:
                continue
            free = self.open(infoset)
            mean = sum(float(books.strategy[s] * paid[s]) for s in free)
            value = float(paid[free].max()) if infoset in responding else mean
            paid[self.treeplex.parent[infoset]] += value
            books.value[infoset] += value
            books.reach[infoset] += reach[infoset]
            self.values[infoset] += [0.0] * (t - 1 - len(self.values[infoset])) + [value]
            for s in free:
                gain = paid[s] - value
                forget = self.rule.plus and gain > 0.0 and books.regret[s] <= 0.0
                books.regret[s] = gain if forget else books.regret[s] + gain
            if self.plain:
                self.choose(infoset, t)

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the top down, and choose; returns nodes touched."""
        nodes = 0
        for infoset in range(self.treeplex.infosets):
            if reach[infoset] == 0.0 or self.ledger.inside_pruned[infoset]:
                continue
            if self.pruning.threshold >= 0.0:
                nodes += sum(self._reconsider(infoset, s, matrix, met, t) for s in self.own(infoset))
            self.choose(infoset, t)
        return nodes

    def _reconsider(self, infoset: int, s: int, matrix: Floats, met: list[Floats], t: int) -> int:
        books, looked = self.ledger, False
        if books.pruned[s]:
            if not self._due(infoset, s, t):
                return 0
            self.respond(s, matrix, met, t)
            looked = True
        if self.promising(infoset, s, t):
            looked = True
            for deeper in self.below(s):
                for q in self.own(deeper):
                    if books.pruned[q]:
                        self.respond(q, matrix, met, t)
            books.inside_pruned[self.below(s)] = 1
            books.pruned[s], books.began[s], books.began_at[s] = 1, len(met), t
            books.value_then[s], books.reach_then[s] = books.value[infoset], books.reach[infoset]
        return int(self.side.below[s]) if looked else 0

    def promising(self, infoset: int, s: int, t: int) -> bool:
        """Would more iterations be skipped than the threshold says, at the drift so far (10), or by Theorem 1?"""
        books = self.ledger
        drift = (books.reach[infoset] * self.side.best[s] - books.value[infoset]) / t
        enough = not self.pruning.fixed or self.guaranteed(s) > self.pruning.threshold
        return enough and self._room(infoset, s, t) > self.pruning.threshold * drift

    def guaranteed(self, s: int) -> float:
        """m of Theorem 1."""
        spread = float(self.side.best[s] - self.side.lowest[self.side.owner[s]])
        return math.floor(-self.ledger.regret[s] / spread) if spread > 0.0 else math.inf

    def expired(self, s: int, t: int) -> bool:
        """Has a pruning lasted as long as it may?"""
        pruning, skipped = self.pruning, t - self.ledger.began_at[s]
        return bool(0.0 < pruning.longest <= skipped or (pruning.fixed and skipped >= self.guaranteed(s)))

    def _due(self, infoset: int, s: int, t: int) -> bool:
        """Could a pruned action be played by now: does (9) or (11) fail? Or has it been pruned for long enough?"""
        books = self.ledger
        if self.expired(s, t):
            return True
        risen = (books.reach[infoset] - books.reach_then[s]) * self.side.best[s]
        if self.plain:
            return bool(books.regret[s] + risen > books.value[infoset] - books.value_then[s])
        rest = books.regret[self.open(infoset)]
        bound = books.regret[s] + risen - (books.value[infoset] - books.value_then[s])
        if self.rule.kind == MATCHING:
            total = bound + np.maximum(rest, 0.0).sum()
            return bool(bound > 0.0 and (bound >= rest.max() or bound / total >= self.least(infoset, t)))
        if bound >= rest.max():  # the most likely action is played whatever the threshold
            return True
        eta = self.eta(infoset, t)
        weight = math.exp(eta * (bound - rest.max()))
        return bool(weight / (weight + np.exp(eta * (rest - rest.max())).sum()) >= self.least(infoset, t))

    def _room(self, infoset: int, s: int, t: int) -> float:
        """How far the regret of an open action is from where it would be played; -inf where it may not be pruned."""
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
        """End the pruning of ``s`` by one best response to all that the opponent played meanwhile."""
        books, found = self.ledger, self.below(s)
        paid = matrix @ np.sum(met[books.began[s] :], axis=0)
        for infoset in reversed(found):
            best = float(paid[self.own(infoset)].max())
            books.regret[self.own(infoset)] += paid[self.own(infoset)] - best
            paid[self.treeplex.parent[infoset]] += best
            books.value[infoset] += best
            books.reach[infoset] = times(self.side.ways, infoset, np.sum(met, axis=0))
            missed = t - len(self.values[infoset])
            self.values[infoset] += [best / missed] * missed if missed else []
        for infoset in found:
            books.inside_pruned[infoset] = 0
            self.choose(infoset, t)
        risen = paid[s] - (books.value[self.side.owner[s]] - books.value_then[s])
        books.regret[s] += risen
        if self.rule.plus and risen > 0.0 and books.regret[s] < 0.0:
            books.regret[s] = 0.0
        books.pruned[s] = 0


class WalkPlayer(Protocol):
    """A player of ``walk_iterations``."""

    @property
    def treeplex(self) -> Treeplex:
        """Its infosets and sequences."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Its books."""
        ...

    @property
    def pruning(self) -> Pruning:
        """What it skips."""
        ...

    def learn(self, paid: Floats, reach: Floats, t: int) -> None:
        """From a walk."""
        ...

    def revise(self, reach: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning; returns nodes touched."""
        ...


def walk_iterations(
    tree: LevelTree, matrices: Payoffs, players: tuple[WalkPlayer, WalkPlayer], start: int, weight: Floats, turns: int
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched."""
    nodes = 0
    treeplexes, ledgers = (players[0].treeplex, players[1].treeplex), (players[0].ledger, players[1].ledger)
    earned = [dense(matrices[player], treeplexes[1 - player].sequences) * (1 - 2 * player) for player in (0, 1)]
    for t, share in enumerate(weight, start + 1):
        for learning in ((0, 1),) if turns == SIMULTANEOUS else ((0,), (1,)):
            walk = PrunedWalk(tree, treeplexes, ledgers, players[0].pruning.partial)
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
    """A row times a vector."""
    entries = slice(matrix.start[row], matrix.start[row + 1])
    return float(matrix.data[entries] @ vector[matrix.column[entries]])


def dense(matrix: Csr, columns: int) -> Floats:
    """[rows, columns]."""
    out = np.zeros((len(matrix.start) - 1, columns))
    for row in range(len(out)):
        entries = slice(matrix.start[row], matrix.start[row + 1])
        np.add.at(out[row], matrix.column[entries], matrix.data[entries])
    return out
