"""A growing game during its solution: the tree, its regrets and averages, and the weights of iterations."""

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
    """The member of the CFR family that runs on the tree."""

    simultaneous: bool  # simultaneous updates, else alternating updates
    linear: bool  # the average weights an iteration by its number
    floor: bool  # regrets are cut off at zero


HEAVY: Final = 1e100  # weight of an iteration above which all sums are divided by it

RULES: Final = {"cfr": GrowingRule(True, False, False), "cfr+": GrowingRule(False, True, True)}
"""``cfr`` is as in the paper. For ``cfr+`` see ``docs/theory/abstraction.md``."""


class Sums(NamedTuple):
    """Sums over iterations, without regrets: a copy of these fields of ``Rows`` from an earlier time."""

    average: Floats
    value: Floats
    fold_out: Floats
    earned: Floats


class TreeResponse(NamedTuple):
    """A best response, node by node and hand by hand."""

    values: Floats  # [P, H] counterfactual values
    fold_out: Floats  # [P, H] the part that does not depend on the size of the move to the node
    choice: Floats  # [P, H] the best size at the player's nodes


class GrowingGame:
    """Rules with sizes, a tree with some of them, and the state of the solver on it."""

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
        self.halves = 0  # number of half iterations done; two make an iteration
        self.weight = 1.0  # of an iteration from now on: larger after earlier ones have been discounted
        self.touched = 0  # number of histories
        self.mark: Sums | None = None  # sums of iterations that will be discarded
        self._scratch: Scratch | None = None

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self.halves // 2

    @property
    def norm(self) -> float:
        """Divisor that turns sums into regrets: the number of the iteration if the average is linear."""
        return float(self.iteration) if self.rule.linear else 1.0

    @property
    def effective(self) -> float:
        """Number of iterations of the present weight that are equivalent to the past."""
        return float(self.tree.rows.average[0, 0]) / (self.weight * self.norm) if self.iteration else 0.0

    @property
    def payoff_scale(self) -> tuple[float, float]:
        """Payoff scale of the rules; (1, 0) if payoffs are not proportional to a scale."""
        return self.rules.payoff_scale or (1.0, 0.0)

    @property
    def scratch(self) -> Scratch:
        """Arrays that an iteration writes over."""
        if self._scratch is None or self._scratch.values.shape[0] != self.tree.count:
            self._scratch = fresh_scratch(self.tree.count, self.tree.hands)
        return self._scratch

    def advance(self, iterations: int) -> None:
        """Run iterations. Archived subgames are brought back before they are needed."""
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

    def discount(self, factor: float) -> None:
        """Discount all iterations so far by ``factor``, by giving later ones more weight."""
        self.weight /= factor
        if self.weight > HEAVY:  # before numbers overflow, divide everything; strategies do not change
            self.archive.bring_back_below(self.tree, 0)
            rows = self.tree.rows
            for sums in (rows.regret, rows.average, rows.value, rows.fold_out, rows.earned, *(self.mark or ())):
                sums[:] /= self.weight
            self.weight = 1.0

    def averages(self) -> Floats:
        """Return [P, H], the average strategies."""
        return _averages(Block(self.tree.nodes, self.tree.rows))

    def answer(self) -> Floats:
        """Return [P, H], the strategies to report: the averages, or the current ones if ``current``."""
        return self.tree.rows.strategy.copy() if self.current else self.averages()

    def respond(self, player: int, whole: bool = True, strategy: Floats | None = None) -> TreeResponse:
        """Return a best response to the opponent's strategy, over all legal sizes or those in the abstraction.

        ``whole`` requires payoffs that are proportional to a payoff scale; use ``translation`` for all others.
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
        """Return value and best-response values of ``answer``; if ``whole``, in the full game with all legal sizes."""
        strategy = self.answer()
        if whole and self.states:
            first, second = (float(self.translation(player).best_response().sum()) for player in (0, 1))
        else:
            first, second = (float(self.respond(player, whole, strategy).values[0].sum()) for player in (0, 1))
        return Evaluation(self._value(strategy), max(first + second, 0.0), (first, second))

    @property
    def states(self) -> list[PublicState]:
        """All public states of the full game; none unless the rules list their sizes."""
        return self.builder.states

    @property
    def reading(self) -> str:
        """Whether a best response in the full game knows how its sizes are read ("told"), or not ("secret")."""
        return "secret" if self.states else "told"

    def state(self, node: int) -> PublicState:
        """Return the public state of a node, if the rules list their sizes."""
        return self.states[int(self.numbers(self.tree, self.tree.path(node))[node])]

    def numbers(self, tree: GrowingTree, among: Iterable[int]) -> dict[int, int]:
        """Return the numbers of the states of nodes, by node, if the rules list their sizes.

        ``among`` must have parents before children.
        """
        nodes, words, numbers = tree.nodes, self.builder.words, {0: 0}
        for n in among:
            above, size = self.states[numbers[int(nodes.parent[n])]], float(nodes.size[n])
            numbers[n] = above.sized[size] if size > 0.0 else above.plain[words[int(nodes.word[n])]]
        return numbers

    def translation(
        self, player: int, deviations: float = np.inf, hidden: int = NONE, *, averages: bool = False
    ) -> TreeTranslation:
        """Return the opponent's reported strategy, or its average, in the full game, where ``player`` responds."""
        tree = self.unfolded()
        block = Block(tree.nodes, tree.rows)
        strategy = tree.rows.strategy if self.current and not averages else _averages(block)
        return TreeTranslation(self.states, self.tables, tree, self.builder.words, strategy, player, deviations, hidden)

    def unfolded(self) -> GrowingTree:
        """Return the tree with archived subgames, as a copy if there are any; nodes keep their numbers."""
        if not self.archive.entries:
            return self.tree
        tree = GrowingTree(Block(self.tree.nodes, self.tree.rows))
        for stub, block in self.archive.blocks():
            tree.hang(block, stub)
        return tree

    def line(self, node: int) -> tuple[str, ...]:
        """Return the labels of the moves that lead to a node."""
        nodes, words = self.tree.nodes, self.builder.words
        path = [(words[int(nodes.word[n])], float(nodes.size[n])) for n in self.tree.path(node)]
        return tuple(sized_label(word, size) if size > 0.0 else word for word, size in path)

    def _value(self, strategy: Floats) -> float:
        """Return the value to player 0 if both players play ``strategy``."""
        total = _play(self.tree.nodes, self.tables, strategy, np.ones((2, self.tree.hands)))
        if len(self.archive.nodes):
            arriving = reached_by_both(self.tree.nodes, strategy)
            for stub, block in self.archive.blocks():
                total += _play(block.nodes, self.tables, _averages(block), arriving[:, stub])
        return total


def _no_response(strategy: Floats) -> TreeResponse:
    return TreeResponse(*(np.zeros_like(strategy) for _ in TreeResponse._fields))


def _averages(block: Block) -> Floats:
    """Return [P, H], the average strategies of a tree; uniform at decisions that were never reached."""
    out = np.ones_like(block.rows.average)
    rematch(block.nodes, block.rows.average, out, 0, len(out))
    return out


def _play(nodes: Nodes, tables: Floats, strategy: Floats, arriving: Floats) -> float:
    """Return the value to player 0 of the terminals below row 0, which the players reach with ``arriving`` [2, H]."""
    first, second = (reached(nodes, strategy, player, arriving[player]) for player in (0, 1))
    ends = np.flatnonzero(nodes.mover == TERMINAL)
    pays = tables[0][nodes.table[ends]]  # [Z, H, H]
    return float(np.einsum("z,zh,zhk,zk->", nodes.amount[ends], first[ends], pays, second[ends]))
