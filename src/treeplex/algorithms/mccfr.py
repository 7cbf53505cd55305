"""Monte Carlo CFR: iterations that enter a sample of the tree, with regret matching or with pure strategies.

Weights multiply regrets and averages alike, as the bound for weighted averages assumes (equation (16) of Ju et al.),
unless averages have weights of their own. Averages are updated at the opponent's nodes ("stochastically weighted
averaging"). The probability of reaching such a node is chance's times that of the player whose average it is, so the
expected sum is the average by reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import ClassVar, Final, NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Array, Cost, Execution, Stop, StrategyReport, never, plain_execution
from treeplex.algorithms.tabular import OVERHEAD, Strategies, Tabular, sweep
from treeplex.algorithms.traversals import (
    EFFORT,
    AverageStrategy,
    Chance,
    Drawn,
    External,
    Outcome,
    Public,
    PureExternal,
    Reached,
    Sampler,
)
from treeplex.algorithms.trial import try_own
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sampling.arrays import (
    MATCH,
    MATCH_OR_PICK,
    PURE,
    LearnerTable,
    RegretLog,
    SamplerArrays,
    discount_log,
    frames,
    function_log,
    hand_frames,
    log,
    table,
)
from treeplex.engines.sampling.cpu.drawn import drawn_iterations
from treeplex.engines.sampling.cpu.external import external_iterations
from treeplex.engines.sampling.cpu.joint import joint_iterations
from treeplex.engines.sampling.cpu.outcome import outcome_iterations
from treeplex.engines.sampling.cpu.public import public_iterations
from treeplex.engines.sampling.cpu.pure import pure_iterations, scatter
from treeplex.engines.sampling.cpu.random import Counter
from treeplex.engines.sampling.reference.random import counter
from treeplex.engines.sampling.tree import Longs, Sampling, last_moves, nodes_per_walk, sample_tree
from treeplex.engines.sequence.learners import normalised
from treeplex.engines.sequence.rules import check_calls, check_strategies, initial_memory, payoff_range, rule_calls
from treeplex.errors import ParameterError, quoted
from treeplex.updates.discounted import Discounted
from treeplex.updates.lazy_discounts import logarithms
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule
from treeplex.updates.turns import SIMULTANEOUS

EVERY_MOVE: Final = (1.0, 0.0, 0.0)  # average-strategy sampling that tries all moves: external sampling


class SamplingStream(NamedTuple):
    """One of several independent runs: both players' tables and the random number state."""

    tables: tuple[LearnerTable, LearnerTable]
    counter: Counter
    nodes: Longs  # [2] entered; visited but not entered
    marks: tuple[Floats, Floats]  # [2, S] averages at the last powers of two, m and m / 2; [2, 1] if none are needed
    memory: tuple[Floats, ...] = ()  # [rows * S] of both players, for a rule that is a function, or for discounts


class SamplingState(NamedTuple):
    """State of the sampler between iterations."""

    streams: tuple[SamplingStream, ...]
    iteration: int


@dataclass(frozen=True)
class MonteCarlo(Tabular[SamplingState]):
    """CFR over a sample of the tree.

    Each of the ``streams`` has its own tables and random numbers. An iteration is one of each stream, and the answer is
    the average of all by reach. It depends only on the seed and the number of streams. ``workers``: threads that run
    the streams; 0: one per stream.
    """

    random: ClassVar[bool] = True

    sampler: Sampler
    weight: Schedule
    turns: int
    plus: bool  # regret matching+: negative regret is set to zero
    streams: int
    workers: int = 0
    average_weight: Schedule | None = None  # weight of averages, if it differs from that of regrets
    recent: bool = False  # report the average since the last power of two in the first half of the run
    correlated: bool = False  # a node's chance draws are evenly spread: ``engines.sampling.cpu.random``
    discounts: Discounted | None = None  # discounts of regrets after every iteration
    rule: Rule | None = None  # a function in place of regret matching
    name: str = ""  # name without an entry in the registry

    def open(self, game: CompiledGame, execution: Execution) -> MonteCarlo:
        """As ``Algorithm``: any number of threads may run the streams."""
        plain_execution(execution, threads=True)
        return self if execution.threads == 0 else replace(self, workers=execution.threads)

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: an iteration is one walk per player, and streams run in parallel."""
        form, effort = sample_tree(game), EFFORT[type(self.sampler)]
        _, own, opponent, chance = effort
        nodes = sum(nodes_per_walk(form.tree, (*turn, chance)) for turn in ((own, opponent), (opponent, own)))
        deals = form.tree.hands.shape[1] if isinstance(self.sampler, Reached | Public) else 1
        return Cost(effort.numbers * nodes * deals, OVERHEAD + sweep(game) + float(self.streams * sum(form.sequences)))

    def start(self, game: CompiledGame, seed: int = 0) -> SamplingState:
        """As ``Algorithm``: nothing learnt yet; pure strategies are random."""
        form = self._form(game)
        streams = [self._initial(form, seed, stream) for stream in range(self.streams)]
        if self.rule is not None:
            try_own(self.rule, game)
            streams = [self._with_memory(game, form, stream, self.rule) for stream in streams]
        elif self.discounts is not None:
            first, second = form.sequences
            streams = [stream._replace(memory=(np.zeros(2 * first), np.zeros(2 * second))) for stream in streams]
        return SamplingState(tuple(streams), 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> SamplingState:
        """As ``Algorithm``: an infoset's picked action must exist."""
        state = super().restore(game, tensors, seed)
        for player, limit in enumerate(last_moves(self._form(game).tree)):
            for stream in state.streams:
                pick = stream.tables[player].pick
                if len(pick) > 1 and np.any(pick > limit):
                    raise ValueError(f"an infoset of player {player} picks an action that it does not have")
        return state

    def advance(self, game: CompiledGame, state: SamplingState, iterations: int, stop: Stop = never) -> SamplingState:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        if self.recent:
            while (mark := 1 << state.iteration.bit_length()) <= last:  # the next power of two
                state = self._advanced(game, state, mark)
                for stream in state.streams:
                    for marks, table in zip(stream.marks, stream.tables, strict=True):
                        marks[1], marks[0] = marks[0], table.average
        return self._advanced(game, state, last)

    def _advanced(self, game: CompiledGame, state: SamplingState, last: int) -> SamplingState:
        """Advance to iteration ``last`` without setting marks."""
        t = np.arange(state.iteration + 1, last + 1, dtype=np.float64)
        weights = self.weight(t), (self.average_weight or self.weight)(t)
        parts = repeat(game), state.streams, repeat(weights), repeat(state.iteration)
        if self.streams == 1:
            list(map(self._iterate, *parts))
        else:
            with ThreadPoolExecutor(self.workers or self.streams) as pool:
                list(pool.map(self._iterate, *parts))
        return SamplingState(state.streams, last)

    def average(self, game: CompiledGame, state: SamplingState) -> Strategies:
        """Return all streams' averages, summed by reach; if ``recent``, the part since a mark, where there is any."""
        form = sample_tree(game)
        sums: list[Floats] = []
        for player, treeplex in enumerate(game.treeplexes):
            total = form.of_player(player, _sum([stream.tables[player].average for stream in state.streams]))
            if self.recent and treeplex.infosets:
                since = total - form.of_player(player, _sum([stream.marks[player][1] for stream in state.streams]))
                visited = np.add.reduceat(since, treeplex.first[:-1]) > 0.0
                total = np.where(np.concatenate(([True], np.repeat(visited, treeplex.actions))), since, total)
            sums.append(total)
        return normalised(game, (sums[0], sums[1]))

    def current(self, game: CompiledGame, state: SamplingState) -> Strategies:
        """Return the strategies that the first stream plays next."""
        form, tables = sample_tree(game), state.streams[0].tables
        return normalised(game, (self._weights(game, form, 0, tables[0]), self._weights(game, form, 1, tables[1])))

    def report(self, game: CompiledGame, state: SamplingState, iterate: str) -> StrategyReport:
        """As ``Algorithm``; raises if a rule has left anything but probabilities."""
        for stream in state.streams:
            if self.rule is not None:
                first, second = (sample_tree(game).of_player(i, table.regret) for i, table in enumerate(stream.tables))
                check_strategies(self.rule, game, (first, second), state.iteration)
        return super().report(game, state, iterate)

    def nodes_touched(self, game: CompiledGame, state: SamplingState) -> int:
        """Return the histories entered by all streams."""
        return sum(int(stream.nodes[0]) for stream in state.streams)

    def with_rule(self, rule: Rule, name: str) -> MonteCarlo:
        """Return the sampler with a rule that is a function, which learns from sampled values times their weights."""
        if self.pure:
            raise ParameterError(
                f"The 'rule' parameter is not for pure-cfr and pure-mccfr, which have a rule of their own, got"
                f" {quoted(name)}."
            )
        if self.plus or self.discounts or self.sampler in (Chance(MATCH_OR_PICK), External(MATCH_OR_PICK)):
            options = "regret=plus, regret=discounted and fallback=random"
            raise ParameterError(f"Leave out {options}, which belong to regret matching, got {quoted(name)}.")
        return replace(self, rule=rule, name=name)

    def _with_memory(self, game: CompiledGame, form: Sampling, stream: SamplingStream, rule: Rule) -> SamplingStream:
        """Return the stream with uniform strategies and the rule's initial memory."""
        memory: list[Floats] = []
        constants = rule.constants_of(payoff_range(game))
        for player, (treeplex, learnt) in enumerate(zip(game.treeplexes, stream.tables, strict=True)):
            index = form.sequence_index[player]
            learnt.regret[index[1:]] = np.repeat(1.0 / treeplex.actions, treeplex.actions)
            start = index[treeplex.first[:-1]]
            memory.append(initial_memory(rule, start, treeplex.actions, form.sequences[player], constants))
        return stream._replace(memory=tuple(memory))

    def _form(self, game: CompiledGame) -> Sampling:
        return sample_tree(game, self.correlated)

    @property
    def pure(self) -> bool:
        """Whether it plays pure strategies."""
        return isinstance(self.sampler, PureExternal) or (
            isinstance(self.sampler, Reached) and self.sampler.rule == PURE
        )

    def _initial(self, form: Sampling, seed: int, stream: int) -> SamplingStream:
        pick = self.pure or self.sampler in (Chance(MATCH_OR_PICK), External(MATCH_OR_PICK))
        baseline = isinstance(self.sampler, Outcome) and self.sampler.rate > 0.0
        first, second = (table(size, pick=pick, baseline=baseline) for size in form.sequences)
        random = counter(seed, stream, len(form.tree.chances.probability) if self.correlated else 0)
        if pick:
            counts = form.tree.hands.max(axis=1) + 1
            scatter(form.tree, (first, second), (int(counts[0]), int(counts[1])), random)
        marks = [np.zeros((2, size if self.recent else 1)) for size in form.sequences]
        return SamplingStream((first, second), random, np.zeros(2, dtype=np.int64), (marks[0], marks[1]))

    def _iterate(self, game: CompiledGame, stream: SamplingStream, weights: tuple[Floats, Floats], done: int) -> None:
        """Run iterations on one stream, which is modified in place; ``weights``: of regrets, of averages."""
        form, rule = self._form(game), self.rule
        if rule is None:
            self._sample(form, stream, weights, self._logs(form, stream, done, len(weights[0])))
            return
        entry, calls = rule.entry, rule_calls(game, rule)
        first, second = (function_log(*part, done) for part in zip(form.sequences, calls, stream.memory, strict=True))
        self._sample(form, stream, weights, (first, second))
        del entry  # it had to stay alive while its address was in use
        check_calls(rule, calls, done, done + len(weights[0]))

    def _logs(self, form: Sampling, stream: SamplingStream, done: int, count: int) -> tuple[RegretLog, RegretLog]:
        """Return empty logs for ``count`` iterations after the first ``done``."""
        joint = isinstance(self.sampler, Chance | Reached | Public)
        first, second = form.sequences if self.turns == SIMULTANEOUS or joint else (1, 1)
        waits = self.sampler != PureExternal()
        if self.discounts is None:
            return log(first, regrets=waits), log(second, regrets=waits)
        sums = logarithms(self.discounts, done, count)
        one, two = stream.memory
        return discount_log(first, waits, one, sums), discount_log(second, waits, two, sums)

    def _sample(
        self, form: Sampling, stream: SamplingStream, weights: tuple[Floats, Floats], logs: tuple[RegretLog, RegretLog]
    ) -> None:
        tables, random, nodes, _, _ = stream
        every = isinstance(self.sampler, Reached | Public)
        pre_deal = form.pre_deal_nodes if every else form.pre_deal_path
        batch = SamplerArrays(
            form.tree, pre_deal, tables, *weights, self.plus, self.turns, logs, frames(form), random, nodes
        )
        match self.sampler:
            case External(rule):
                external_iterations((*EVERY_MOVE, rule), batch)
            case AverageStrategy(epsilon, tau, beta):
                external_iterations((epsilon, tau, beta, MATCH), batch)
            case Outcome(epsilon, rate):
                outcome_iterations((epsilon, rate), batch)
            case PureExternal(predict):
                pure_iterations((predict,), batch)
            case Drawn():
                drawn_iterations((), batch)
            case Public():
                public_iterations(hand_frames(form), batch)
            case Chance(rule):
                joint_iterations(rule, True, 0.0, batch)
            case Reached(rule, predict):
                joint_iterations(rule, False, predict, batch)

    def _weights(self, game: CompiledGame, form: Sampling, player: int, learnt: LearnerTable) -> Floats:
        """[S] weights of the next strategy: positive regret, or one for the picked action."""
        treeplex, index = game.treeplexes[player], form.sequence_index[player]
        first = treeplex.first
        positive = np.maximum(learnt.regret, 0.0)[index]
        if len(learnt.pick) == 1 and not self.pure:
            return positive
        picked = np.zeros(treeplex.sequences)
        picked[first[:-1] + learnt.pick[index[first[:-1]]]] = 1.0
        if self.pure or not treeplex.infosets:
            return picked
        fallback = np.add.reduceat(positive, first[:-1]) <= 0.0
        return np.where(np.concatenate(([True], np.repeat(fallback, treeplex.actions))), picked, positive)


def _sum(arrays: list[Floats]) -> Floats:
    """Return the sum of arrays of one shape, in order; a single array is returned itself."""
    return sum(arrays[1:], arrays[0])
