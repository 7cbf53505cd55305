"""A game that is being solved and may grow: the tree, what is learnt, and how iterations count."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.archive import Archive
from treeplex.engines.public.arrays import Nodes, Scratch
from treeplex.engines.public.build import Builder
from treeplex.engines.public.cpu.growing import iterate, reach
from treeplex.engines.public.cpu.sizes import average_behaviour, respond
from treeplex.engines.public.tree import Block, GrowingTree, fresh_scratch
from treeplex.games.protocol import TERMINAL
from treeplex.games.sized import ActionMenu, Menu, sized_label


class Rule(NamedTuple):
    """Which member of the CFR family plays."""

    simultaneous: bool  # both players are judged at once; else they take turns
    linear: bool  # an iteration counts by its number in the average
    floor: bool  # regrets are cut off at zero


HEAVY: Final = 1e100  # weight of an iteration from which on sums are brought down

RULES: Final = {"cfr": Rule(True, False, False), "cfr+": Rule(False, True, True)}
"""``cfr`` is the paper's. For ``cfr+`` see ``docs/theory/abstraction.md``."""


class Measure(NamedTuple):
    """What the average strategies are worth, for player 0 and as NashConv."""

    value: float
    best_responses: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        """The sum of what both players could gain."""
        return max(sum(self.best_responses), 0.0)


class Response(NamedTuple):
    """A best response, node by node and hand by hand."""

    values: Floats  # [P, H] counterfactual
    loose: Floats  # [P, H] the part that does not depend on the size of the move to the node
    choice: Floats  # [P, H] the best size


class GrowingGame:
    """Rules with sizes, a tree that offers some of them, and the state of the solver in it."""

    def __init__(self, rules: ActionMenu, menu: Menu, rule: Rule, folder: Path | None = None) -> None:
        self.rules, self.rule = rules, rule
        self.builder = Builder(rules, menu)
        self.tree = GrowingTree(self.builder.whole())
        self.tables, self.bounds = self.builder.tables, self.builder.bounds
        self.archive = Archive(folder, self.tree.hands)
        self.halves = 0  # two make an iteration
        self.weight = 1.0  # of an iteration from now on: larger, where earlier ones have been discounted
        self.touched = 0  # histories
        self._scratch: Scratch | None = None
        self.peak_bytes = 0

    @property
    def iteration(self) -> int:
        """How many iterations have been done."""
        return self.halves // 2

    @property
    def norm(self) -> float:
        """What sums are divided by to be regrets: the number of the iteration if the average is linear."""
        return float(self.iteration) if self.rule.linear else 1.0

    @property
    def effective(self) -> float:
        """How many iterations of the present weight the past counts for."""
        return float(self.tree.rows.average[0, 0]) / (self.weight * self.norm) if self.iteration else 0.0

    @property
    def infosets(self) -> int:
        """In memory: decisions times hands that can be held."""
        mover = self.tree.nodes.mover
        return int(np.count_nonzero(mover >= 0)) * self.tree.hands

    @property
    def scratch(self) -> Scratch:
        """Arrays that an iteration writes over."""
        if self._scratch is None or self._scratch.values.shape[0] != self.tree.count:
            self._scratch = fresh_scratch(self.tree.count, self.tree.hands)
            used = self._scratch.reach.nbytes + self._scratch.values.nbytes
            self.peak_bytes = max(self.peak_bytes, self.tree.nbytes + used)
        return self._scratch

    def advance(self, iterations: int) -> None:
        """Iterate; what is archived comes back before it is needed."""
        upto = 2 * (self.iteration + iterations)
        while self.halves < upto:
            before, histories = self.halves, self.tree.histories
            self.halves = iterate(
                self.tree.nodes, self.tables, self.tree.rows, self.scratch, self.archive.nodes,
                self.rule.simultaneous, self.halves, upto, self.weight, self.rule.linear, self.rule.floor,
            )  # fmt: skip
            passes = (self.halves - before) // (2 if self.rule.simultaneous else 1)
            self.touched += passes * histories
            if self.halves < upto:
                self.archive.bring_back_reached(self.tree, self.scratch)

    def discount(self, share: float) -> None:
        """Weigh all that was done so far by ``share``: later iterations weigh so much more."""
        self.weight /= share
        if self.weight > HEAVY:  # before numbers run out, bring everything down; strategies do not change
            self.archive.bring_back_below(self.tree, 0)
            rows = self.tree.rows
            for sums in (rows.regret, rows.average, rows.worth, rows.loose, rows.earned):
                sums[:] /= self.weight
            self.weight = 1.0

    def averages(self) -> Floats:
        """[P, H] the average behaviour."""
        out = np.ones((self.tree.count, self.tree.hands))
        average_behaviour(self.tree.nodes, self.tree.rows.average, out)
        return out

    def respond(self, player: int, whole: bool = True, behaviour: Floats | None = None) -> Response:
        """A best response to the opponent's average, over all legal sizes or the offered ones."""
        behaviour = self.averages() if behaviour is None else behaviour
        opponent = np.ones((self.tree.count, self.tree.hands))
        reach(self.tree.nodes, behaviour, 1 - player, opponent)
        response = Response(*(np.zeros_like(opponent) for _ in Response._fields))
        for stub, block in self.archive.blocks():
            values, loose = self._respond_in(block, player, opponent[stub], whole)
            response.values[stub], response.loose[stub] = values, loose
        respond(
            self.tree.nodes, self.tables, player, opponent, self.bounds, self.rules.stretch, whole, *response
        )  # fmt: skip
        return response

    def measure(self, whole: bool = True) -> Measure:
        """Value and best-response values of the average strategies; ``whole``: in the full game, every size legal."""
        behaviour = self.averages()
        first, second = (float(self.respond(player, whole, behaviour).values[0].sum()) for player in (0, 1))
        return Measure(self._value(behaviour), (first, second))

    def line(self, node: int) -> tuple[str, ...]:
        """Labels of the moves that lead to a node."""
        nodes, words = self.tree.nodes, self.builder.words
        path = [(words[int(nodes.word[n])], float(nodes.size[n])) for n in self.tree.path(node)]
        return tuple(sized_label(word, size) if size > 0.0 else word for word, size in path)

    def _respond_in(self, block: Block, player: int, arriving: Floats, whole: bool) -> tuple[Floats, Floats]:
        """A best response's value, and its loose part, in a subgame that is on disk."""
        count = len(block.nodes.parent)
        behaviour = np.ones((count, self.tree.hands))
        average_behaviour(block.nodes, block.rows.average, behaviour)
        opponent = np.empty_like(behaviour)
        opponent[0] = arriving
        reach(block.nodes, behaviour, 1 - player, opponent)
        found = Response(*(np.zeros_like(opponent) for _ in Response._fields))
        respond(block.nodes, self.tables, player, opponent, self.bounds, self.rules.stretch, whole, *found)
        return found.values[0], found.loose[0]

    def _value(self, behaviour: Floats) -> float:
        """Player 0's, when both play their averages."""
        total = _play(self.tree.nodes, self.tables, behaviour, np.ones((2, self.tree.hands)))
        if len(self.archive.nodes):
            arriving = np.ones((2, self.tree.count, self.tree.hands))
            for player in (0, 1):
                reach(self.tree.nodes, behaviour, player, arriving[player])
            for stub, block in self.archive.blocks():
                inside = np.ones((len(block.nodes.parent), self.tree.hands))
                average_behaviour(block.nodes, block.rows.average, inside)
                total += _play(block.nodes, self.tables, inside, arriving[:, stub])
        return total


def _play(nodes: Nodes, tables: Floats, behaviour: Floats, arriving: Floats) -> float:
    """What player 0 gets at the terminals below row 0, which the players reach by ``arriving`` [2, H]."""
    reached = np.empty((2, *behaviour.shape))
    reached[:, 0] = arriving
    for player in (0, 1):
        reach(nodes, behaviour, player, reached[player])
    ends = np.flatnonzero(nodes.mover == TERMINAL)
    pays = tables[0][nodes.table[ends]]  # [Z, H, H]
    return float(np.einsum("z,zh,zhk,zk->", nodes.amount[ends], reached[0][ends], pays, reached[1][ends]))
