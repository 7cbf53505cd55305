"""CFR on arrays first, and by walks over the history tree as soon as these are cheaper.

An iteration over arrays costs the same from the first to the last; a walk that prunes by regret costs less and less.
Which is cheaper is counted, never timed, so that the same request gives the same bits: numbers that arrays read, and
nodes and infosets that a walk meets in a trial, each times nanoseconds that were measured once
(``benchmarks/hybrid.py``). A trial
goes on from a copy of the state, at iterations that are ``SPACING`` apart, and may cost ``SHARE`` of all iterations so
far. If the walk turns out to be cheaper, the run goes on by walks from where the trial began; if not, the trial is
forgotten.
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
NODE: Final = 5.7  # per node that a walk enters
VISIT: Final = 144.0  # per infoset that it visits, up to ``NEAR`` in an iteration: what stays in the cache
FAR_VISIT: Final = 630.0  # and beyond
NEAR: Final = 1000
ITERATION: Final = 6500.0  # per iteration, whatever is entered
RESPONSE_NODE: Final = 30.0  # per node that a best response looks at
PIECE: Final = 10**7  # iterations whose weights are in memory at a time
HANDOVER: Final = 3.0  # what a hand-over costs, in iterations over arrays

SPACING: Final = 1.3  # of trials, as a factor of their iterations
SHARE: Final = 0.005  # of all work so far, for one trial
MARGIN: Final = 0.7  # a walk is cheaper below this many times an iteration over arrays: the fit may be 0.77 of the cost
FIRST_TRIAL: Final = 100
MOST_ITERATIONS: Final = 10**9  # on arrays, of a checkpoint: a hand-over adds up the weights of all


class HybridState(NamedTuple):
    """What the next iteration needs."""

    arrays: Any  # of type SequenceTables, or in tiles; until the hand-over
    walk: WalkState  # from then on
    handed_over_at: int  # the iteration; 0: not yet
    trial: int  # the iteration of the next trial

    @property
    def iteration(self) -> int:
        """Done so far."""
        return self.walk.iteration if self.handed_over_at else self.arrays.iteration


def walk_cost(before: WalkState, after: WalkState) -> float:
    """Nanoseconds of the walks in between."""
    responses, iterations = after.responses - before.responses, after.iteration - before.iteration
    entered, visits = after.nodes - before.nodes - responses, after.visits - before.visits
    near = min(visits, NEAR * iterations)
    cost = NODE * entered + RESPONSE_NODE * responses + VISIT * near + FAR_VISIT * (visits - near)
    return ITERATION * iterations + cost


@dataclass(frozen=True)
class Hybrid(Tabular[HybridState]):
    """Two ways to carry out the same iterations, but for pruning."""

    arrays: CFR
    walk: WalkCFR

    def start(self, game: CompiledGame, seed: int = 0) -> HybridState:
        """On arrays."""
        return HybridState(self.arrays.start(game, seed), self.walk.start(game, seed), 0, FIRST_TRIAL)

    def advance(self, game: CompiledGame, state: HybridState, iterations: int, stop: Stop = never) -> HybridState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while state.iteration < last:
            if state.handed_over_at:
                state = state._replace(walk=self.walk.advance(game, state.walk, last - state.iteration))
                continue
            if state.iteration == state.trial:
                state = self._tried(game, state)
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
        """Strategies of the arrays, in the game's order."""
        return self.arrays.report(game, state.arrays, iterate).arrays

    def nodes_touched(self, game: CompiledGame, state: HybridState) -> int:
        """Whole passes on arrays, then as counted; trials are not counted."""
        return self.arrays.work(game, state.arrays).nodes + state.walk.nodes

    def counters(self, state: HybridState) -> dict[str, int]:
        """As ``Algorithm``."""
        return {"response_nodes": state.walk.responses, "handed_over_at": state.handed_over_at}

    def save(self, state: HybridState) -> Tensors:
        """As ``Algorithm``: in the game's order."""
        arrays = SequenceTables(state.arrays.learners, state.arrays.iteration)
        return super().save(state._replace(arrays=arrays))

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> HybridState:
        """As ``Algorithm``: each part as its own algorithm has it; the next trial is yet to come."""
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
        """Nanoseconds of an iteration over arrays."""
        return NUMBER * sweep(game)

    def _tried(self, game: CompiledGame, state: HybridState) -> HybridState:
        """Hand over if walks are cheaper by now, or set the iteration of the next trial."""
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
        """The state of walks that the state of arrays amounts to."""
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
        """The sum of what the opponent has met.

        In turns player 1 has met player 0's strategies from the second on, and the present one. Of a weighted average
        only an estimate is known.
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
    """``cfr``, and ``cfr-nested-rbp`` as soon as it is cheaper."""
    return _cfr(threshold, bound, turns)


def cfr_plus_hybrid(threshold: float = 3.0, bound: str = "payoff", turns: str = "alternating") -> Hybrid:
    """``cfr+``, and ``cfr+-nested-rbp`` as soon as it is cheaper."""
    return _cfr(threshold, bound, turns, plus=True)


def hedge_dt_hybrid(
    d: float = 1.0,
    threshold: float = 25.0,
    bound: str = "payoff",
    rate: str = "variance",
    turns: str = "alternating",
) -> Hybrid:
    """``hedge`` with dynamic thresholding on arrays, and ``hedge-dt-rbp`` as soon as it is cheaper."""
    cut, arrays = number("d", d, 1e-9, 1e3), hedge(rate, d, turns)
    traversal = regret_based(number("threshold", threshold, 0.0), named("bound", bound, BOUNDS))
    return Hybrid(arrays, WalkCFR(WalkThresholded(hedge_rate(rate), cut), uniform(), traversal, arrays.turns))
