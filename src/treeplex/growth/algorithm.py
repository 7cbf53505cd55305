"""Solve a game while its abstraction grows: iterate, check for missing sizes, add them, evaluate in the full game.

Brown & Sandholm (2015), "Simultaneous Abstraction and Equilibrium Finding in Games".
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from treeplex.algorithms.protocol import Array, Cost, Execution, plain_execution
from treeplex.engines.public.archive import ArchivedSubgame, PerPlayer, StoredSpan
from treeplex.engines.public.arrays import ARCHIVED, Nodes, Rows
from treeplex.engines.public.build import Start, build
from treeplex.engines.public.game import RULES, GrowingGame, Sums
from treeplex.engines.public.sound import Ranges, check_block
from treeplex.engines.public.tree import Block, GrowingTree
from treeplex.evaluation.exact import Evaluation
from treeplex.games.sized import Abstraction
from treeplex.growth.answer import Addition, GrowthExtras, policy
from treeplex.growth.check import check
from treeplex.growth.dealt import GrowingDealt
from treeplex.growth.options import ARCHIVE_EVERY, Growth, fitted_to_game, fitted_to_rules
from treeplex.growth.rates import Rates
from treeplex.growth.remove import Removal, remove
from treeplex.growth.run import GrowthAlgorithm, GrowthRun, Kinds, Records
from treeplex.policies.policy import Policy
from treeplex.tensors import TINY, Tensors, checked, count_of, leaves, number_of, record_of

ARCHIVE: Final = "archive"  # the tensor with the file of subtrees, if there is no folder
MARK: Final = "mark"  # prefix of tensors with sums to discard
LEARNING, EVALUATING = 10.0, 100.0  # numbers read per row and hand by an iteration, and by two pairs of best responses
MOST_ITERATIONS: Final = 10**7  # accepted from a checkpoint: adding a size repeats as many
ROUNDING: Final = 1.0 + 1e-6
OVERHEAD: Final = 150_000.0  # fixed cost of one evaluation, in numbers read
TRANSLATING: Final = 200_000.0  # numbers read per public state if rules list their sizes: many lines lead to each


GrowthState = GrowthRun[GrowingGame]
"""A growing game with its additions and removals, and the seconds spent on checks."""


@dataclass(frozen=True)
class Growing(GrowthAlgorithm[Abstraction, GrowingGame]):
    """CFR on the public tree of the actions in the abstraction, which grows as ``growth`` specifies."""

    folder: str | None = None  # folder for subtrees moved to disk
    trees: dict[int, tuple[Abstraction, Start]] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    kinds: ClassVar[Kinds] = Addition, Removal

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", fitted_to_game(self.growth))

    def open(self, game: Abstraction, execution: Execution) -> Growing:
        """As ``Algorithm``."""
        plain_execution(execution)
        return Growing(self.growth, execution.folder, self.trees)

    def start(self, game: Abstraction, seed: int = 0) -> GrowthState:
        """As ``Algorithm``: the initial abstraction, nothing learnt yet."""
        fitted_to_rules(self.growth, game.rules)
        folder = None if self.folder is None else Path(self.folder)
        rule, current = RULES[self.growth.algorithm], self.growth.remove == "current"
        tree = GrowingGame(game.rules, game.menu, rule, folder, self._tree(game), current)
        return GrowthState(tree, self.growth.recent)

    def _add(self, tree: GrowingGame, rates: Rates) -> list[Addition]:
        """Add up to ``per_check`` sizes, one at a time."""
        added: list[Addition] = []
        for _ in range(self.growth.per_check):
            addition = check_and_add(tree, self.growth, rates)
            if addition is None:
                break
            added.append(addition)
        return added

    def _remove(self, tree: GrowingGame) -> list[Removal]:
        """Remove unused sizes, and move unreached subtrees to disk."""
        if self.growth.archive and tree.iteration % (self.growth.every * ARCHIVE_EVERY) == 0:
            tree.archive.check(tree.tree, self.growth.archive)
        return remove(tree, self.growth.remove, self.growth.every)

    def _measure(self, tree: GrowingGame) -> Evaluation:
        """Evaluate in the full game, where every size is legal."""
        inside = tree.measure(whole=False)
        figures = {
            "nash_conv_in_abstraction": inside.nash_conv,
            "histories": tree.tree.histories,
            "archived": tree.archive.histories,
            "weight": tree.weight,
            "bytes": tree.tree.used_bytes,
        }
        return tree.measure()._replace(extra=figures)

    def _policy(self, game: Abstraction, state: GrowthState) -> Policy:
        """Return the strategies over the actions in the abstraction now."""
        return policy(state.game, f"{game.rules.name}, grown")

    def _extras(self, game: Abstraction, state: GrowthState, evaluation: Evaluation) -> GrowthExtras:
        """Return the sizes found, with their gains and frequencies."""
        return GrowthExtras(state, f"{game.rules.name}, grown", self.growth, evaluation)

    def fingerprint(self, game: Abstraction) -> str:
        """Return a hash of the initial tree, payoffs and bounds, and of all states if the rules list their sizes."""
        builder, block = self._tree(game)
        digest = hashlib.blake2b(digest_size=16)
        for array in (*block.nodes, builder.tables, builder.bounds):
            digest.update(np.ascontiguousarray(array).tobytes())
        for state in builder.states:
            parts = (state.mover, state.cards, state.plain, state.sized, state.unit, state.default, state.amount)
            digest.update(repr((*parts, state.table)).encode())
        return digest.hexdigest()

    def cost(self, game: Abstraction) -> Cost:
        """As ``Algorithm``: the cost of the initial tree; both costs grow alike."""
        builder, block = self._tree(game)
        numbers, translated = float(block.rows.regret.size), TRANSLATING * len(builder.states)
        return Cost(LEARNING * numbers, OVERHEAD + EVALUATING * numbers + translated)

    def _tree(self, game: Abstraction) -> Start:
        """Return the initial tree, built once per game."""
        if id(game) not in self.trees:
            self.trees[id(game)] = (game, build(game.rules, game.menu))
        return self.trees[id(game)][1]

    def _saved(self, tree: GrowingGame) -> tuple[Tensors, Records]:
        """Return the arrays of the tree, and the positions of subtrees on disk."""
        parts = [*leaves(tree.tree.nodes, "nodes"), *leaves(tree.tree.rows, "rows")]
        parts += leaves(tree.mark, MARK) if tree.mark is not None else []
        tensors = {name: np.ascontiguousarray(array) for name, array in parts}
        tree.archive.store.flush()
        if self.folder is None:
            tensors[ARCHIVE] = np.frombuffer(tree.archive.store.content(), dtype=np.uint8)
        return tensors, {
            "halves": tree.halves,
            "weight": tree.weight,
            "archive": [[entry.node, list(entry.place), *entry[2:]] for entry in tree.archive.entries],
            "stored": tree.archive.store.size,
        }

    def _restore(self, game: Abstraction, tree: GrowingGame, tensors: Mapping[str, Array], saved: Records) -> None:
        """As ``GrowthAlgorithm``."""
        nodes = Nodes._make(tensors[f"nodes.{name}"] for name in Nodes._fields)
        rows = Rows(*(tensors[f"rows.{name}"] for name in Rows._fields))
        block, ranges, archive = Block(nodes, rows), Ranges.of(tree.builder), tree.archive
        check_block(block, ranges)
        tree.tree = GrowingTree(block)
        if tree.states:
            tree.numbers(tree.tree, range(1, tree.tree.count))
        if f"{MARK}.average" in tensors:
            shape = nodes.parent.shape[0], ranges.hands
            sums = (checked(name, tensors[f"{MARK}.{name}"], np.float64, shape) for name in Sums._fields)
            tree.mark = Sums(*(array.copy() for array in sums))
        tree.halves, tree.weight = count_of(saved["halves"]), number_of(saved["weight"])
        _check_weights(tree)
        archive.entries = [_entry(*entry) for entry in saved["archive"]]
        archived = np.flatnonzero(nodes.mover == ARCHIVED).tolist()
        if sorted(entry.node for entry in archive.entries) != archived:
            raise ValueError("its archive belongs to another tree")
        archive.store.check = lambda block: check_block(block, ranges)
        if ARCHIVE in tensors:
            archive.store.fill(tensors[ARCHIVE].tobytes())
        archive.store.cut(count_of(saved["stored"]))
        archive.renumber()


def _check_weights(tree: GrowingGame) -> None:
    """Raise ValueError unless the sums are possible after so many iterations, which recovery games repeat."""
    most, average = tree.iteration, tree.tree.rows.average
    if most > MOST_ITERATIONS or tree.weight < TINY or not (average[0, 0] > TINY or most == 0):
        raise ValueError(f"its iterations, {most:,}, or their weights are impossible")
    if average.max() > ROUNDING * average[0].max() or tree.effective > ROUNDING * (most + 1.0):
        raise ValueError("its averages contain more iterations than were done")


def _entry(node: object, span: object, histories: object, largest: object, squares: object) -> ArchivedSubgame:
    """Return a subgame on disk, from JSON."""
    sums = (record_of(PerPlayer, pair) for pair in (largest, squares))
    return ArchivedSubgame(count_of(node), record_of(StoredSpan, span), count_of(histories), *sums)


def check_and_add(game: GrowingGame, growth: Growth, rates: Rates | None = None) -> Addition | None:
    """Add the size with the most regret per history, if proposition 1 says that it pays."""
    scale = game.weight * game.effective  # sums divided by it are those of an average iteration
    growable = GrowingDealt(game, growth.estimate or "transfer", growth.method)
    for expansion in check(growable, growth.factor, growth.discount, 1, rates):
        node, player, size, gain, _ = expansion.candidate
        child = next(c for c in game.tree.children(node) if game.tree.nodes.size[c] == size)
        return Addition(
            iteration=game.iteration,
            player=player,
            decision=game.rules.separator.join(game.line(node)),
            word=game.builder.words[int(game.tree.nodes.word[child])],
            size=size,
            method=growth.method,
            gain=gain / scale,
            needed=expansion.needed / scale,
            regret=expansion.added.regret / scale,
            histories=expansion.added.histories,
            recovery=expansion.added.iterations,
            discount=expansion.weight,
            seconds=expansion.seconds,
        )
    return None
