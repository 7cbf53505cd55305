"""Warm start by elimination: Pure MCCFR finds out which actions matter, CFR+ solves the game of these.

Actions that Pure MCCFR has hardly played are taken out, so that an iteration of CFR+ costs little. In safe mode they
are let back in as soon as a best response gains by them, so that the answer converges in the game that was asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms import mccfr
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
    "pure-mccfr": partial(mccfr.pure_mccfr, weight="log", average="same"),  # as in the paper
    "mccfr-external": mccfr.mccfr_external,
    "mccfr-chance": partial(mccfr.mccfr_chance, fallback="random"),
}
MODES: Final = {"safe": True, "unsafe": False}
LOOK: Final = 1.5  # a look at the whole game each time there have been so many times as many iterations
FIRST_LOOK: Final = 10
SHARE: Final = 2.0  # let actions in when NashConv is this many times what it is among the actions that are left


class WarmStartState(NamedTuple):
    """What the next iteration needs; arrays are those of the whole game."""

    sampler: mccfr.SamplingState
    learners: tuple[Learner, Learner]  # of CFR+; zero for what is taken out
    kept: tuple[Bytes, Bytes]  # [S] 1 for the actions that are left
    unpaid: tuple[Bytes, Bytes]  # [I] 1 where CFR+ has nothing to learn from, or is not yet under way
    iteration: int
    look: int  # the iteration of the next look at the whole game
    size: int  # histories of the reduced game
    solved: int  # histories entered by CFR+


@dataclass(frozen=True)
class WarmStart(Tabular[WarmStartState]):
    """``sampler`` for ``warmup`` iterations, then CFR+ on the actions it plays with probability ``least`` or more."""

    random: ClassVar[bool] = True

    sampler: mccfr.MonteCarlo
    minimizer: Minimizer
    weight: Schedule
    warmup: int
    least: float
    safe: bool

    def open(self, game: CompiledGame, execution: Execution) -> WarmStart:
        """As ``Algorithm``: threads are for the sampler's streams."""
        return replace(self, sampler=self.sampler.open(game, execution))

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: iterations of the sampler are the cheaper ones."""
        return self.sampler.cost(game)

    def start(self, game: CompiledGame, seed: int = 0) -> WarmStartState:
        """Nothing sampled, nothing taken out."""
        first, second = (Learner(*(np.zeros(treeplex.sequences) for _ in range(4))) for treeplex in game.treeplexes)
        kept = tuple(np.ones(treeplex.sequences, dtype=np.int8) for treeplex in game.treeplexes)
        unpaid = tuple(np.ones(treeplex.infosets, dtype=np.int8) for treeplex in game.treeplexes)
        sampler = self.sampler.start(game, seed)
        return WarmStartState(sampler, (first, second), (kept[0], kept[1]), (unpaid[0], unpaid[1]), 0, 0, 0, 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> WarmStartState:
        """As ``Algorithm``: every infoset keeps an action, and the next look is yet to come."""
        head = "state.sampler."
        own = {f"state.{key.removeprefix(head)}": array for key, array in tensors.items() if key.startswith(head)}
        state = super().restore(game, tensors, seed)._replace(sampler=self.sampler.restore(game, own, seed))
        for treeplex, kept in zip(game.treeplexes, state.kept, strict=True):
            if treeplex.infosets and not np.logical_or.reduceat(kept, treeplex.first[:-1]).all():
                raise ValueError("an infoset has no action")
        late = state.iteration >= self.warmup and self.safe and state.look <= state.iteration
        if late or state.sampler.iteration != min(state.iteration, self.warmup):
            raise ValueError("its iterations do not follow each other")
        return state

    def advance(self, game: CompiledGame, state: WarmStartState, iterations: int, stop: Stop = never) -> WarmStartState:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        while state.iteration < last:
            if state.iteration < self.warmup:
                count = min(last, self.warmup) - state.iteration
                sampler = self.sampler.advance(game, state.sampler, count)
                state = state._replace(sampler=sampler, iteration=state.iteration + count)
                if state.iteration == self.warmup:
                    state = self._eliminate(game, state)
            else:
                upto = min(last, state.look) if self.safe else last
                state = self._solve(game, state, upto - state.iteration)
                if self.safe and state.iteration == state.look:
                    state = self._look(game, state)
        return state

    def average(self, game: CompiledGame, state: WarmStartState) -> Strategies:
        """The average of CFR+; that of the sampler where CFR+ has nothing to learn from."""
        sampled = self.sampler.average(game, state.sampler)
        if state.iteration < self.warmup:
            return sampled
        solved = normalised(game, (state.learners[0].average, state.learners[1].average))
        return self._lifted(game, state, sampled, solved)

    def current(self, game: CompiledGame, state: WarmStartState) -> Strategies:
        """As ``Algorithm``."""
        if state.iteration < self.warmup:
            return self.sampler.current(game, state.sampler)
        first, second = (learner.strategy for learner in state.learners)
        return self._lifted(game, state, self.sampler.average(game, state.sampler), (first, second))

    def nodes_touched(self, game: CompiledGame, state: WarmStartState) -> int:
        """The sampler's, and two passes over what is left of the game for each iteration of CFR+."""
        return self.sampler.nodes_touched(game, state.sampler) + state.solved

    def _eliminate(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Take out what was hardly played; of every infoset the action played most stays."""
        sampled = self.sampler.average(game, state.sampler)
        for treeplex, mask, strategy in zip(game.treeplexes, state.kept, sampled, strict=True):
            if treeplex.infosets:
                most = np.maximum.reduceat(strategy, treeplex.first[:-1])
                mask[1:] = (strategy[1:] >= self.least) | (strategy[1:] == np.repeat(most, treeplex.actions))
        return self._restarted(game, state._replace(look=self.warmup + FIRST_LOOK))

    def _restarted(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Fit the learners to the actions that are left: new ones have no regret yet."""
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
        for here, place, mask in zip(local, form.sequence_index, state.kept, strict=True):
            here[place] = mask
        return state._replace(size=form.pre_deal_nodes + histories(form.tree, local))

    def _solve(self, game: CompiledGame, state: WarmStartState, iterations: int) -> WarmStartState:
        """Iterations of CFR+ on what is left."""
        left = _reduced(game, state.kept)
        rule = Matching(self.minimizer.predict)
        now = steps(state.iteration - self.warmup, iterations, self.weight, self.minimizer)
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

    def _look(self, game: CompiledGame, state: WarmStartState) -> WarmStartState:
        """Best responses in the whole game; what gains by an action that was taken out brings it back."""
        solving = state.iteration - self.warmup
        state = state._replace(look=self.warmup + max(solving + 1, int(LOOK * solving)))
        left, average = _reduced(game, state.kept), self.average(game, state)
        whole, within = 0.0, 0.0
        wanted: list[Bytes] = []
        for player, treeplex in enumerate(game.treeplexes):
            opponent = np.empty(len(average[1 - player]))
            walks.realization_plan(game.treeplexes[1 - player], average[1 - player], opponent)
            values = gradient(game, player, opponent)
            small = values[left.sequences[player]]
            walks.best_response(left.treeplexes[player], small, np.empty_like(small))
            walks.best_response(treeplex, values, np.empty_like(values))
            whole, within = whole + float(values[0]), within + float(small[0])
            wanted.append(_gaining(game, player, state.kept[player], values))
        if whole <= SHARE * max(within, 0.0) or not any(mask.any() for mask in wanted):
            return state
        for mask, more in zip(state.kept, wanted, strict=True):
            mask[more == 1] = 1
        return self._restarted(game, state)

    def _lifted(self, game: CompiledGame, state: WarmStartState, sampled: Strategies, solved: Strategies) -> Strategies:
        """``solved``, and ``sampled`` where CFR+ has nothing to learn from."""
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
) -> WarmStart:
    """Pure MCCFR, then CFR+ without rare actions: probability below ``elimination_threshold`` / ``warmup``.

    Ju et al. (2023). ``mode="unsafe"`` is the paper's: what is taken out stays out, and the answer may not converge.
    ``sampler``: what finds the actions; the paper compares "pure-mccfr" with "mccfr-external", which in its
    authors' code samples chance alone and plays a random action without positive regret: "mccfr-chance".

    Differs from the paper in: "safe" lets actions back in; where the reduced game holds nothing to learn from, the
    sampler's strategy is played.
    """
    make = named("sampler", sampler, SAMPLERS)
    iterations = counted("warmup", warmup, 10**12)
    least = number("elimination_threshold", elimination_threshold, 0.0, 1e12) / iterations
    return WarmStart(
        make(streams=streams), RegretMatchingPlus(), linear(), iterations, least, named("mode", mode, MODES)
    )


def _gaining(game: CompiledGame, player: int, kept: Bytes, values: Floats) -> Bytes:
    """[S] 1 for actions taken out that are worth more than those left of their infoset, after a best response."""
    treeplex = game.treeplexes[player]
    gaining = np.zeros(treeplex.sequences, dtype=np.int8)
    if treeplex.infosets:
        least = np.maximum.reduceat(np.where(kept == 1, values, -np.inf), treeplex.first[:-1])
        bar = np.repeat(least, treeplex.actions) + 1e-12 * game.largest_payoff
        gaining[1:] = (kept[1:] == 0) & (values[1:] > bar)
    return gaining


_REDUCED: WeakKeyDictionary[CompiledGame, tuple[bytes, Reduced]] = WeakKeyDictionary()


def _reduced(game: CompiledGame, kept: tuple[Bytes, Bytes]) -> Reduced:
    """The reduced game; the last one is kept beside the game."""
    key = kept[0].tobytes() + kept[1].tobytes()
    if game not in _REDUCED or _REDUCED[game][0] != key:
        _REDUCED[game] = key, reduced(game, kept)
    return _REDUCED[game][1]
