"""CFR by walks over the history tree, entering as little of it as a traversal allows.

A suffix of the name says which nodes are visited and changes nothing else. Players take turns as in ``cfr``, ``cfr+``
and ``hedge``. The papers update both players at once, which is ``turns="simultaneous"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.hedge import hedge_rate
from treeplex.algorithms.options import named, number, turn_order
from treeplex.algorithms.protocol import Array, Stop, StrategyReport, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.algorithms.traversals import (
    BOUNDS,
    LENGTHS,
    SPREADS,
    Traversal,
    full,
    nested_regret_based,
    partial,
    regret_based,
    zero_reach_response,
)
from treeplex.algorithms.trial import try_own
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.engines.functions import FunctionTable
from treeplex.engines.history import arrays
from treeplex.engines.history.arrays import PlainRule, WalkingPlayer, WalkTables
from treeplex.engines.history.arrays import WalkRule as KernelRule
from treeplex.engines.history.cpu.functions import function_iterations
from treeplex.engines.history.cpu.nested import nested_iterations
from treeplex.engines.history.cpu.prune import walk_iterations
from treeplex.engines.history.cpu.sums import complete_sums
from treeplex.engines.history.paths import counterfactual_ranges, paths, response_rows
from treeplex.engines.sequence.learners import normalised, numbered, uniform_strategies
from treeplex.engines.sequence.rules import (
    check_calls,
    check_strategies,
    payoff_range,
    payoff_ranges,
    rule_calls,
    rule_memories,
)
from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.tensors import checked
from treeplex.updates.hedge import MATCHING, THEORY
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule, linear, uniform
from treeplex.updates.thresholds import hedge_threshold, matching_threshold
from treeplex.updates.turns import SIMULTANEOUS

NONE: Final[Floats] = np.empty(0)
MOST_LIKELY: Final = 1.0 + 1e-9  # largest probability, with rounding
NO_ROWS: Final = Csr(np.zeros(1, dtype=np.int32), np.empty(0, dtype=np.int32), NONE)


@dataclass(frozen=True)
class WalkMatching:
    """Regret matching; ``plus``: negative regrets are forgotten (Brown & Sandholm 2015, section 4.2)."""

    plus: bool = False

    def rule(self, game: CompiledGame, player: int) -> KernelRule:
        """Return the parameters of the kernels for a player."""
        return PlainRule(MATCHING, self.plus, NONE, NONE, NONE)


@dataclass(frozen=True)
class WalkThresholded:
    """Hedge by one of its rates, or regret matching, with dynamic thresholding (Brown, Kroer & Sandholm 2017)."""

    kind: int
    d: float

    def rule(self, game: CompiledGame, player: int) -> KernelRule:
        """Return the parameters of the kernels for a player."""
        threshold = matching_threshold if self.kind == MATCHING else hedge_threshold
        actions, widest = game.treeplexes[player].actions, payoff_range(game) or 1.0
        ranges = payoff_ranges(game)[player] if self.kind == THEORY else np.full(len(actions), widest)
        return KernelRule(self.kind, False, np.log(actions), ranges, threshold(actions, self.d))


class WalkState(NamedTuple):
    """State of the walks between iterations."""

    tables: tuple[WalkTables, WalkTables]
    iteration: int
    nodes: int  # touched so far
    responses: int  # nodes visited by best responses that start and end prunings, included in ``nodes``
    visits: int  # infosets visited by traversals
    memory: tuple[Floats, ...] = ()  # [rows * S] of both players, for a rule that is a function


@dataclass(frozen=True)
class WalkCFR(Tabular[WalkState]):
    """CFR over the history tree: a strategy rule, averaging weights, a traversal, and an order of turns."""

    minimizer: WalkMatching | WalkThresholded | Rule
    weight: Schedule
    traversal: Traversal
    turns: int
    name: str = ""  # name without an entry in the registry

    def start(self, game: CompiledGame, seed: int = 0) -> WalkState:
        """As ``Algorithm``: no regret, uniform strategies, no pruning. A user's rule is first tried as plain Python."""
        first, second = uniform_strategies(game)[0]
        tables = self._tables(game, 0, first), self._tables(game, 1, second)
        return WalkState(tables, 0, 0, 0, 0, self._memory(game))

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> WalkState:
        """As ``Algorithm``: strategies must be valid, infosets need an unpruned action, and no walk may be under way.

        A walk records an infoset when its reach leaves zero. If that could happen twice, it would record too many.
        """
        state = super().restore(game, tensors, seed)
        for player, (treeplex, tables) in enumerate(zip(game.treeplexes, state.tables, strict=True)):
            below = tables.sequences[:, arrays.BELOW : arrays.BELOW + 1]
            if any(part.any() for part in (tables.play[:, arrays.VALUE], tables.infosets[:, arrays.REACH], below)):
                raise ValueError(f"a walk of player {player} is under way")
            checked(f"strategy {player}", tables.strategy, np.float64, None, 0.0, MOST_LIKELY)
            if tables.infosets.shape[1] > arrays.SEEN:
                checked(f"squares {player}", tables.infosets[:, arrays.SQUARES], np.float64, None, 0.0)
                checked(f"iterations {player}", tables.infosets[:, arrays.SEEN], np.float64, None, 0.0, state.iteration)
            if treeplex.infosets and not np.add.reduceat(tables.pruned == 0, treeplex.first[:-1]).all():
                raise ValueError(f"an infoset of player {player} has no action")
        return state

    def advance(self, game: CompiledGame, state: WalkState, iterations: int, stop: Stop = never) -> WalkState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        history_paths = paths(game)
        tree, players = history_paths.walked, (self.player(game, state, 0), self.player(game, state, 1))
        weight = self.weight(numbered(state.iteration, iterations))
        schedule = arrays.worklist(history_paths.inner), state.iteration, weight, self.traversal.pruning, self.turns
        if isinstance(self.minimizer, Rule):
            entry, calls = self.minimizer.entry, rule_calls(game, self.minimizer)
            first, second = (FunctionTable(*part) for part in zip(calls, state.memory, strict=True))
            entered, responses, visits = function_iterations(tree, players, (first, second), *schedule)
            del entry  # it had to stay alive while its address was in use
            check_calls(self.minimizer, calls, state.iteration, state.iteration + iterations)
        else:
            iterate = nested_iterations if self.traversal.nested else walk_iterations
            entered, responses, visits = iterate(tree, players, *schedule)
        nodes = state.nodes + entered + responses
        counts = nodes, state.responses + responses, state.visits + visits
        return WalkState(state.tables, state.iteration + iterations, *counts, state.memory)

    def report(self, game: CompiledGame, state: WalkState, iterate: str) -> StrategyReport:
        """As ``Algorithm``; raises if a rule has left anything but probabilities."""
        report = super().report(game, state, iterate)
        if isinstance(self.minimizer, Rule):
            check_strategies(self.minimizer, game, self.current(game, state), state.iteration)
        return report

    def average(self, game: CompiledGame, state: WalkState) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, (_sums(game, state, 0), _sums(game, state, 1)))

    def current(self, game: CompiledGame, state: WalkState) -> Strategies:
        """As ``Algorithm``."""
        return state.tables[0].strategy.copy(), state.tables[1].strategy.copy()

    def nodes_touched(self, game: CompiledGame, state: WalkState) -> int:
        """Return the nodes entered so far, with all nodes that best responses visit."""
        return state.nodes

    def counters(self, state: WalkState) -> dict[str, int]:
        """As ``Algorithm``."""
        return {"response_nodes": state.responses} if self.traversal.threshold >= 0.0 else {}

    def with_rule(self, rule: Rule, name: str) -> WalkCFR:
        """Return the walks with a rule that is a function, which provides no regrets and no bounds on them."""
        pruned = self.traversal.threshold >= 0.0 or self.traversal.respond
        if pruned or not isinstance(self.minimizer, WalkMatching):
            raise ParameterError(
                f"Pruning by regret and responses in zero-reach sequences need bounds that a rule of your own does not"
                f" give: 'rule' is for cfr-full, cfr-partial, cfr+-full and cfr+-partial, got {quoted(name)}; for"
                f" thresholds, give tp.minimizer a 'd'."
            )
        return replace(self, minimizer=rule, name=name)

    def _memory(self, game: CompiledGame) -> tuple[Floats, ...]:
        """Return the initial memory of a rule that is a function."""
        if not isinstance(self.minimizer, Rule):
            return ()
        try_own(self.minimizer, game)
        return rule_memories(game, self.minimizer)

    def _tables(self, game: CompiledGame, player: int, strategy: Floats) -> WalkTables:
        """Return the initial tables.

        One sum of strategies serves as the average and as what the opponent has faced, if both are the plain sum.
        """
        infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
        pruning, nested = self.traversal.threshold >= 0.0, self.traversal.nested
        apart = pruning and (nested or self.turns != SIMULTANEOUS or self.weight != uniform())
        last_of_sequence = arrays.LAST if nested else arrays.PLAYED if apart else arrays.SUM
        last_of_infoset = arrays.PASSED_PLAYED if apart else arrays.TOTAL_VALUE if pruning else arrays.PASSED
        if isinstance(self.minimizer, WalkThresholded):
            last_of_infoset = arrays.SEEN
        tables = WalkTables(
            play=np.zeros((sequences, arrays.VALUE + 1)),
            sequences=np.zeros((sequences, last_of_sequence + 1)),
            infosets=np.zeros((infosets, last_of_infoset + 1)),
            pruned=np.zeros(sequences, dtype=np.int8),
            limit=np.zeros(sequences if pruning else 0),
            since=np.zeros(sequences if pruning else 0, dtype=np.int64),
            value_then=np.zeros(sequences if pruning else 0),
            paid_then=np.zeros(sequences if pruning and not nested else 0),
            inside_pruned=np.zeros(infosets if pruning and not nested else 0, dtype=np.int8),
        )
        tables.play[:, arrays.STRATEGY] = strategy
        return tables

    def player(self, game: CompiledGame, state: WalkState, player: int) -> WalkingPlayer:
        """Return one player's tables and parameters for the kernels."""
        treeplex, side, tables = game.treeplexes[player], paths(game).sides[player], state.tables[player]
        if self.traversal.bound == "expected":
            side = side._replace(best=side.expected)
        if self.traversal.spread == "counterfactual":
            side = side._replace(payoff_range=counterfactual_ranges(game)[player])
        return WalkingPlayer(
            treeplex,
            side,
            response_rows(game)[player] if self.traversal.threshold >= 0.0 else NO_ROWS,
            tables,
            arrays.open_sequences(treeplex.first, tables.pruned),
            arrays.scratch(treeplex.infosets, treeplex.sequences),
            (WalkMatching() if isinstance(self.minimizer, Rule) else self.minimizer).rule(game, player),
        )


def _sums(game: CompiledGame, state: WalkState, player: int) -> Floats:
    """Return the completed sums, computed on copies: reading must not change later iterations."""
    tables = state.tables[player]
    sequences, infosets = tables.sequences.copy(), tables.infosets.copy()
    complete_sums(game.treeplexes[player], tables.play, sequences, infosets)
    return np.ascontiguousarray(sequences[:, arrays.SUM])


def _cfr(traversal: Traversal, turns: str, *, plus: bool = False) -> WalkCFR:
    return WalkCFR(WalkMatching(plus), linear() if plus else uniform(), traversal, turn_order(turns))


def _thresholded(kind: int, d: object, turns: str, traversal: Traversal, least: float = 0.0) -> WalkCFR:
    return WalkCFR(WalkThresholded(kind, number("d", d, least, 1e3)), uniform(), traversal, turn_order(turns))


def _regret_based(
    threshold: float, bound: str, length: str = "bound", longest: int = 0, stretch: float = 1.0, *, nested: bool = False
) -> Traversal:
    least, most = number("threshold", threshold, 0.0), non_negative("longest", longest)
    options = least, named("bound", bound, BOUNDS), named("length", length, LENGTHS), most
    return nested_regret_based(*options) if nested else regret_based(*options, number("stretch", stretch, 1.0, 1e6))


def cfr_full(turns: str = "alternating") -> WalkCFR:
    """CFR by walks that enter every history: the baseline for pruning."""
    return _cfr(full(), turns)


def cfr_plus_full(turns: str = "alternating") -> WalkCFR:
    """CFR+ by walks that enter every history."""
    return _cfr(full(), turns, plus=True)


def cfr_partial(turns: str = "alternating", least: float = 0.0) -> WalkCFR:
    """CFR with partial pruning: the same iterates as CFR, with fewer nodes.

    ``least``: a smaller counterfactual reach, that of the opponent and chance, counts as none. Ju et al. (2023) take
    1e-20.
    """
    return _cfr(partial(number("least", least, 0.0, 1.0)), turns)


def cfr_plus_partial(turns: str = "alternating", least: float = 0.0) -> WalkCFR:
    """CFR+ with partial pruning: the same strategies as CFR+, with fewer nodes; ``least``: as in ``cfr_partial``."""
    return _cfr(partial(number("least", least, 0.0, 1.0)), turns, plus=True)


def cfr_zero_reach_br(turns: str = "alternating", spread: str = "payoff") -> WalkCFR:
    """CFR with best responses in zero-reach sequences (Brown & Sandholm 2015, section 3)."""
    return _cfr(zero_reach_response(named("spread", spread, SPREADS)), turns)


def cfr_plus_zero_reach_br(turns: str = "alternating", spread: str = "payoff") -> WalkCFR:
    """CFR+ with best responses in zero-reach sequences, regrets as in section 4.2."""
    return _cfr(zero_reach_response(named("spread", spread, SPREADS)), turns, plus=True)


def cfr_rbp(
    threshold: float = 25.0,
    bound: str = "payoff",
    length: str = "bound",
    longest: int = 0,
    turns: str = "alternating",
    stretch: float = 1.0,
) -> WalkCFR:
    """CFR with regret-based pruning (Brown & Sandholm 2015, section 4)."""
    return _cfr(_regret_based(threshold, bound, length, longest, stretch), turns)


def cfr_plus_rbp(
    threshold: float = 25.0,
    bound: str = "payoff",
    length: str = "bound",
    longest: int = 0,
    turns: str = "alternating",
    stretch: float = 1.0,
) -> WalkCFR:
    """CFR+ with regret-based pruning (Brown & Sandholm 2015, section 4.2)."""
    return _cfr(_regret_based(threshold, bound, length, longest, stretch), turns, plus=True)


def cfr_nested_rbp(
    threshold: float = 3.0,
    bound: str = "payoff",
    length: str = "bound",
    longest: int = 0,
    turns: str = "alternating",
) -> WalkCFR:
    """CFR with regret-based pruning whose starts are free and whose nested prunings continue.

    Differs from Brown & Sandholm (2015) in the start and the end of a pruning: ``engines.history.cpu.nested``.
    """
    return _cfr(_regret_based(threshold, bound, length, longest, nested=True), turns)


def cfr_plus_nested_rbp(
    threshold: float = 3.0,
    bound: str = "payoff",
    length: str = "bound",
    longest: int = 0,
    turns: str = "alternating",
) -> WalkCFR:
    """CFR+ with regret-based pruning, free starts and nested prunings; revisited regrets are forgotten up to zero."""
    return _cfr(_regret_based(threshold, bound, length, longest, nested=True), turns, plus=True)


def hedge_dt(d: float = 1.0, rate: str = "variance", turns: str = "alternating") -> WalkCFR:
    """CFR with Hedge, dynamic thresholding and partial pruning (Brown, Kroer & Sandholm 2017)."""
    return _thresholded(hedge_rate(rate), d, turns, partial())


def hedge_dt_rbp(
    d: float = 1.0,
    threshold: float = 25.0,
    bound: str = "payoff",
    rate: str = "variance",
    turns: str = "alternating",
) -> WalkCFR:
    """``hedge_dt`` with regret-based pruning, condition (11)."""
    return _thresholded(hedge_rate(rate), d, turns, _regret_based(threshold, bound), least=1e-9)


def rm_dt(d: float = 1.0, turns: str = "alternating") -> WalkCFR:
    """CFR with regret matching, dynamic thresholding and partial pruning (Theorem 2)."""
    return _thresholded(MATCHING, d, turns, partial())


def rm_dt_rbp(d: float = 1.0, threshold: float = 25.0, bound: str = "payoff", turns: str = "alternating") -> WalkCFR:
    """``rm_dt`` with regret-based pruning while an action's probability must be below the threshold."""
    return _thresholded(MATCHING, d, turns, _regret_based(threshold, bound), least=1e-9)
