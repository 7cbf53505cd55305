"""Monte Carlo CFR: iterations that enter a sample of the tree, with regret matching or with pure strategies.

Weights multiply regrets and averages alike, which is what the bound for weighted averages is about (equation (16) of
Ju et al.), unless averages have weights of their own. Averages are updated at the opponent's nodes ("stochastically
weighted averaging"): there the chance of coming by is chance's times that of the player whose average it is, so the
expected sum is the average by reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import ClassVar, Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import RECENT, averaging, counted, named, number, separate, turn_order
from treeplex.algorithms.protocol import Array, Cost, Execution, Stop, StrategyReport, never, plain_execution
from treeplex.algorithms.tabular import OVERHEAD, Strategies, Tabular, sweep
from treeplex.algorithms.traversals import (
    EFFORT,
    AverageStrategy,
    Chance,
    External,
    Outcome,
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
    frames,
    function_log,
    log,
    table,
)
from treeplex.engines.sampling.cpu.external import external_iterations
from treeplex.engines.sampling.cpu.joint import joint_iterations
from treeplex.engines.sampling.cpu.outcome import outcome_iterations
from treeplex.engines.sampling.cpu.pure import pure_iterations, scatter
from treeplex.engines.sampling.cpu.random import Counter
from treeplex.engines.sampling.reference.random import counter
from treeplex.engines.sampling.tree import Longs, Sampling, last_moves, nodes_per_walk, sample_tree
from treeplex.engines.sequence.learners import normalised
from treeplex.engines.sequence.rules import check_calls, check_strategies, initial_memory, payoff_range, rule_calls
from treeplex.errors import ParameterError, quoted
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule
from treeplex.updates.turns import SIMULTANEOUS

MOST_STREAMS: Final = 256
EVERY_MOVE: Final = (1.0, 0.0, 0.0)  # average-strategy sampling that tries all: external sampling
FALLBACKS: Final = {"uniform": MATCH, "random": MATCH_OR_PICK}
REGRETS: Final = {"plain": False, "plus": True}
CHANCES: Final = {"independent": False, "correlated": True}


class SamplingStream(NamedTuple):
    """One of several independent runs: what both players have learnt, and where its random numbers stand."""

    tables: tuple[LearnerTable, LearnerTable]
    counter: Counter
    nodes: Longs  # [2] entered; looked at but not entered
    marks: tuple[Floats, Floats]  # [2, S] averages at the last powers of two, m and m / 2; [2, 1] if none are needed
    memory: tuple[Floats, ...] = ()  # [rows * S] of both players, of a rule that is a function


class SamplingState(NamedTuple):
    """What the next iteration needs."""

    streams: tuple[SamplingStream, ...]
    iteration: int


@dataclass(frozen=True)
class MonteCarlo(Tabular[SamplingState]):
    """CFR over a sample of the tree.

    With several ``streams`` each has tables and random numbers of its own, an iteration is one of each, and the answer
    is the average of all by reach. It depends on the seed and on the number of streams, and on nothing else.
    ``workers``: threads that share the streams; 0: one per stream.
    """

    random: ClassVar[bool] = True

    sampler: Sampler
    weight: Schedule
    turns: int
    plus: bool  # regret matching+: negative regret is forgotten
    streams: int
    workers: int = 0
    average_weight: Schedule | None = None  # of averages, if it is not that of regrets
    recent: bool = False  # the answer is the average since the last power of two in the first half of the run
    correlated: bool = False  # chance draws of a node are evenly spread: ``engines.sampling.cpu.random``
    rule: Rule | None = None  # a function in place of regret matching
    name: str = ""  # where it has none in the registry

    def open(self, game: CompiledGame, execution: Execution) -> MonteCarlo:
        """As ``Algorithm``: any number of threads may share the streams."""
        plain_execution(execution, threads=True)
        return self if execution.threads == 0 else replace(self, workers=execution.threads)

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: an iteration is a walk for each player, and streams run side by side."""
        form, effort = sample_tree(game), EFFORT[type(self.sampler)]
        _, own, opponent, chance = effort
        nodes = sum(nodes_per_walk(form.tree, (*turn, chance)) for turn in ((own, opponent), (opponent, own)))
        deals = form.tree.hands.shape[1] if isinstance(self.sampler, Reached) else 1
        return Cost(effort.numbers * nodes * deals, OVERHEAD + sweep(game) + float(self.streams * sum(form.sequences)))

    def start(self, game: CompiledGame, seed: int = 0) -> SamplingState:
        """Nothing learnt; pure strategies at random."""
        form = self._form(game)
        streams = [self._initial(form, seed, stream) for stream in range(self.streams)]
        if self.rule is not None:
            try_own(self.rule, game)
            streams = [self._with_memory(game, form, stream, self.rule) for stream in streams]
        return SamplingState(tuple(streams), 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> SamplingState:
        """As ``Algorithm``: an infoset picks one of its actions."""
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
        """After iteration ``last``, without marks on the way."""
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
        """All streams' averages, added up by reach; if ``recent``, what was added since a mark, where anything was."""
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
        """What the first stream plays next."""
        form, tables = sample_tree(game), state.streams[0].tables
        return normalised(game, (self._weights(game, form, 0, tables[0]), self._weights(game, form, 1, tables[1])))

    def report(self, game: CompiledGame, state: SamplingState, iterate: str) -> StrategyReport:
        """As ``Algorithm``; rejects a rule that has left anything but probabilities."""
        for stream in state.streams:
            if self.rule is not None:
                first, second = (sample_tree(game).of_player(i, table.regret) for i, table in enumerate(stream.tables))
                check_strategies(self.rule, game, (first, second), state.iteration)
        return super().report(game, state, iterate)

    def nodes_touched(self, game: CompiledGame, state: SamplingState) -> int:
        """Histories entered, by all streams."""
        return sum(int(stream.nodes[0]) for stream in state.streams)

    def with_rule(self, rule: Rule, name: str) -> MonteCarlo:
        """The same sampler with a rule that is a function; it learns from sampled values, times their weights."""
        if self._pure:
            raise ParameterError(f"pure-cfr and pure-mccfr have a rule of their own, got {quoted(name)}.")
        if self.plus or self.sampler in (Chance(MATCH_OR_PICK), External(MATCH_OR_PICK)):
            options = "regret=plus and fallback=random"
            raise ParameterError(f"Leave {options} out, which are of regret matching, got {quoted(name)}.")
        return replace(self, rule=rule, name=name)

    def _with_memory(self, game: CompiledGame, form: Sampling, stream: SamplingStream, rule: Rule) -> SamplingStream:
        """Uniform strategies, and the rule's memory."""
        memory: list[Floats] = []
        constants = rule.constants_of(payoff_range(game))
        for player, (treeplex, learnt) in enumerate(zip(game.treeplexes, stream.tables, strict=True)):
            place = form.sequence_index[player]
            learnt.regret[place[1:]] = np.repeat(1.0 / treeplex.actions, treeplex.actions)
            start = place[treeplex.first[:-1]]
            memory.append(initial_memory(rule, start, treeplex.actions, form.sequences[player], constants))
        return stream._replace(memory=tuple(memory))

    def _form(self, game: CompiledGame) -> Sampling:
        return sample_tree(game, self.correlated)

    @property
    def _pure(self) -> bool:
        return isinstance(self.sampler, PureExternal) or self.sampler == Reached(PURE)

    def _initial(self, form: Sampling, seed: int, stream: int) -> SamplingStream:
        pick = self._pure or self.sampler in (Chance(MATCH_OR_PICK), External(MATCH_OR_PICK))
        baseline = isinstance(self.sampler, Outcome) and self.sampler.rate > 0.0
        first, second = (table(size, pick=pick, baseline=baseline) for size in form.sequences)
        random = counter(seed, stream, len(form.tree.chances.probability) if self.correlated else 0)
        if pick:
            held = form.tree.hands.max(axis=1) + 1
            scatter(form.tree, (first, second), (int(held[0]), int(held[1])), random)
        marks = [np.zeros((2, size if self.recent else 1)) for size in form.sequences]
        return SamplingStream((first, second), random, np.zeros(2, dtype=np.int64), (marks[0], marks[1]))

    def _iterate(self, game: CompiledGame, stream: SamplingStream, weights: tuple[Floats, Floats], done: int) -> None:
        """Run iterations on one stream, which is modified in place; ``weights``: of regrets, of averages."""
        form, rule = self._form(game), self.rule
        if rule is None:
            joint = isinstance(self.sampler, Chance | Reached)
            first, second = form.sequences if self.turns == SIMULTANEOUS or joint else (1, 1)
            waits = not isinstance(self.sampler, PureExternal)
            self._sample(form, stream, weights, (log(first, regrets=waits), log(second, regrets=waits)))
            return
        entry, calls = rule.entry, rule_calls(game, rule)
        first, second = (function_log(*part, done) for part in zip(form.sequences, calls, stream.memory, strict=True))
        self._sample(form, stream, weights, (first, second))
        del entry  # which was to be kept while its address is in use
        check_calls(rule, calls, done, done + len(weights[0]))

    def _sample(
        self, form: Sampling, stream: SamplingStream, weights: tuple[Floats, Floats], logs: tuple[RegretLog, RegretLog]
    ) -> None:
        tables, random, nodes, _, _ = stream
        every = isinstance(self.sampler, Reached)
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
            case PureExternal():
                pure_iterations((), batch)
            case Chance(rule) | Reached(rule):
                joint_iterations(rule, not every, batch)

    def _weights(self, game: CompiledGame, form: Sampling, player: int, learnt: LearnerTable) -> Floats:
        """[S] what the next strategy is in proportion to: positive regret, or one for the action that is picked."""
        treeplex, place = game.treeplexes[player], form.sequence_index[player]
        first = treeplex.first
        positive = np.maximum(learnt.regret, 0.0)[place]
        if len(learnt.pick) == 1 and not self._pure:
            return positive
        picked = np.zeros(treeplex.sequences)
        picked[first[:-1] + learnt.pick[place[first[:-1]]]] = 1.0
        if self._pure or not treeplex.infosets:
            return picked
        fallback = np.add.reduceat(positive, first[:-1]) <= 0.0
        return np.where(np.concatenate(([True], np.repeat(fallback, treeplex.actions))), picked, positive)


def mccfr_external(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    fallback: str = "uniform",
    chance: str = "independent",
) -> MonteCarlo:
    """External sampling (Lanctot et al. 2009); ``regret="plus"`` is regret matching+, as in CFR+.

    ``weight``: of iterations in regrets, and in the averages unless ``average`` names another weight; "recent" is the
    plain average since the last power of two in the first half of the run, where an infoset was visited since.
    ``fallback``: what is played without positive regret; "random", a random pure strategy, is what Ju et al. do.
    ``chance``: "correlated" draws are evenly spread at every chance node, u_k = frac(phi + k (sqrt(5) - 1) / 2) through
    its distribution, with a random phi (arXiv:2607.27035).
    """
    return _assembly(External(named("fallback", fallback, FALLBACKS)), weight, average, turns, regret, streams, chance)


def mccfr_outcome(
    epsilon: float = 0.6,
    baseline: float = 0.5,
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Outcome sampling (Lanctot et al. 2009) with learned baselines (Schmid et al. 2019); ``baseline=0``: without.

    Differs from the papers in: averages are updated at the opponent's nodes, weighted by one over the exploring
    player's part of the probability of the path, which stays unbiased where the opponent plays some actions with
    probability zero. ``chance``: as in ``mccfr_external``.
    """
    sampler = Outcome(number("epsilon", epsilon, 1e-6, 1.0), number("baseline", baseline, 0.0, 1.0))
    return _assembly(sampler, weight, average, turns, regret, streams, chance)


def mccfr_average(
    epsilon: float = 0.05,
    tau: float = 1000.0,
    beta: float = 1e6,
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Average-strategy sampling (Gibson et al. 2012) with the paper's parameters; ``chance``: as ``mccfr_external``."""
    sampler = AverageStrategy(
        number("epsilon", epsilon, 1e-6, 1.0), number("tau", tau, 0.0, 1e12), number("beta", beta, 1e-6, 1e12)
    )
    return _assembly(sampler, weight, average, turns, regret, streams, chance)


def mccfr_chance(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    fallback: str = "uniform",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Chance sampling (Zinkevich et al. 2007): of chance moves alone; ``fallback``, ``chance``: ``mccfr_external``."""
    return _assembly(Chance(named("fallback", fallback, FALLBACKS)), weight, average, turns, regret, streams, chance)


def pure_cfr(
    weight: str = "log", turns: str = "alternating", regret: str = "plain", streams: int = 1, average: str = "same"
) -> MonteCarlo:
    """Pure CFR (Ju et al. 2023, equations (20) and (21)): sums of values instead of regrets, and the best action.

    Differs from the paper in: players take turns unless ``turns="simultaneous"``; values are weighted as the averages
    are, which with ``weight="uniform"`` is equation (20).
    """
    return _assembly(Reached(PURE), weight, average, turns, regret, streams)


def pure_mccfr(
    weight: str = "square",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "recent",
    chance: str = "independent",
) -> MonteCarlo:
    """Pure MCCFR (Ju et al. 2023): external sampling with pure strategies.

    Differs from the paper as ``pure_cfr``, and in the defaults of ``weight`` and ``average``: the paper's are "log" and
    "same", with which a long beginning stays in values and average (``benchmarks/pure_weights.py``). With
    ``turns="simultaneous"`` both learn from one walk. ``chance``: as in ``mccfr_external``.
    """
    return _assembly(PureExternal(), weight, average, turns, regret, streams, chance)


def _assembly(
    sampler: Sampler,
    weight: str,
    average: str,
    turns: str,
    regret: str,
    streams: int,
    chance: str = "independent",
) -> MonteCarlo:
    return MonteCarlo(
        sampler,
        averaging(weight),
        turn_order(turns),
        named("regret", regret, REGRETS),
        counted("streams", streams, MOST_STREAMS),
        average_weight=separate(average),
        recent=average == RECENT,
        correlated=named("chance", chance, CHANCES),
    )


def _sum(arrays: list[Floats]) -> Floats:
    """Of arrays of one shape, in order; the array itself if there is one."""
    return sum(arrays[1:], arrays[0])


LANCTOT: Final = "Lanctot et al. 2009"
JU: Final = "Ju et al. 2023, Pure MCCFR"

ROWS: Final = (
    ("mccfr-external", mccfr_external, "Monte Carlo CFR, external sampling", LANCTOT),
    (
        "mccfr-outcome",
        mccfr_outcome,
        "Monte Carlo CFR, outcome sampling with baselines",
        f"{LANCTOT}; Schmid et al. 2019",
    ),
    ("mccfr-average", mccfr_average, "Monte Carlo CFR, average-strategy sampling", "Gibson et al. 2012"),
    ("mccfr-chance", mccfr_chance, "Monte Carlo CFR, chance sampling", "Zinkevich et al. 2007"),
    ("pure-cfr", pure_cfr, "CFR with pure strategies", JU),
    ("pure-mccfr", pure_mccfr, "Monte Carlo CFR with pure strategies", JU),
)
"""Name, builder, summary and source of each algorithm of this module, for the registry."""
