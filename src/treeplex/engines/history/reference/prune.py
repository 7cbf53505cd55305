"""CFR by walks over the history tree with pruning, as the paper tells it (Brown & Sandholm 2015), for small games.

Here everything is kept that the paper says could be kept: the opponent's strategy of every iteration, so that a best
response to its average over the skipped ones needs no stored values; and sums are complete after every iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import Rule
from treeplex.engines.history.levels import LevelTree
from treeplex.engines.history.paths import Side
from treeplex.engines.sequence.reference.treeplex import realization_plan
from treeplex.updates.turns import SIMULTANEOUS


@dataclass
class Ledger:
    """One player's books."""

    behaviour: Floats  # [S]
    regret: Floats  # [S]
    average: Floats  # [S]
    pruned: Bytes  # [S]
    frozen: Bytes  # [I] below a pruned sequence
    worth: Floats  # [I] sum of v(I)
    mass: Floats  # [I] sum of the opponent's and chance's reach
    began: Ints  # [S] how many passes had been met when pruning began
    worth_then: Floats  # [S]
    mass_then: Floats  # [S]
    met: list[Floats] = field(default_factory=list[Floats])  # what the opponent met of this player, pass by pass


def ledger(treeplex: Treeplex, behaviour: Floats) -> Ledger:
    """Before the first iteration."""
    size, infosets = treeplex.sequences, treeplex.infosets
    return Ledger(
        behaviour.copy(),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, dtype=np.int8),
        np.zeros(infosets, dtype=np.int8),
        np.zeros(infosets),
        np.zeros(infosets),
        np.zeros(size, dtype=np.int32),
        np.zeros(size),
        np.zeros(size),
    )


class Walk:
    """One traversal: nodes entered, payoffs earned by every sequence, reach of every infoset; for both players."""

    def __init__(
        self, tree: LevelTree, treeplexes: tuple[Treeplex, Treeplex], ledgers: tuple[Ledger, Ledger], partial: bool
    ) -> None:
        self.tree, self.ledgers, self.partial, self.touched = tree, ledgers, partial, 0
        self.earned = [np.zeros(treeplex.sequences) for treeplex in treeplexes]
        self.mass = [np.zeros(treeplex.infosets) for treeplex in treeplexes]

    def enter(self, node: int, reach: tuple[float, float], last: tuple[int, int]) -> None:
        """A history, with the counterfactual reach and the last sequence of each player."""
        tree = self.tree
        self.touched += 1
        children = range(tree.child[node], tree.child[node + 1])
        actor = int(tree.mover[node])
        if not children:
            self.earned[0][last[0]] += reach[0] * tree.payoff[node]
            self.earned[1][last[1]] -= reach[1] * tree.payoff[node]
            return
        if actor >= 0:
            self.mass[actor][tree.infoset[node]] += reach[actor]
        for place, child in enumerate(children):
            below, then = list(reach), list(last)
            if actor < 0:
                below = [each * float(tree.probability[child]) for each in below]
            else:
                then[actor] = int(tree.first[node]) + place
                if self.ledgers[actor].pruned[then[actor]]:
                    continue
                below[1 - actor] *= float(self.ledgers[actor].behaviour[then[actor]])
            if self.partial and not any(below):
                continue
            self.enter(child, (below[0], below[1]), (then[0], then[1]))


def pruned_iterations(
    tree: LevelTree,
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrices: Payoffs,
    ledgers: tuple[Ledger, Ledger],
    start: int,
    weight: Floats,
    rule: Rule,
    turns: int,
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched."""
    nodes = 0
    for t, share in enumerate(weight, start + 1):
        for learning in ((0, 1),) if turns == SIMULTANEOUS else ((0,), (1,)):
            walk = Walk(tree, treeplexes, ledgers, rule.partial)
            walk.enter(0, (float(0 in learning), float(1 in learning)), (0, 0))
            nodes += walk.touched
            played = [_weights(treeplexes[player], ledgers[player].behaviour) for player in (0, 1)]
            for player in learning:
                ledgers[player].average += share * played[player]
                ledgers[1 - player].met.append(played[1 - player])
            for player in learning:
                learner = Learning(treeplexes[player], sides[player], ledgers[player], rule)
                learner.update_regrets(walk.earned[player], walk.mass[player])
                matrix = matrices[player]
                dense = np.zeros((treeplexes[player].sequences, treeplexes[1 - player].sequences))
                for s in range(len(dense)):
                    span = slice(matrix.start[s], matrix.start[s + 1])
                    np.add.at(dense[s], matrix.column[span], matrix.data[span] * (1 - 2 * player))
                nodes += learner.revise(walk.mass[player], dense, ledgers[1 - player].met, t)
    return nodes


@dataclass
class Learning:
    """One player's part of a pass."""

    treeplex: Treeplex
    side: Side
    ledger: Ledger
    rule: Rule

    def own(self, infoset: int) -> range:
        """An infoset's sequences."""
        return range(self.treeplex.first[infoset], self.treeplex.first[infoset + 1])

    def below(self, s: int) -> list[int]:
        """D(I, a)."""
        found = [infoset for infoset in range(self.treeplex.infosets) if self.treeplex.parent[infoset] == s]
        return found + [deeper for infoset in found for q in self.own(infoset) for deeper in self.below(q)]

    def update_regrets(self, earned: Floats, mass: Floats) -> None:
        """v(I) and r(I, a), from the bottom up."""
        books = self.ledger
        responding: set[int] = set()
        for s in range(1, self.treeplex.sequences):
            if (
                self.rule.respond
                and not books.behaviour[s]
                and books.regret[s] <= -self.side.spread[self.side.owner[s]]
            ):
                responding.update(self.below(s))
        for infoset in reversed(range(self.treeplex.infosets)):
            if mass[infoset] == 0.0:
                continue
            free = [s for s in self.own(infoset) if not books.pruned[s]]
            mean = sum(books.behaviour[s] * earned[s] for s in free)
            value = max(earned[s] for s in free) if infoset in responding else mean
            earned[self.treeplex.parent[infoset]] += value
            books.worth[infoset] += value
            books.mass[infoset] += mass[infoset]
            for s in free:
                gain = earned[s] - value
                forget = self.rule.plus and gain > 0.0 and books.regret[s] <= 0.0
                books.regret[s] = gain if forget else books.regret[s] + gain
            self.match(infoset)

    def revise(self, mass: Floats, matrix: Floats, met: list[Floats], t: int) -> int:
        """End and begin pruning, from the top down, and match regrets; returns nodes touched."""
        books, nodes = self.ledger, 0
        for infoset in range(self.treeplex.infosets):
            if mass[infoset] == 0.0 or books.frozen[infoset]:
                continue
            if self.rule.threshold >= 0.0:
                for s in self.own(infoset):
                    nodes += self._reconsider(infoset, s, matrix, met, t)
            self.match(infoset)
        return nodes

    def _reconsider(self, infoset: int, s: int, matrix: Floats, met: list[Floats], t: int) -> int:
        books, highest = self.ledger, self.side.best[s]
        looked = False
        if books.pruned[s]:
            risen = (books.mass[infoset] - books.mass_then[s]) * highest
            if books.regret[s] + risen <= books.worth[infoset] - books.worth_then[s]:  # inequality (9)
                return 0
            self.respond(s, matrix, met)
            looked = True
        positive = any(books.regret[q] > 0.0 and not books.pruned[q] for q in self.own(infoset))
        drift = (books.mass[infoset] * highest - books.worth[infoset]) / t
        if positive and books.regret[s] < 0.0 and -books.regret[s] > self.rule.threshold * drift:  # equation (10)
            looked = True
            for deeper in self.below(s):
                for q in self.own(deeper):
                    if books.pruned[q]:
                        self.respond(q, matrix, met)
            books.frozen[self.below(s)] = 1
            books.pruned[s], books.began[s] = 1, len(met)
            books.worth_then[s], books.mass_then[s] = books.worth[infoset], books.mass[infoset]
        return int(self.side.below[s]) if looked else 0

    def respond(self, s: int, matrix: Floats, met: list[Floats]) -> None:
        """End the pruning of ``s`` by one best response to all that the opponent played meanwhile."""
        books = self.ledger
        earned = matrix @ np.sum(met[books.began[s] :], axis=0)
        found = sorted(self.below(s))
        for infoset in reversed(found):
            best = max(earned[q] for q in self.own(infoset))
            for q in self.own(infoset):
                books.regret[q] += earned[q] - best
            earned[self.treeplex.parent[infoset]] += best
        for infoset in found:
            books.frozen[infoset] = 0
            self.match(infoset)
        risen = earned[s] - (books.worth[self.side.owner[s]] - books.worth_then[s])
        books.regret[s] += risen
        if self.rule.plus and risen > 0.0 and books.regret[s] < 0.0:
            books.regret[s] = 0.0
        books.pruned[s] = 0

    def match(self, infoset: int) -> None:
        """Regret matching over what is not pruned."""
        books = self.ledger
        free = [s for s in self.own(infoset) if not books.pruned[s]]
        hope = np.maximum(books.regret[free], 0.0)
        books.behaviour[list(self.own(infoset))] = 0.0
        books.behaviour[free] = hope / hope.sum() if hope.sum() > 0.0 else 1.0 / len(free)


def _weights(treeplex: Treeplex, behaviour: Floats) -> Floats:
    out = np.empty(treeplex.sequences)
    realization_plan(treeplex, behaviour, out)
    return out
