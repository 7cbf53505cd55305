"""Arrays over sequences on the CPU: walks over treeplexes, or tiles of 16 infosets where they pay.

Both give the same bits for any number of threads, so checkpoints do not depend on how they were computed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints, pair
from treeplex.compile.game import CompiledGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.protocol import PLAYED, Cost, Engine, Profile, Scheme, Stop, never, packed
from treeplex.engines.sequence.arrays import Learner16, Matching, RuleLearner, Steps
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.cpu.tiled import TileCall, TiledForm, TiledLearners, TiledRules, iterate_tiles
from treeplex.engines.sequence.evaluate import evaluate_in_tiles, evaluate_strategies
from treeplex.engines.sequence.learners import (
    InTiles,
    Learners,
    Strategies,
    in_order,
    initial_learners,
    initial_learners_16,
    normalised,
    normalised_in_tiles,
    sequence_form,
    steps,
    tiled_form,
    to_tiles,
)
from treeplex.engines.sequence.partition import paying_walks
from treeplex.engines.sequence.rules import (
    check_calls,
    check_memories,
    check_strategies,
    hedge_rules,
    rule_calls,
    rule_learners,
)
from treeplex.engines.sequence.tiles import laid, lanes, tiled
from treeplex.errors import ParameterError, SolverError
from treeplex.kernels.calls import RuleCall
from treeplex.kernels.threads.team import run_threads
from treeplex.tensors import Tensors, leaves, restored
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.protocol import Minimizer
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import bounded, stretches, unit_before
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

Array = npt.NDArray[Any]

OVERHEAD: Final = 20_000.0
"""Fixed cost of an evaluation in numbers read: calls from Python, small arrays. Measured: 12,000."""

CALLING_THREADS: Final = 3
"""Number of threads from which calls of Hedge are faster than its own walk, which takes 0.4 times as long."""


def sweep(game: CompiledGame) -> float:
    """Amount of numbers read by one pass over both players' sequences and the payoffs between them."""
    return float(2 * game.operator.entries + 8 * sum(treeplex.sequences for treeplex in game.treeplexes))


def require_finite(strategies: tuple[Array, Array], iteration: int) -> None:
    """Raise SolverError if strategies contain NaN or infinity."""
    if not all(math.isfinite(strategy.sum()) for strategy in strategies):
        raise SolverError(f"The strategies contain NaN or infinity at iteration {iteration:,}.")


def passes(scheme: Scheme) -> int:
    """Number of passes over the whole tree per iteration: one per player if they alternate, else one for both."""
    return 1 if scheme.turns == SIMULTANEOUS else 2


class SequenceTables(NamedTuple):
    """State of a run in the game's order of sequences, which is also the layout of a checkpoint."""

    learners: Learners
    iteration: int
    earlier: Earlier = ()

    @property
    def host(self) -> SequenceTables:
        """These tables, which are already in the layout of a checkpoint."""
        return self


class TiledTables(NamedTuple):
    """State of a run in tiles."""

    tiled: TiledLearners  # by position in tiles
    position: tuple[Ints, Ints]  # [S] position of each sequence
    iteration: int
    form: TiledForm  # the game and scratch, whose allocation takes as long as an iteration
    earlier: Earlier = ()  # by position in tiles
    starts: tuple[Ints, Ints] | tuple[()] = ()  # first sequence of each lane: ``tiles.lanes``

    @property
    def learners(self) -> Learners:
        """Copies of the learners in the game's order, to be reported and saved."""
        return in_order(self.position, self.tiled)

    @property
    def host(self) -> SequenceTables:
        """Copy of these tables in the game's order, the layout of a checkpoint."""
        earlier = self.earlier and (self.earlier[0][self.position[0]], self.earlier[1][self.position[1]])
        return SequenceTables(self.learners, self.iteration, earlier)


CpuTables = SequenceTables | TiledTables


class TabularProfile(Profile):
    """Both players' strategies in the game's order of sequences, on the host."""

    def __init__(self, game: CompiledGame, strategies: Strategies) -> None:
        self.game, self._strategies = game, strategies

    @property
    def arrays(self) -> Strategies:
        """As ``Profile``."""
        return self._strategies

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``Profile``."""
        return evaluate_strategies(self.game, self._strategies, threads)

    def host(self) -> TabularProfile:
        """As ``Profile``."""
        return self

    def replace(self, arrays: Strategies) -> TabularProfile:
        """As ``Profile``."""
        return TabularProfile(self.game, arrays)


class TiledProfile(Profile):
    """Both players' strategies by position in tiles, the fastest layout for evaluation."""

    def __init__(self, game: CompiledGame, tiled: InTiles) -> None:
        self.game, self.tiled = game, tiled

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``Profile``, by the threads that iterations have."""
        return evaluate_in_tiles(self.game, self.tiled)

    def host(self) -> TabularProfile:
        """As ``Profile``."""
        return TabularProfile(self.game, self.tiled.in_order)


@dataclass(frozen=True, eq=False)
class SequenceEngine(Engine):
    """A compiled game as treeplexes and a payoff operator, on the CPU."""

    game: CompiledGame
    storage: str = "float64"
    threads: int = 0  # 0: all cores for large games; no bit depends on it

    name: ClassVar = "sequence"

    @property
    def cost(self) -> Cost:
        """As ``Engine``: one pass over the payoffs and sequences of both players, once each."""
        return Cost(sweep(self.game), OVERHEAD + sweep(self.game))

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``: 16 bits store neither predictions nor the memory of a rule that is a function."""
        if not STORAGES[self.storage].scaled:
            return
        kind = f"the rule '{scheme.rule.name}'" if isinstance(scheme.rule, Rule) else "predictive rules"
        if isinstance(scheme.rule, Rule) or scheme.rule.predict > 0.0:
            legal = ", ".join(name for name, storage in STORAGES.items() if not storage.scaled)
            raise ParameterError(f"The 'storage' parameter must be one of {legal} with {kind}, got {self.storage!r}.")

    def tables(self, scheme: Scheme) -> SequenceTables:
        """As ``Engine``."""
        if STORAGES[self.storage].scaled:
            return SequenceTables(initial_learners_16(self.game, self.storage), 0)
        if isinstance(scheme.rule, Rule):
            return SequenceTables(rule_learners(self.game, scheme.rule, np.dtype(self.storage)), 0)
        return SequenceTables(initial_learners(self.game, np.dtype(self.storage)), 0)

    def iterate(self, tables: CpuTables, scheme: Scheme, iterations: int, stop: Stop = never) -> CpuTables:
        """As ``Engine``."""
        scheme = self._bounded(scheme)
        for stretch in stretches(scheme.weight, tables.iteration, iterations, self.storage):
            _rescale(tables, stretch.fade)
            tables = self._stretch(tables, scheme, stretch.iterations)
            if blocks.due(tables.iteration, self.storage):
                tables = tables._replace(earlier=blocks.folded(_averages(tables), tables.earlier))
        return tables

    def _bounded(self, scheme: Scheme) -> Scheme:
        return scheme._replace(weight=bounded(scheme.weight, self.storage))

    def _stretch(self, tables: CpuTables, scheme: Scheme, iterations: int) -> CpuTables:
        """Iterate while the weights are in one unit."""
        if scheme.order == PLAYED:
            return self._iterate(tables, scheme, steps(tables.iteration, iterations, scheme.weight, scheme.rule))
        for _ in range(iterations):  # kernels add the plan that is played: give them weight zero and add plans here
            now = steps(tables.iteration, 1, scheme.weight, scheme.rule)
            weight = float(now.weight[0])
            new = [scheme.adds_new(player, ALTERNATING) for player in (0, 1)]
            for player in (0, 1):
                if not new[player]:
                    _add_plan(tables, player, weight)
            tables = self._iterate(tables, scheme, now._replace(weight=np.zeros(1)))
            for player in (0, 1):
                if new[player]:
                    _add_plan(tables, player, weight)
        return tables

    def _iterate(self, tables: CpuTables, scheme: Scheme, now: Steps) -> CpuTables:
        """Run one iteration for each of ``now``, whose weights are those of the strategies that are played."""
        done, rule, turns = tables.iteration + len(now.weight), scheme.rule, scheme.turns
        if isinstance(tables, SequenceTables) and isinstance(rule, Rule) and self._takes_arrays(rule):
            iterate(sequence_form(self.game), tables.learners, hedge_rules(self.game, rule), now, turns, None)
            return tables._replace(iteration=done)
        converted = self._in_tiles(tables)
        if isinstance(converted, TiledTables):
            form, learners = converted.form, converted.tiled
            rules = self._rules(rule, form.threads)
            calls = _by_lanes(rules, converted)
            run_threads(form.threads, lambda worker: iterate_tiles(form, learners, calls, now, turns, worker))
        else:
            walked, own = sequence_form(self.game, self.threads, self.storage), converted.learners
            rules = self._rules(rule, walked.threads)
            run_threads(walked.threads, lambda worker: iterate(walked, own, rules, now, turns, worker))
        if isinstance(rule, Rule):
            check_calls(rule, [call for call in rules if isinstance(call, RuleCall)], tables.iteration, done)
        return converted._replace(iteration=done)

    def _rules(self, rule: Minimizer | Rule, threads: int) -> tuple[Matching | RuleCall, Matching | RuleCall]:
        """Return what kernels need to know of a rule, for each player."""
        if isinstance(rule, Rule):
            return rule_calls(self.game, rule, threads)
        return Matching(rule.predict), Matching(rule.predict)

    def _takes_arrays(self, rule: Rule) -> bool:
        """Whether the rule's own walk, with all exponentials at once, is faster than calls of the rule by threads."""
        few = paying_walks(self.game, self.threads) < CALLING_THREADS
        return rule.form is not None and self.storage == "float64" and few

    def _in_tiles(self, tables: CpuTables) -> CpuTables:
        """Convert tables to tiles if tiles pay, else return them unchanged."""
        if isinstance(tables, TiledTables):
            return tables
        first, second = tables.learners
        if isinstance(first, Learner16) or isinstance(second, Learner16):
            return tables
        tiled_game = tiled(self.game, self.storage)
        if tiled_game is None:
            return tables
        layouts, form = tiled_game.layouts, tiled_form(self.game, tiled_game, self.threads)
        (one, two), learners = layouts, to_tiles(layouts, (first, second))
        earlier = tables.earlier and (laid(one, tables.earlier[0]), laid(two, tables.earlier[1]))
        starts = lanes(one, self.game.treeplexes[0].first), lanes(two, self.game.treeplexes[1].first)
        return TiledTables(learners, (one.position, two.position), tables.iteration, form, earlier, starts)

    def profile(self, tables: CpuTables, scheme: Scheme, iterate: str) -> Profile:
        """As ``Engine``; in float64 tiles where they pay.

        This also holds for tables that were just unpacked. Otherwise the value would be summed in another order.
        """
        converted = self._in_tiles(tables) if self.storage == "float64" else tables
        first, second = _learners(converted)
        require_finite((first.strategy, second.strategy), converted.iteration)
        if isinstance(scheme.rule, Rule) and scheme.rule.own:
            check_strategies(scheme.rule, self.game, self.current(converted), converted.iteration)
        if self.storage == "float64" and isinstance(converted, TiledTables):
            if iterate == "current":
                strategies = first.strategy.copy(), second.strategy.copy()
                return TiledProfile(self.game, InTiles(strategies, converted.position, converted.form))
            averages = first.average, second.average
            return TiledProfile(self.game, normalised_in_tiles(converted.form, averages, converted.position))
        return TabularProfile(self.game, self.current(tables) if iterate == "current" else self.average(tables))

    def average(self, tables: CpuTables) -> Strategies:
        """Return the average strategies in the game's order."""
        positions = tables.position if isinstance(tables, TiledTables) else None
        return normalised(self.game, blocks.summed(_averages(tables), tables.earlier), positions)

    def current(self, tables: CpuTables) -> Strategies:
        """Return the strategies of the next iteration, in the game's order."""
        first, second = _learners(tables)
        if isinstance(tables, TiledTables):
            positions = tables.position
            return first.strategy[positions[0]].astype(float), second.strategy[positions[1]].astype(float)
        return first.strategy.astype(float), second.strategy.astype(float)

    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """As ``Engine``: every pass counts as a traversal of the whole tree."""
        return passes(scheme) * iterations * self.game.nodes

    def pack(self, tables: CpuTables, scheme: Scheme) -> Tensors:
        """As ``Engine``: in the game's order."""
        return packed([*leaves(tables.host, "state")])

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> SequenceTables:
        """As ``Engine``."""
        fresh = self.tables(scheme)
        tables = restored(fresh._replace(earlier=blocks.saved_room(_averages(fresh), tensors)), "state", tensors)
        if isinstance(scheme.rule, Rule):
            check_memories(self.game, scheme.rule, [x.memory for x in tables.learners if isinstance(x, RuleLearner)])
        _rescale(tables, unit_before(self._bounded(scheme).weight, tables.iteration, _averages(tables)))
        return tables


def _by_lanes(rules: tuple[Matching | RuleCall, Matching | RuleCall], tables: TiledTables) -> TiledRules:
    """Convert rules for tiles: a rule that is called needs the first sequence of every lane's infoset."""
    return pair(
        TileCall(rule, starts) if isinstance(rule, RuleCall) else rule
        for rule, starts in zip(rules, tables.starts, strict=True)
    )


def _add_plan(tables: CpuTables, player: int, weight: float) -> None:
    """Add the current realization plan of ``player`` to its average, in place."""
    learner = _learners(tables)[player]
    learner.average[:] += weight * learner.plan


def _rescale(tables: CpuTables, factor: float) -> None:
    """Convert averages to the unit of the next weights, in place."""
    if factor != 1.0:
        for sums in (*_averages(tables), *tables.earlier):
            np.multiply(sums, factor, out=sums)


def _learners(tables: CpuTables) -> Learners:
    """Both players' learners in the layout of the tables, in tiles or in the game's order."""
    return tables.tiled if isinstance(tables, TiledTables) else tables.learners


def _averages(tables: CpuTables) -> tuple[Array, Array]:
    """Both players' average arrays, to which iterations add, in the layout of the tables."""
    first, second = _learners(tables)
    return first.average, second.average
