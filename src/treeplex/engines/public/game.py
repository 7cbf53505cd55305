"""A game that is being solved and may grow: the tree, what is learnt, and how iterations count."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.public.archive import Archive
from treeplex.engines.public.arrays import NONE, Nodes, Scratch
from treeplex.engines.public.build import Start, build
from treeplex.engines.public.cpu.growing import iterate, rematch
from treeplex.engines.public.cpu.sizes import respond
from treeplex.engines.public.states import PublicState
from treeplex.engines.public.translated import TreeTranslation
from treeplex.engines.public.tree import Block, GrowingTree, fresh_scratch, reached, reached_by_both
from treeplex.games.protocol import TERMINAL
from treeplex.games.sized import ActionMenu, Menu, sized_label


class GrowingRule(NamedTuple):
    """Which member of the CFR family plays."""

    simultaneous: bool  # simultaneous updates; else alternating ones
    linear: bool  # an iteration counts by its number in the average
    floor: bool  # regrets are cut off at zero


HEAVY: Final = 1e100  # weight of an iteration from which on sums are brought down

RULES: Final = {"cfr": GrowingRule(True, False, False), "cfr+": GrowingRule(False, True, True)}
"""``cfr`` is the paper's. For ``cfr+`` see ``docs/theory/abstraction.md``."""


class Sums(NamedTuple):
    """What is added up over iterations, but for regrets: ``Rows`` as they were once."""

    average: Floats
    value: Floats
    fold_out: Floats
    earned: Floats


class TreeResponse(NamedTuple):
    """A best response, node by node and hand by hand."""

    values: Floats  # [P, H] counterfactual
    fold_out: Floats  # [P, H] the part that does not depend on the size of the move to the node
    choice: Floats  # [P, H] the best size


class GrowingGame:
    """Rules with sizes, a tree that offers some of them, and the state of the solver in it."""

    def __init__(
        self,
        rules: ActionMenu,
        menu: Menu,
        rule: GrowingRule,
        folder: Path | None = None,
        start: Start | None = None,
        current: bool = False,
    ) -> None:
        self.rules, self.rule, self.current = rules, rule, current
        self.builder, block = start or build(rules, menu)
        self.tree = GrowingTree(block)
        self.tables, self.bounds = self.builder.tables, self.builder.bounds
        self.archive = Archive(folder, self.tree.hands)
        self.halves = 0  # two make an iteration
        self.weight = 1.0  # of an iteration from now on: larger, where earlier ones have been discounted
        self.touched = 0  # histories
        self.mark: Sums | None = None  # sums of iterations that are to be discarded
        self._scratch: Scratch | None = None

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
    def payoff_scale(self) -> tuple[float, float]:
        """That of the rules; one whatever the size where payoffs are not proportional to anything."""
        return self.rules.payoff_scale or (1.0, 0.0)

    @property
    def scratch(self) -> Scratch:
        """Arrays that an iteration writes over."""
        if self._scratch is None or self._scratch.values.shape[0] != self.tree.count:
            self._scratch = fresh_scratch(self.tree.count, self.tree.hands)
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
            for sums in (rows.regret, rows.average, rows.value, rows.fold_out, rows.earned, *(self.mark or ())):
                sums[:] /= self.weight
            self.weight = 1.0

    def averages(self) -> Floats:
        """[P, H] the average strategies."""
        return _averages(Block(self.tree.nodes, self.tree.rows))

    def answer(self) -> Floats:
        """[P, H] the strategies that are the answer: the averages, or the current ones if ``current``."""
        return self.tree.rows.strategy.copy() if self.current else self.averages()

    def respond(self, player: int, whole: bool = True, strategy: Floats | None = None) -> TreeResponse:
        """A best response to the opponent's strategy, over all legal sizes or those in the abstraction.

        ``whole`` is for payoffs that are proportional to a payoff scale; ``translation`` for all others.
        """
        strategy = self.answer() if strategy is None else strategy
        opponent = reached(self.tree.nodes, strategy, 1 - player)
        response = _no_response(strategy)
        for stub, block in self.archive.blocks():
            averages = _averages(block)
            below = _no_response(averages)
            arriving = reached(block.nodes, averages, 1 - player, opponent[stub])
            self._respond(block.nodes, player, arriving, whole, below)
            response.values[stub], response.fold_out[stub] = below.values[0], below.fold_out[0]
        self._respond(self.tree.nodes, player, opponent, whole, response)
        return response

    def _respond(self, nodes: Nodes, player: int, opponent: Floats, whole: bool, response: TreeResponse) -> None:
        respond(nodes, self.tables, player, opponent, self.bounds, self.payoff_scale, whole, *response)

    def measure(self, whole: bool = True) -> Evaluation:
        """Value and best-response values of the answer; ``whole``: in the full game, where every size is legal."""
        strategy = self.answer()
        if whole and self.states:
            first, second = (float(self.translation(player).best_response().sum()) for player in (0, 1))
        else:
            first, second = (float(self.respond(player, whole, strategy).values[0].sum()) for player in (0, 1))
        return Evaluation(self._value(strategy), max(first + second, 0.0), (first, second))

    @property
    def states(self) -> list[PublicState]:
        """All public states of the full game, where the rules list their sizes; else none."""
        return self.builder.states

    @property
    def reading(self) -> str:
        """Whether a best response in the full game is told what its sizes are read as, or that is kept "secret"."""
        return "secret" if self.states else "told"

    def state(self, node: int) -> PublicState:
        """The public state of a node, where the rules list their sizes."""
        return self.states[int(self.numbers(self.tree, self.tree.path(node))[node])]

    def numbers(self, tree: GrowingTree, among: Iterable[int]) -> dict[int, int]:
        """The numbers of the states of nodes, by node, where the rules list their sizes; parents before children."""
        nodes, words, found = tree.nodes, self.builder.words, {0: 0}
        for n in among:
            above, size = self.states[found[int(nodes.parent[n])]], float(nodes.size[n])
            found[n] = above.sized[size] if size > 0.0 else above.plain[words[int(nodes.word[n])]]
        return found

    def translation(
        self, player: int, deviations: float = np.inf, hidden: int = NONE, *, averages: bool = False
    ) -> TreeTranslation:
        """What ``player`` responds to in the full game: the opponent's answer, or its average, translated."""
        tree = self.unfolded()
        block = Block(tree.nodes, tree.rows)
        strategy = tree.rows.strategy if self.current and not averages else _averages(block)
        return TreeTranslation(self.states, self.tables, tree, self.builder.words, strategy, player, deviations, hidden)

    def unfolded(self) -> GrowingTree:
        """The tree with what is on disk, as a copy if there is any; numbers of nodes are the same."""
        if not self.archive.entries:
            return self.tree
        tree = GrowingTree(Block(self.tree.nodes, self.tree.rows))
        for stub, block in self.archive.blocks():
            tree.hang(block, stub)
        return tree

    def line(self, node: int) -> tuple[str, ...]:
        """Labels of the moves that lead to a node."""
        nodes, words = self.tree.nodes, self.builder.words
        path = [(words[int(nodes.word[n])], float(nodes.size[n])) for n in self.tree.path(node)]
        return tuple(sized_label(word, size) if size > 0.0 else word for word, size in path)

    def _value(self, strategy: Floats) -> float:
        """Player 0's, when both play ``strategy``."""
        total = _play(self.tree.nodes, self.tables, strategy, np.ones((2, self.tree.hands)))
        if len(self.archive.nodes):
            arriving = reached_by_both(self.tree.nodes, strategy)
            for stub, block in self.archive.blocks():
                total += _play(block.nodes, self.tables, _averages(block), arriving[:, stub])
        return total


def _no_response(strategy: Floats) -> TreeResponse:
    return TreeResponse(*(np.zeros_like(strategy) for _ in TreeResponse._fields))


def _averages(block: Block) -> Floats:
    """[P, H] the average strategies of a tree; uniform where nothing has been played."""
    out = np.ones_like(block.rows.average)
    rematch(block.nodes, block.rows.average, out, 0, len(out))
    return out


def _play(nodes: Nodes, tables: Floats, strategy: Floats, arriving: Floats) -> float:
    """What player 0 gets at the terminals below row 0, which the players reach by ``arriving`` [2, H]."""
    first, second = (reached(nodes, strategy, player, arriving[player]) for player in (0, 1))
    ends = np.flatnonzero(nodes.mover == TERMINAL)
    pays = tables[0][nodes.table[ends]]  # [Z, H, H]
    return float(np.einsum("z,zh,zhk,zk->", nodes.amount[ends], first[ends], pays, second[ends]))
