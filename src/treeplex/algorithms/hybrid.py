"""CFR on arrays first, then by walks over the history tree once these are cheaper.

An iteration over arrays always costs the same. A walk that prunes by regret gets cheaper over time. The cheaper one is
found by counting, never by timing, so the same request gives the same bits. Counted are the numbers that arrays read,
and the nodes and infosets that a walk visits in a trial. Each count is multiplied by nanoseconds that were measured
once (``benchmarks/hybrid.py``).

A trial starts from a copy of the state, at iterations that are a factor of ``SPACING`` apart. It may cost ``SHARE`` of
all iterations so far. If the walk is cheaper, the run continues by walks from the start of the trial. Otherwise the
trial is discarded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.hedge import hedge, hedge_rate
from treeplex.algorithms.options import named, number, turn_order
from treeplex.algorithms.protocol import Array, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular, sweep
from treeplex.algorithms.traversals import BOUNDS, nested_regret_based, regret_based
from treeplex.algorithms.walk import WalkCFR, WalkMatching, WalkState, WalkThresholded
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.cpu.handover import begin_prunings, take_over
from treeplex.engines.sequence.arrays import Learner, RuleLearner
from treeplex.engines.sequence.engine import SequenceTables
from treeplex.engines.sequence.learners import numbered, uniform_strategies
from treeplex.engines.sequence.rules import hedge_numbers
from treeplex.tensors import Tensors, copied, restored
from treeplex.updates import RegretMatching, RegretMatchingPlus
from treeplex.updates.schedules import Schedule, linear, uniform
from treeplex.updates.turns import SIMULTANEOUS

NUMBER: Final = 0.44  # nanoseconds per number that an iteration over arrays reads
NODE: Final = 5.7  # nanoseconds per node that a walk enters
VISIT: Final = 144.0  # nanoseconds per visited infoset, for the first ``NEAR`` of an iteration, which fit the cache
FAR_VISIT: Final = 630.0  # nanoseconds per further infoset
NEAR: Final = 1000
ITERATION: Final = 6500.0  # nanoseconds per iteration, a fixed cost
RESPONSE_NODE: Final = 30.0  # nanoseconds per node that a best response visits
PIECE: Final = 10**7  # iterations whose weights are in memory at the same time
HANDOVER: Final = 3.0  # cost of a hand-over, in iterations over arrays

SPACING: Final = 1.3  # distance of trials, as a factor of their iterations
SHARE: Final = 0.005  # fraction of all work so far that one trial may cost
MARGIN: Final = 0.7  # a walk is cheaper below this multiple of an array iteration: the fit may be 0.77 of the cost
FIRST_TRIAL: Final = 100
MOST_ITERATIONS: Final = 10**9  # accepted from a checkpoint on arrays: a hand-over sums the weights of all


class HybridState(NamedTuple):
    """State of the hybrid between iterations."""

    arrays: Any  # SequenceTables or tiled tables, used until the hand-over
    walk: WalkState  # used from the hand-over on
    handed_over_at: int  # iteration of the hand-over; 0: not yet
    trial: int  # the iteration of the next trial

    @property
    def iteration(self) -> int:
        """Number of iterations done so far."""
        return self.walk.iteration if self.handed_over_at else self.arrays.iteration


def walk_cost(before: WalkState, after: WalkState) -> float:
    """Return the nanoseconds of the walks between two states."""
    responses, iterations = after.responses - before.responses, after.iteration - before.iteration
    entered, visits = after.nodes - before.nodes - responses, after.visits - before.visits
    near = min(visits, NEAR * iterations)
    cost = NODE * entered + RESPONSE_NODE * responses + VISIT * near + FAR_VISIT * (visits - near)
    return ITERATION * iterations + cost


@dataclass(frozen=True)
class Hybrid(Tabular[HybridState]):
    """CFR on arrays, replaced by the same iterations with pruning once walks are cheaper."""

    arrays: CFR
    walk: WalkCFR

    def start(self, game: CompiledGame, seed: int = 0) -> HybridState:
        """As ``Algorithm``: starts on arrays."""
        return HybridState(self.arrays.start(game, seed), self.walk.start(game, seed), 0, FIRST_TRIAL)

    def advance(self, game: CompiledGame, state: HybridState, iterations: int, stop: Stop = never) -> HybridState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while state.iteration < last:
            if state.handed_over_at:
                state = state._replace(walk=self.walk.advance(game, state.walk, last - state.iteration))
                continue
            if state.iteration == state.trial:
                state = self._try_walks(game, state)
                continue
            upto = min(last, state.trial)
            state = state._replace(arrays=self.arrays.advance(game, state.arrays, upto - state.iteration))
        return state

    def average(self, game: CompiledGame, state: HybridState) -> Strategies:
        """As ``Algorithm``."""
        if state.handed_over_at:
            return self.walk.average(game, state.walk)
        return self._arrays(game, state, "average")

    def current(self, game: CompiledGame, state: HybridState) -> Strategies:
        """As ``Algorithm``."""
        if state.handed_over_at:
            return self.walk.current(game, state.walk)
        return self._arrays(game, state, "current")

    def _arrays(self, game: CompiledGame, state: HybridState, iterate: str) -> Strategies:
        """Return strategies of the arrays, in the game's order."""
        return self.arrays.report(game, state.arrays, iterate).arrays

    def nodes_touched(self, game: CompiledGame, state: HybridState) -> int:
        """Return whole passes on arrays plus counted nodes of walks. Trials are not counted."""
        return self.arrays.work(game, state.arrays).nodes + state.walk.nodes

    def counters(self, state: HybridState) -> dict[str, int]:
        """As ``Algorithm``."""
        return {"response_nodes": state.walk.responses, "handed_over_at": state.handed_over_at}

    def save(self, state: HybridState) -> Tensors:
        """As ``Algorithm``: arrays are in the game's order."""
        arrays = SequenceTables(state.arrays.learners, state.arrays.iteration)
        return super().save(state._replace(arrays=arrays))

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> HybridState:
        """As ``Algorithm``: each part is restored by its own algorithm; the next trial must lie ahead."""
        parts = [
            {f"state{key.removeprefix(head)}": array for key, array in tensors.items() if key.startswith(head)}
            for head in ("state.arrays", "state.walk")
        ]
        arrays, walk = self.arrays.restore(game, parts[0], seed), self.walk.restore(game, parts[1], seed)
        at, trial = (restored(0, f"state.{name}", tensors) for name in ("handed_over_at", "trial"))
        state = HybridState(arrays, walk, at, trial)
        if max(at, arrays.iteration) > MOST_ITERATIONS or state.iteration < at or (not at and trial < arrays.iteration):
            raise ValueError("its iterations do not follow each other")
        return state

    def array_cost(self, game: CompiledGame) -> float:
        """Return the nanoseconds of an iteration over arrays."""
        return NUMBER * sweep(game)

    def _try_walks(self, game: CompiledGame, state: HybridState) -> HybridState:
        """Hand over if walks are cheaper now, or set the iteration of the next trial."""
        after = state._replace(trial=math.ceil(SPACING * state.iteration))
        per_iteration = self.array_cost(game)
        budget, spent = SHARE * state.iteration * per_iteration, HANDOVER * per_iteration
        if spent > budget:
            return after
        walk = self.handed_over(game, state.arrays)
        probe, count = copied(walk), 1
        while spent < budget:
            before, probe = probe, self.walk.advance(game, probe, count)
            cost = walk_cost(before, probe)
            if cost < MARGIN * count * per_iteration:
                return after._replace(walk=walk, handed_over_at=state.iteration)
            spent += cost
            count = max(1, min(2 * count, int((budget - spent) * count / cost)))
        return after

    def handed_over(self, game: CompiledGame, state: Any) -> WalkState:
        """Return the state of walks equivalent to a state of arrays."""
        fresh = self.walk.start(game)
        learners: Any = state.learners
        forgetful = isinstance(self.walk.minimizer, WalkMatching) and self.walk.minimizer.plus
        for player, (tables, learner) in enumerate(zip(fresh.tables, learners, strict=True)):
            tables.play[1:, layout.STRATEGY] = learner.strategy[1:]
            if isinstance(learner, RuleLearner):  # Hedge
                regret, mean, squares = hedge_numbers(game.treeplexes[player], learner.memory)
                tables.infosets[:, layout.MEAN] = mean
                tables.infosets[:, layout.SQUARES] = squares
                tables.infosets[:, layout.SEEN] = state.iteration
            else:
                regret = learner.regret
            tables.sequences[1:, layout.REGRET] = regret[1:]
            tables.sequences[:, layout.SUM] = learner.average
            if tables.sequences.shape[1] > layout.PLAYED:
                tables.sequences[:, layout.PLAYED] = self._played(game, player, state.iteration, learner)
            if tables.sequences.shape[1] > layout.LAST:
                tables.sequences[:, layout.LAST] = 2 * state.iteration
        players = self.walk.player(game, fresh, 0), self.walk.player(game, fresh, 1)
        for own, other in (players, players[::-1]):
            take_over(own, other, forgetful, np.empty(len(own.tables.play)))
        if self.walk.traversal.nested:
            for own, other in (players, players[::-1]):
                begin_prunings(own, other, self.walk.traversal.pruning, state.iteration)
        return fresh._replace(iteration=state.iteration)

    def _played(self, game: CompiledGame, player: int, iterations: int, learner: Learner | RuleLearner) -> Floats:
        """Return the sum of the strategies that the opponent has faced.

        With alternating turns player 1 has faced player 0's strategies from the second one on, and the present one. For
        a weighted average the sum is only an estimate.
        """
        if self.arrays.weight != uniform():
            pieces = ((done, min(PIECE, iterations - done)) for done in range(0, iterations, PIECE))
            weights = sum(float(self.arrays.weight(numbered(*piece)).sum()) for piece in pieces)
            return learner.average * (iterations / weights)
        if player == 1 or self.arrays.turns == SIMULTANEOUS:
            return learner.average.copy()
        return learner.average - uniform_strategies(game)[1][0] + learner.plan


def _cfr(threshold: float, bound: str, turns: str, *, plus: bool = False) -> Hybrid:
    weight: Schedule = linear() if plus else uniform()
    traversal = nested_regret_based(number("threshold", threshold, 0.0), named("bound", bound, BOUNDS))
    arrays = CFR(RegretMatchingPlus() if plus else RegretMatching(), weight, turn_order(turns))
    return Hybrid(arrays, WalkCFR(WalkMatching(plus), weight, traversal, arrays.turns))


def cfr_hybrid(threshold: float = 3.0, bound: str = "payoff", turns: str = "alternating") -> Hybrid:
    """``cfr``, replaced by ``cfr-nested-rbp`` once that is cheaper."""
    return _cfr(threshold, bound, turns)


def cfr_plus_hybrid(threshold: float = 3.0, bound: str = "payoff", turns: str = "alternating") -> Hybrid:
    """``cfr+``, replaced by ``cfr+-nested-rbp`` once that is cheaper."""
    return _cfr(threshold, bound, turns, plus=True)


def hedge_dt_hybrid(
    d: float = 1.0,
    threshold: float = 25.0,
    bound: str = "payoff",
    rate: str = "variance",
    turns: str = "alternating",
) -> Hybrid:
    """``hedge`` with dynamic thresholding on arrays, replaced by ``hedge-dt-rbp`` once that is cheaper."""
    cut, arrays = number("d", d, 1e-9, 1e3), hedge(rate, d, turns)
    traversal = regret_based(number("threshold", threshold, 0.0), named("bound", bound, BOUNDS))
    return Hybrid(arrays, WalkCFR(WalkThresholded(hedge_rate(rate), cut), uniform(), traversal, arrays.turns))
