"""Solve a game while its abstraction grows: iterate, check what is missing, add it, evaluate in the full game.

Brown & Sandholm (2015), "Simultaneous Abstraction and Equilibrium Finding in Games".
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.protocol import Algorithm, Cost, Execution, LiveReport, Stop, Work, never, plain_execution
from treeplex.engines.public.archive import ArchivedSubgame
from treeplex.engines.public.arrays import ARCHIVED, Nodes, Rows
from treeplex.engines.public.build import Start, build
from treeplex.engines.public.game import RULES, GrowingGame, Sums
from treeplex.engines.public.sound import Ranges, check_block
from treeplex.engines.public.store import StoredSpan
from treeplex.engines.public.tree import Block, GrowingTree
from treeplex.evaluation.exact import Evaluation
from treeplex.games.sized import Abstraction
from treeplex.growth.answer import Addition, GrowthExtras, policy
from treeplex.growth.check import check
from treeplex.growth.dealt import GrowingDealt
from treeplex.growth.figures import GrowthFigures
from treeplex.growth.options import ARCHIVE_EVERY, Growth, fitted_to_game, fitted_to_rules
from treeplex.growth.remove import Removal, remove
from treeplex.policies.policy import Policy
from treeplex.tensors import TINY, Tensors, checked, count_of, leaves, number_of, record_of

ARCHIVE: Final = "archive"  # the tensor that holds the file of subtrees, if no folder does
MARK: Final = "mark"  # tensors of sums that are to be discarded
RECORDS: Final = "records"  # the tensor that holds counts and lists as JSON text
LEARNING, EVALUATING = 10.0, 100.0  # numbers read per row and hand by an iteration, and by two pairs of best responses
MOST_ITERATIONS: Final = 10**7  # of a checkpoint: whoever adds a size repeats as many
ROUNDING: Final = 1.0 + 1e-6
OVERHEAD: Final = 150_000.0  # of one evaluation, in numbers read
TRANSLATING: Final = 200_000.0  # per public state of rules that list their sizes: many lines lead to each


class GrowthState:
    """A growing tree, what was added to it and taken out, and how long checks took; modified in place."""

    def __init__(self, game: GrowingGame) -> None:
        self.game = game
        self.additions: list[Addition] = []
        self.removals: list[Removal] = []
        self.growing = 0.0  # seconds


@dataclass(frozen=True)
class Growing(Algorithm[Abstraction, GrowthState]):
    """CFR on the public tree of the actions in the abstraction, which grows as ``growth`` says."""

    growth: Growth
    folder: str | None = None  # for subtrees that are moved to disk
    trees: dict[int, tuple[Abstraction, Start]] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")  # which of them, ``growth.remove`` decides

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", fitted_to_game(self.growth))

    def open(self, game: Abstraction, execution: Execution) -> Growing:
        """As ``Algorithm``."""
        plain_execution(execution)
        return Growing(self.growth, execution.folder, self.trees)

    def start(self, game: Abstraction, seed: int = 0) -> GrowthState:
        """The abstraction as it is at the start; nothing learnt."""
        fitted_to_rules(self.growth, game.rules)
        folder = None if self.folder is None else Path(self.folder)
        rule, current = RULES[self.growth.algorithm], self.growth.remove == "current"
        return GrowthState(GrowingGame(game.rules, game.menu, rule, folder, self._tree(game), current))

    def advance(self, game: Abstraction, state: GrowthState, iterations: int, stop: Stop = never) -> GrowthState:
        """As ``Algorithm``: after every ``growth.every`` iterations, check for a size to add."""
        tree, every = state.game, self.growth.every
        last = tree.iteration + iterations
        while tree.iteration < last and not stop():
            check = (tree.iteration // every + 1) * every
            tree.advance(min(check, last) - tree.iteration)
            if tree.iteration % every == 0:
                self._check(state)
        return state

    def _check(self, state: GrowthState) -> None:
        began, tree = time.perf_counter(), state.game
        if self.growth.factor < np.inf:
            for _ in range(self.growth.per_check):
                addition = check_and_add(tree, self.growth)
                if addition is None:
                    break
                state.additions.append(addition)
        if self.growth.archive and tree.iteration % (self.growth.every * ARCHIVE_EVERY) == 0:
            tree.archive.check(tree.tree, self.growth.archive)
        state.removals += remove(tree, self.growth.remove, self.growth.every)
        state.growing += time.perf_counter() - began

    def work(self, game: Abstraction, state: GrowthState) -> Work:
        """Histories entered by iterations, recovery games and checks."""
        return Work(state.game.iteration, state.game.touched, additions=state.additions)

    def report(self, game: Abstraction, state: GrowthState, iterate: str) -> LiveReport:
        """As ``Algorithm``."""
        return LiveReport(
            partial(self._evaluate, state), partial(self._policy, game, state), partial(self._extras, game, state)
        )

    def _evaluate(self, strategies: GrowthState) -> Evaluation:
        """In the full game, where every size is legal; beside it, NashConv if only sizes in the abstraction were."""
        tree = strategies.game
        full, inside = tree.measure(), tree.measure(whole=False)
        figures = GrowthFigures(
            growing_seconds=strategies.growing,
            nash_conv_in_abstraction=inside.nash_conv,
            histories=tree.tree.histories,
            archived=tree.archive.histories,
            sizes=len(strategies.additions),
            removed=len(strategies.removals),
            weight=tree.weight,
            bytes=tree.tree.used_bytes,
        )
        return Evaluation(full.value, full.nash_conv, full.best_responses, figures._asdict())

    def _policy(self, game: Abstraction, strategies: GrowthState) -> Policy:
        """Of the actions that are in the abstraction now."""
        return policy(strategies.game, f"{game.rules.name}, grown")

    def _extras(self, game: Abstraction, state: GrowthState, evaluation: Evaluation) -> GrowthExtras:
        """The sizes that were found, what each wins and how often it is used."""
        name = f"{game.rules.name}, grown"
        return GrowthExtras(state.game, state.additions, name, self.growth, evaluation, state.removals)

    def fingerprint(self, game: Abstraction) -> str:
        """Of the tree at the start, its payoffs and bounds; and of all states, where the rules list their sizes."""
        builder, block = self._tree(game)
        digest = hashlib.blake2b(digest_size=16)
        for array in (*block.nodes, builder.tables, builder.bounds):
            digest.update(np.ascontiguousarray(array).tobytes())
        for state in builder.states:
            parts = (state.mover, state.cards, state.plain, state.sized, state.unit, state.default, state.amount)
            digest.update(repr((*parts, state.table)).encode())
        return digest.hexdigest()

    def cost(self, game: Abstraction) -> Cost:
        """As ``Algorithm``: of the tree at the start; both grow alike."""
        builder, block = self._tree(game)
        numbers, translated = float(block.rows.regret.size), TRANSLATING * len(builder.states)
        return Cost(LEARNING * numbers, OVERHEAD + EVALUATING * numbers + translated)

    def _tree(self, game: Abstraction) -> Start:
        """The tree at the start, built once per game."""
        if id(game) not in self.trees:
            self.trees[id(game)] = (game, build(game.rules, game.menu))
        return self.trees[id(game)][1]

    def save(self, state: GrowthState) -> Tensors:
        """As ``Algorithm``: arrays of the tree, and where subtrees lie on disk."""
        game = state.game
        parts = [*leaves(game.tree.nodes, "nodes"), *leaves(game.tree.rows, "rows")]
        parts += leaves(game.mark, MARK) if game.mark is not None else []
        tensors = {name: np.ascontiguousarray(array) for name, array in parts}
        game.archive.store.flush()
        if self.folder is None:
            tensors[ARCHIVE] = np.frombuffer(game.archive.store.content(), dtype=np.uint8)
        records: dict[str, Any] = {
            "halves": game.halves,
            "weight": game.weight,
            "touched": game.touched,
            "growing": state.growing,
            "additions": [list(addition) for addition in state.additions],
            "removals": [list(removal) for removal in state.removals],
            "archive": [[entry.node, list(entry.place), *entry[2:]] for entry in game.archive.entries],
            "stored": game.archive.store.size,
        }
        return tensors | {RECORDS: np.frombuffer(json.dumps(records).encode(), dtype=np.uint8)}

    def restore(self, game: Abstraction, tensors: Mapping[str, npt.NDArray[Any]], seed: int = 0) -> GrowthState:
        """As ``Algorithm``."""
        state = self.start(game, seed)
        tree, records = state.game, json.loads(tensors[RECORDS].tobytes())
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
        tree.halves, tree.touched = count_of(records["halves"]), count_of(records["touched"])
        tree.weight, state.growing = number_of(records["weight"]), number_of(records["growing"])
        _check_weights(tree)
        state.additions = [record_of(Addition, addition) for addition in records["additions"]]
        state.removals = [record_of(Removal, removal) for removal in records.get("removals", [])]
        archive.entries = [_entry(*entry) for entry in records["archive"]]
        archived = np.flatnonzero(nodes.mover == ARCHIVED).tolist()
        if sorted(entry.node for entry in archive.entries) != archived:
            raise ValueError("its archive is of another tree")
        archive.store.check = lambda block: check_block(block, ranges)
        if ARCHIVE in tensors:
            archive.store.fill(tensors[ARCHIVE].tobytes())
        archive.store.cut(count_of(records["stored"]))
        archive.renumber()
        return state


def _check_weights(tree: GrowingGame) -> None:
    """ValueError unless sums are such as so many iterations can add up to: recovery games take as many."""
    most, average = tree.iteration, tree.tree.rows.average
    if most > MOST_ITERATIONS or tree.weight < TINY or not (average[0, 0] > TINY or most == 0):
        raise ValueError(f"its iterations, {most:,}, or their weights are not such as can be")
    if average.max() > ROUNDING * average[0].max() or tree.effective > ROUNDING * (most + 1.0):
        raise ValueError("its averages are of more iterations than were done")


def _entry(node: Any, place: Any, histories: Any, largest: Any, squares: Any) -> ArchivedSubgame:
    """A subgame on disk, from JSON."""
    first, second = ((number_of(pair[0]), number_of(pair[1])) for pair in (largest, squares))
    return ArchivedSubgame(count_of(node), record_of(StoredSpan, place), count_of(histories), first, second)


def check_and_add(game: GrowingGame, growth: Growth) -> Addition | None:
    """Add the size with the most regret per history, if proposition 1 says that it pays."""
    scale = game.weight * game.effective  # of sums, to an average iteration
    growable = GrowingDealt(game, growth.estimate or "transfer", growth.method)
    for one in check(growable, growth.factor, growth.discount, 1):
        node, player, size, gain, _ = one.candidate
        child = next(c for c in game.tree.children(node) if game.tree.nodes.size[c] == size)
        return Addition(
            iteration=game.iteration,
            player=player,
            decision=game.rules.separator.join(game.line(node)),
            word=game.builder.words[int(game.tree.nodes.word[child])],
            size=size,
            method=growth.method,
            gain=gain / scale,
            needed=one.needed / scale,
            regret=one.added.regret / scale,
            histories=one.added.histories,
            recovery=one.added.iterations,
            discount=one.share,
            seconds=one.seconds,
        )
    return None
