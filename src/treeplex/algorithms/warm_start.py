"""Warm start by elimination: Pure MCCFR finds the actions that matter, CFR+ solves the game of these.

Actions that Pure MCCFR has hardly played are removed, so that an iteration of CFR+ is cheap. In safe mode an action
returns once a best response gains by it, so that the answer converges in the original game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms import mccfr, samplers
from treeplex.algorithms.options import counted, named, number
from treeplex.algorithms.protocol import Array, Cost, Execution, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Bytes, Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.reduced import Reduced, reduced
from treeplex.engines.sampling.cpu.count import histories
from treeplex.engines.sampling.tree import sample_tree
from treeplex.engines.sequence.arrays import Learner, Matching, SequenceForm
from treeplex.engines.sequence.cpu import treeplex as walks
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.learners import normalised, steps
from treeplex.evaluation.exact import gradient
from treeplex.updates import Minimizer, RegretMatchingPlus
from treeplex.updates.schedules import Schedule, linear
from treeplex.updates.turns import ALTERNATING

SAMPLERS: Final[dict[str, Callable[..., mccfr.MonteCarlo]]] = {
    "pure-mccfr": partial(samplers.pure_mccfr, weight="log", average="same"),  # weights of the paper
    "mccfr-external": samplers.mccfr_external,
    "mccfr-chance": partial(samplers.mccfr_chance, fallback="random"),
}
MODES: Final = {"safe": True, "unsafe": False}
SWITCHES: Final = {"fixed": False, "settled": True}
FIRST_DECISION: Final = 1000  # iterations; decisions are at 1000, 2000, 4000, ...
SETTLED: Final = 0.9  # switch once a doubling leaves at least this fraction of the sequences that were left before
CHECK: Final = 1.5  # between checks in the whole game, as a factor of iterations
FIRST_CHECK: Final = 10
SHARE: Final = 2.0  # actions return if NashConv is more than this multiple of NashConv in the reduced game


class WarmStartState(NamedTuple):
    """State between iterations; arrays are those of the whole game."""

    sampler: mccfr.SamplingState
    learners: tuple[Learner, Learner]  # CFR+'s tables; zero for removed actions
    kept: tuple[Bytes, Bytes]  # [S] 1 for the remaining actions
    unpaid: tuple[Bytes, Bytes]  # [I] 1 where CFR+ has nothing to learn from, or has not started
    iteration: int
    look: int  # the iteration of the next check in the whole game
    size: int  # histories of the reduced game
    solved: int  # histories entered by CFR+


@dataclass(frozen=True)
class WarmStart(Tabular[WarmStartState]):
    """``sampler`` for up to ``warmup`` iterations T, then CFR+ on the actions with probability ``threshold`` / T."""

    random: ClassVar[bool] = True

    sampler: mccfr.MonteCarlo
    minimizer: Minimizer
    weight: Schedule
    warmup: int
    threshold: float
    safe: bool
    settles: bool = False  # the sampler ends before ``warmup`` once doubling its iterations eliminates little

    def open(self, game: CompiledGame, execution: Execution) -> WarmStart:
        """As ``Algorithm``: threads run the sampler's streams."""
        return replace(self, sampler=self.sampler.open(game, execution))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: the cost of the sampler, whose iterations are the cheaper ones."""
        return self.sampler.cost(game)

    def start(self, game: CompiledGame, seed: int = 0) -> WarmStartState:
        """As ``Algorithm``: nothing sampled, nothing removed."""
        first, second = (Learner(*(np.zeros(treeplex.sequences) for _ in range(4))) for treeplex in game.treeplexes)
        masks = tuple(np.ones(treeplex.sequences, dtype=np.int8) for treeplex in game.treeplexes)
        unpaid = tuple(np.ones(treeplex.infosets, dtype=np.int8) for treeplex in game.treeplexes)
        sampler = self.sampler.start(game, seed)
        return WarmStartState(sampler, (first, second), (masks[0], masks[1]), (unpaid[0], unpaid[1]), 0, 0, 0, 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> WarmStartState:
        """As ``Algorithm``: every infoset needs an action, and the next check must lie ahead."""
        head = "state.sampler."
        own = {f"state.{key.removeprefix(head)}": array for key, array in tensors.items() if key.startswith(head)}
        state = super().restore(game, tensors, seed)._replace(sampler=self.sampler.restore(game, own, seed))
        for treeplex, mask in zip(game.treeplexes, state.kept, strict=True):
            if treeplex.infosets and not np.logical_or.reduceat(mask, treeplex.first[:-1]).all():
                raise ValueError("an infoset has no action")
        late = state.size > 0 and self.safe and state.look <= state.iteration
        sampled = min(state.iteration, self.warmup)
        if self.settles and state.size > 0:
            sampled = min(sampled, self._due(state.sampler.iteration - 1))
        if late or state.sampler.iteration != sampled or (state.size == 0 and sampled == self.warmup):
            raise ValueError("its iterations do not follow each other")
        return state

    def advance(self, game: CompiledGame, state: WarmStartState, iterations: int, stop: Stop = never) -> WarmStartState:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        while state.iteration < last:
            if state.size == 0:
                due = self._due(state.iteration)
                count = min(last, due) - state.iteration
                sampler = self.sampler.advance(game, state.sampler, count)
                state = state._replace(sampler=sampler, iteration=state.iteration + count)
                if state.iteration == due:
                    state = self._eliminate(game, state)
            else:
                upto = min(last, state.look) if self.safe else last
                state = self._solve(game, state, upto - state.iteration)
                if self.safe and state.iteration == state.look:
                    state = self._check_whole_game(game, state)
        return state

    def average(self, game: CompiledGame, state: WarmStartState) -> Strategies:
        """Return the average of CFR+, or the sampler's where CFR+ has nothing to learn from."""
        sampled = self.sampler.average(game, state.sampler)
        if state.size == 0:
            return sampled
        solved = normalised(game, (state.learners[0].average, state.learners[1].average))
        return self._lifted(game, state, sampled, solved)

    def current(self, game: CompiledGame, state: WarmStartState) -> Strategies:
        """As ``Algorithm``."""
        if state.size == 0:
            return self.sampler.current(game, state.sampler)
        first, second = (learner.strategy for learner in state.learners)
        return self._lifted(game, state, self.sampler.average(game, state.sampler), (first, second))

    def nodes_touched(self, game: CompiledGame, state: WarmStartState) -> int:
        """Return the sampler's nodes, and two passes over the reduced game for each iteration of CFR+."""
        return self.sampler.nodes_touched(game, state.sampler) + state.solved

    def _due(self, iteration: int) -> int:
        """Return the first iteration after ``iteration`` at which the sampler may end."""
        due = FIRST_DECISION if self.settles else self.warmup
        while due <= iteration and due < self.warmup:
            due *= 2
        return min(due, self.warmup)

    def _eliminate(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Remove hardly played actions, and begin CFR+ unless many were removed since the last time.

        Every infoset keeps its most played action.
        """
        sampled, least = self.sampler.average(game, state.sampler), self.threshold / state.iteration
        before = sum(int(mask.sum()) for mask in state.kept)
        for treeplex, mask, strategy in zip(game.treeplexes, state.kept, sampled, strict=True):
            if treeplex.infosets:
                most = np.maximum.reduceat(strategy, treeplex.first[:-1])
                mask[1:] = (strategy[1:] >= least) | (strategy[1:] == np.repeat(most, treeplex.actions))
        if state.iteration < self.warmup and sum(int(mask.sum()) for mask in state.kept) < SETTLED * before:
            return state
        return self._restarted(game, state._replace(look=state.iteration + FIRST_CHECK))

    def _restarted(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Fit the learners to the remaining actions; new ones have no regret yet."""
        left = _reduced(game, state.kept)
        for player, learner in enumerate(state.learners):
            own, treeplex = left.sequences[player], left.treeplexes[player]
            strategy, plan = np.empty(len(own)), np.empty(len(own))
            walks.normalise(treeplex, learner.regret[own], strategy)
            walks.realization_plan(treeplex, strategy, plan)
            learner.strategy[:], learner.plan[:] = 0.0, 0.0
            learner.strategy[own], learner.plan[own] = strategy, plan
            state.unpaid[player][:] = left.unpaid[player]
        form = sample_tree(game)
        local = (np.zeros(form.sequences[0], dtype=np.int8), np.zeros(form.sequences[1], dtype=np.int8))
        for here, index, mask in zip(local, form.sequence_index, state.kept, strict=True):
            here[index] = mask
        return state._replace(size=form.pre_deal_nodes + histories(form.tree, local))

    def _solve(self, game: CompiledGame, state: WarmStartState, iterations: int) -> WarmStartState:
        """Run iterations of CFR+ on the reduced game."""
        left = _reduced(game, state.kept)
        rule = Matching(self.minimizer.predict)
        now = steps(state.iteration - state.sampler.iteration, iterations, self.weight, self.minimizer)
        first, second = (
            Learner(*(part[own] for part in learner))
            for learner, own in zip(state.learners, left.sequences, strict=True)
        )
        values = (np.empty(len(first.regret)), np.empty(len(second.regret)))
        form = SequenceForm(left.treeplexes, left.payoffs, (None, None), values)
        iterate(form, (first, second), (rule, rule), now, ALTERNATING, None)
        for learner, small, own in zip(state.learners, (first, second), left.sequences, strict=True):
            for whole, part in zip(learner, small, strict=True):
                whole[own] = part
        return state._replace(iteration=state.iteration + iterations, solved=state.solved + 2 * iterations * state.size)

    def _check_whole_game(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Compute best responses in the whole game, and restore removed actions by which they gain."""
        solving = state.iteration - state.sampler.iteration
        state = state._replace(look=state.sampler.iteration + max(solving + 1, int(CHECK * solving)))
        left, average = _reduced(game, state.kept), self.average(game, state)
        whole, within = 0.0, 0.0
        gaining: list[Bytes] = []
        for player, treeplex in enumerate(game.treeplexes):
            opponent = np.empty(len(average[1 - player]))
            walks.realization_plan(game.treeplexes[1 - player], average[1 - player], opponent)
            values = gradient(game, player, opponent)
            small = values[left.sequences[player]]
            walks.best_response(left.treeplexes[player], small, np.empty_like(small))
            walks.best_response(treeplex, values, np.empty_like(values))
            whole, within = whole + float(values[0]), within + float(small[0])
            gaining.append(_gaining(game, player, state.kept[player], values))
        if whole <= SHARE * max(within, 0.0) or not any(mask.any() for mask in gaining):
            return state
        for mask, more in zip(state.kept, gaining, strict=True):
            mask[more == 1] = 1
        return self._restarted(game, state)

    def _lifted(self, game: CompiledGame, state: WarmStartState, sampled: Strategies, solved: Strategies) -> Strategies:
        """Return ``solved``, with ``sampled`` where CFR+ has nothing to learn from."""
        first, second = (
            np.where(np.concatenate(([0], np.repeat(skipped, treeplex.actions))) == 1, before, now)
            for treeplex, skipped, before, now in zip(game.treeplexes, state.unpaid, sampled, solved, strict=True)
        )
        return first, second


def warm_start(
    warmup: int = 10_000,
    elimination_threshold: float = 10.0,
    mode: str = "safe",
    sampler: str = "pure-mccfr",
    streams: int = 1,
    switch: str = "fixed",
) -> WarmStart:
    """Pure MCCFR, then CFR+ without rare actions: probability below ``elimination_threshold`` / ``warmup``.

    Ju et al. (2023). ``mode="unsafe"`` is the paper's: removed actions stay out, and the answer may not converge.
    ``sampler``: the algorithm that finds the actions. The paper compares "pure-mccfr" with "mccfr-external", which in
    its authors' code samples only chance and plays a random action where no regret is positive: "mccfr-chance".

    ``switch``: "fixed" samples for ``warmup`` iterations. "settled" looks after 1000, 2000, 4000, ... iterations T,
    with ``elimination_threshold`` / T. It begins CFR+ once a look leaves at least 90 % of the actions that the last one
    left, or after ``warmup``.

    Differs from the paper in: "safe" lets actions return. Where the reduced game has nothing to learn from, the
    sampler's strategy is played.
    """
    make = named("sampler", sampler, SAMPLERS)
    iterations = counted("warmup", warmup, 10**12)
    threshold = number("elimination_threshold", elimination_threshold, 0.0, 1e12)
    return WarmStart(
        make(streams=streams),
        RegretMatchingPlus(),
        linear(),
        iterations,
        threshold,
        named("mode", mode, MODES),
        named("switch", switch, SWITCHES),
    )


def _gaining(game: CompiledGame, player: int, mask: Bytes, values: Floats) -> Bytes:
    """[S] 1 for removed actions with a higher value than the remaining ones of their infoset, by a best response."""
    treeplex = game.treeplexes[player]
    gaining = np.zeros(treeplex.sequences, dtype=np.int8)
    if treeplex.infosets:
        least = np.maximum.reduceat(np.where(mask == 1, values, -np.inf), treeplex.first[:-1])
        bar = np.repeat(least, treeplex.actions) + 1e-12 * game.largest_payoff
        gaining[1:] = (mask[1:] == 0) & (values[1:] > bar)
    return gaining


_REDUCED: WeakKeyDictionary[CompiledGame, tuple[bytes, Reduced]] = WeakKeyDictionary()


def _reduced(game: CompiledGame, masks: tuple[Bytes, Bytes]) -> Reduced:
    """Return the reduced game; the last one is cached per game."""
    key = masks[0].tobytes() + masks[1].tobytes()
    if game not in _REDUCED or _REDUCED[game][0] != key:
        _REDUCED[game] = key, reduced(game, masks)
    return _REDUCED[game][1]
