"""Monte Carlo CFR: iterations that enter a sample of the tree, with regret matching or with pure strategies.

Weights multiply regrets and averages alike, which is what the bound for weighted averages is about (equation (16) of
Ju et al.). Averages are updated at the opponent's nodes ("stochastically weighted averaging"): there the chance of
coming by is nature's times that of the player whose average it is, so the expected sum is the average by reach.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms.options import FLOORS, averaging, counted, named, number, turn_order
from treeplex.algorithms.protocol import Cost, Execution, Stop, never, plain_execution
from treeplex.algorithms.tabular import OVERHEAD, Strategies, Tabular, sweep
from treeplex.algorithms.traversals import AverageStrategy, Chance, External, Outcome, PureExternal, Reached
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sampling.arrays import MATCH, MATCH_OR_PICK, PURE, Log, Table, frames, log, table
from treeplex.engines.sampling.cpu.external import external_iterations
from treeplex.engines.sampling.cpu.joint import joint_iterations
from treeplex.engines.sampling.cpu.outcome import outcome_iterations
from treeplex.engines.sampling.cpu.pure import pure_iterations, scatter
from treeplex.engines.sampling.cpu.random import Counter
from treeplex.engines.sampling.reference.random import counter
from treeplex.engines.sampling.tree import Longs, Sampling, sampling
from treeplex.engines.sequence.arrays import SIMULTANEOUS
from treeplex.engines.sequence.learners import behaviours
from treeplex.updates.schedules import Schedule

Sampler = External | Outcome | AverageStrategy | Chance | PureExternal | Reached

MOST_STREAMS: Final = 256
STORED_NODES: Final = 10_000_000  # a dealt game without a name that is larger has no history tree to go on with
NUMBERS_PER_NODE: Final = 60.0  # read where a sampler enters a node, in the time of numbers read in order
IDLE: Final = {"uniform": MATCH, "random": MATCH_OR_PICK}


class Stream(NamedTuple):
    """One of several independent runs: what both players have learnt, and where its random numbers stand."""

    tables: tuple[Table, Table]
    counter: Counter
    nodes: Longs  # [2] entered; looked at but not entered


class State(NamedTuple):
    """What the next iteration needs."""

    streams: tuple[Stream, ...]
    iteration: int


@dataclass(frozen=True)
class MonteCarlo(Tabular[State]):
    """CFR over a sample of the tree.

    With several ``streams`` each has tables and random numbers of its own, an iteration is one of each, and the answer
    is the average of all by reach. It depends on the seed and on the number of streams, and on nothing else.
    ``workers``: threads that share the streams; 0: one per stream.
    """

    sampler: Sampler
    weight: Schedule
    turns: int
    floor: bool
    streams: int
    workers: int = 0

    def prepared(self, game: CompiledGame, execution: Execution) -> MonteCarlo:
        """As ``Algorithm``: any number of threads may share the streams."""
        plain_execution(execution, threads=True)
        return self if execution.threads == 0 else replace(self, workers=execution.threads)

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: an iteration enters about as many nodes as the root of the tree's size."""
        sequences = sum(treeplex.sequences for treeplex in game.treeplexes)
        return Cost(NUMBERS_PER_NODE * math.sqrt(sequences) * self.streams, OVERHEAD + sweep(game))

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """Nothing learnt; pure strategies at random."""
        form = sample_tree(game)
        return State(tuple(self._newborn(form, seed, stream) for stream in range(self.streams)), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        weights = self.weight(np.arange(state.iteration + 1, last + 1, dtype=np.float64))
        form = sample_tree(game)
        if self.streams == 1:
            self._iterate(form, state.streams[0], weights)
        else:
            with ThreadPoolExecutor(self.workers or self.streams) as pool:
                list(pool.map(self._iterate, repeat(form), state.streams, repeat(weights)))
        return State(state.streams, last)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """All streams' averages, added up by reach."""
        form = sample_tree(game)
        first, second = (
            form.of_player(player, sum((stream.tables[player].average for stream in state.streams[1:]), start))
            for player, start in enumerate(table.average for table in state.streams[0].tables)
        )
        return behaviours(game, (first, second))

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """What the first stream plays next."""
        form = sample_tree(game)
        first, second = (self._played(game, form, player, state.streams[0].tables[player]) for player in (0, 1))
        return first, second

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Histories entered, by all streams."""
        return sum(int(stream.nodes[0]) for stream in state.streams)

    @property
    def _pure(self) -> bool:
        return isinstance(self.sampler, PureExternal) or self.sampler == Reached(PURE)

    def _newborn(self, form: Sampling, seed: int, stream: int) -> Stream:
        pick = self._pure or self.sampler == Chance(MATCH_OR_PICK)
        baseline = isinstance(self.sampler, Outcome) and self.sampler.rate > 0.0
        first, second = (table(size, pick=pick, baseline=baseline) for size in form.sequences)
        random = counter(seed, stream)
        if pick:
            held = form.tree.hands.max(axis=1) + 1
            scatter(form.tree, (first, second), (int(held[0]), int(held[1])), random)
        return Stream((first, second), random, np.zeros(2, dtype=np.int64))

    def _iterate(self, form: Sampling, stream: Stream, weights: Floats) -> None:
        """Run iterations on one stream, which is modified in place."""
        tables, random, nodes = stream
        tree, opening, stack, at_once = form.tree, form.opening, frames(form), self.turns == SIMULTANEOUS
        match self.sampler:
            case External():
                logs = _logs(form, at_once)
                external_iterations(
                    tree, opening, tables, weights, self.floor, 1.0, 0.0, 0.0, self.turns, logs, stack, random, nodes
                )
            case AverageStrategy(epsilon, tau, beta):
                logs = _logs(form, at_once)
                external_iterations(
                    tree, opening, tables, weights, self.floor, epsilon, tau, beta, self.turns, logs, stack, random,
                    nodes,
                )  # fmt: skip
            case Outcome(explore, rate):
                logs = _logs(form, at_once)
                outcome_iterations(
                    tree, opening, tables, weights, self.floor, explore, rate, self.turns, logs, stack, random, nodes
                )
            case PureExternal() if not at_once:
                pure_iterations(tree, opening, tables, weights, self.floor, stack, random, nodes)
            case Chance() | PureExternal() | Reached():
                rule = PURE if isinstance(self.sampler, PureExternal) else self.sampler.rule
                sampled = not isinstance(self.sampler, Reached)
                opening = form.opening if sampled else form.openings
                logs = _logs(form, True)
                joint_iterations(
                    tree, opening, tables, weights, rule, self.floor, sampled, self.turns, logs, stack, random, nodes
                )

    def _played(self, game: CompiledGame, form: Sampling, player: int, learnt: Table) -> Floats:
        treeplex = game.treeplexes[player]
        first = treeplex.first
        positive = np.maximum(learnt.regret, 0.0)[form.place[player]]
        if len(learnt.pick) > 1 or self._pure:
            picked = np.zeros(treeplex.sequences)
            picked[first[:-1] + learnt.pick[form.place[player][first[:-1]]]] = 1.0
            idle = np.ones(treeplex.infosets, dtype=np.bool_)
            if not self._pure and treeplex.infosets:
                idle = np.add.reduceat(positive, first[:-1]) <= 0.0
            positive = np.where(np.concatenate(([True], np.repeat(idle, treeplex.actions))), picked, positive)
        one = [np.zeros(plex.sequences) for plex in game.treeplexes]
        one[player] = positive
        return behaviours(game, (one[0], one[1]))[player]


def mccfr_external(
    weight: str = "uniform", turns: str = "alternating", floor: str = "none", streams: int = 1
) -> MonteCarlo:
    """External sampling (Lanctot et al. 2009); ``floor="zero"`` forgets negative regret, as CFR+ does."""
    return _assembly(External(), weight, turns, floor, streams)


def mccfr_outcome(
    explore: float = 0.6,
    baseline: float = 0.5,
    weight: str = "uniform",
    turns: str = "alternating",
    floor: str = "none",
    streams: int = 1,
) -> MonteCarlo:
    """Outcome sampling (Lanctot et al. 2009) with learned baselines (Schmid et al. 2019); ``baseline=0``: without.

    Differs from the papers in: averages are updated at the opponent's nodes, weighted by one over the explorer's part
    of the probability of the path, which stays unbiased where the opponent plays some actions with probability zero.
    """
    sampler = Outcome(number("explore", explore, 1e-6, 1.0), number("baseline", baseline, 0.0, 1.0))
    return _assembly(sampler, weight, turns, floor, streams)


def mccfr_average(
    epsilon: float = 0.05,
    tau: float = 1000.0,
    beta: float = 1e6,
    weight: str = "uniform",
    turns: str = "alternating",
    floor: str = "none",
    streams: int = 1,
) -> MonteCarlo:
    """Average-strategy sampling (Gibson et al. 2012) with the paper's parameters."""
    sampler = AverageStrategy(
        number("epsilon", epsilon, 1e-6, 1.0), number("tau", tau, 0.0, 1e12), number("beta", beta, 0.0, 1e12)
    )
    return _assembly(sampler, weight, turns, floor, streams)


def mccfr_chance(
    weight: str = "uniform",
    turns: str = "alternating",
    floor: str = "none",
    idle: str = "uniform",
    streams: int = 1,
) -> MonteCarlo:
    """Chance sampling (Zinkevich et al. 2007): nature's moves alone are sampled.

    ``idle``: what is played without positive regret; "random", a pure strategy by chance, is what Ju et al. do.
    """
    return _assembly(Chance(named("idle", idle, IDLE)), weight, turns, floor, streams)


def pure_cfr(weight: str = "log", turns: str = "alternating", floor: str = "none", streams: int = 1) -> MonteCarlo:
    """Pure CFR (Ju et al. 2023, equations (20) and (21)): sums of values instead of regrets, and the best action.

    Differs from the paper in: players take turns unless ``turns="simultaneous"``; values are weighted as the averages
    are, which with ``weight="uniform"`` is equation (20).
    """
    return _assembly(Reached(PURE), weight, turns, floor, streams)


def pure_mccfr(weight: str = "log", turns: str = "alternating", floor: str = "none", streams: int = 1) -> MonteCarlo:
    """Pure MCCFR (Ju et al. 2023): external sampling with pure strategies and log weights.

    Differs from the paper as ``pure_cfr``. With ``turns="simultaneous"`` both learn from one walk.
    """
    return _assembly(PureExternal(), weight, turns, floor, streams)


def _assembly(sampler: Sampler, weight: str, turns: str, floor: str, streams: int) -> MonteCarlo:
    return MonteCarlo(
        sampler,
        averaging(weight),
        turn_order(turns),
        named("floor", floor, FLOORS),
        counted("streams", streams, MOST_STREAMS),
    )


_FORMS: WeakKeyDictionary[CompiledGame, Sampling] = WeakKeyDictionary()


def sample_tree(game: CompiledGame) -> Sampling:
    """The sample tree of a game, made when first asked for and kept beside it.

    From the public tree of a game that can be loaded again by its name. A run of any other game is resumed from the
    game in its folder, which has no public tree, so such a game is sampled by its histories while these fit.
    """
    if game not in _FORMS:
        stored = game.source is None and game.nodes <= STORED_NODES
        _FORMS[game] = sampling(replace(game, dealt=None) if stored else game)
    return _FORMS[game]


def _logs(form: Sampling, needed: bool) -> tuple[Log, Log]:
    first, second = form.sequences if needed else (1, 1)
    return log(first), log(second)
