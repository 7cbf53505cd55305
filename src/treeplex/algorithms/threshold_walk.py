"""CFR by walks with dynamic thresholding: Hedge or regret matching, partial and regret-based pruning.

Players take turns as in ``hedge`` and ``cfr``; the paper updates both at once, which is ``turns="simultaneous"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.hedge import hedge_rate, log_actions, payoff_ranges
from treeplex.algorithms.options import number, turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.algorithms.traversals import Bound
from treeplex.algorithms.walk import bounded, game_paths, ground, regret_pruning
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.arrays import BEHAVIOUR, SEEN, SUM, Odds, Pruner, open_sequences, scratch
from treeplex.engines.history.cpu.prune import complete_sums
from treeplex.engines.history.cpu.threshold_walk import thresholded_iterations
from treeplex.engines.sequence.learners import normalised, uniform_strategies
from treeplex.updates.hedge import MATCHING
from treeplex.updates.schedules import Schedule, uniform
from treeplex.updates.thresholds import hedge_threshold, matching_threshold
from treeplex.updates.turns import SIMULTANEOUS

NEVER: Final = -1.0


class State(NamedTuple):
    """What the next iteration needs."""

    pruners: tuple[Pruner, Pruner]
    iteration: int
    nodes: int  # touched so far


@dataclass(frozen=True)
class ThresholdedWalk(Tabular[State]):
    """CFR over the history tree with dynamic thresholding (Brown, Kroer & Sandholm 2017).

    ``kind``: Hedge by one of its rates, or regret matching. ``patience``: prune also by regret where that promises to
    skip more iterations than this.
    """

    kind: int
    weight: Schedule
    turns: int
    d: float
    partial: bool = True
    patience: float = NEVER
    bound: Bound = "payoff"

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies, nothing pruned."""
        first, second = uniform_strategies(game)[0]
        return State((self._newborn(game, 0, first), self._newborn(game, 1, second)), 0, 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        ways = game_paths(game)
        first, second = game.treeplexes
        touched = thresholded_iterations(
            ways.tree,
            game.treeplexes,
            (bounded(ways.sides[0], self.bound), bounded(ways.sides[1], self.bound)),
            game.payoffs,
            state.pruners,
            (
                open_sequences(first.first, state.pruners[0].pruned),
                open_sequences(second.first, state.pruners[1].pruned),
            ),
            (scratch(first.infosets, first.sequences), scratch(second.infosets, second.sequences)),
            ground(ways),
            self.odds(game),
            state.iteration,
            self.weight(np.arange(state.iteration + 1, last + 1, dtype=np.float64)),
            self.partial,
            self.turns,
        )
        return State(state.pruners, last, state.nodes + touched)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, (self._sums(game, state, 0), self._sums(game, state, 1)))

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return state.pruners[0].behaviour.copy(), state.pruners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Counted as they are entered; a best response counts all nodes below its sequence."""
        return state.nodes

    def _newborn(self, game: CompiledGame, player: int, behaviour: Floats) -> Pruner:
        infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
        pruning = self.patience >= 0.0
        apart = pruning and (self.turns != SIMULTANEOUS or self.weight != uniform())
        cells = np.zeros((sequences, 6 if apart else 5))
        cells[:, BEHAVIOUR] = behaviour
        return Pruner(
            cells=cells,
            tallies=np.zeros((infosets, SEEN + 1)),
            pruned=np.zeros(sequences, dtype=np.int8),
            begun=np.zeros(sequences if pruning else 0),
            stored=np.zeros(sequences if pruning else 0),
            frozen=np.zeros(infosets if pruning else 0, dtype=np.int8),
        )

    def odds(self, game: CompiledGame) -> tuple[Odds, Odds]:
        """What the kernels are told about both players."""
        threshold = matching_threshold if self.kind == MATCHING else hedge_threshold
        first, second = (
            Odds(logs, width, threshold(treeplex.actions, self.d), self.kind, self.patience)
            for logs, width, treeplex in zip(
                log_actions(game), payoff_ranges(game, self.kind), game.treeplexes, strict=True
            )
        )
        return first, second

    def _sums(self, game: CompiledGame, state: State, player: int) -> Floats:
        """Of copies: reading must not change what the next iterations compute."""
        cells, tallies = state.pruners[player].cells.copy(), state.pruners[player].tallies.copy()
        complete_sums(game.treeplexes[player], cells, tallies)
        return np.ascontiguousarray(cells[:, SUM])


def hedge_dt(d: float = 1.0, rate: str = "variance", turns: str = "alternating") -> ThresholdedWalk:
    """CFR with Hedge and dynamic thresholding, by walks that skip what the opponent does not reach."""
    return ThresholdedWalk(hedge_rate(rate), uniform(), turn_order(turns), _d(d))


def hedge_dt_rbp(
    d: float = 1.0,
    threshold: float = 25.0,
    bound: str = "payoff",
    rate: str = "variance",
    turns: str = "alternating",
) -> ThresholdedWalk:
    """The same with regret-based pruning, condition (11)."""
    pruning = regret_pruning(threshold, bound)
    return ThresholdedWalk(
        hedge_rate(rate), uniform(), turn_order(turns), _d(d, 1e-9), patience=pruning.threshold, bound=pruning.bound
    )


def rm_dt(d: float = 1.0, turns: str = "alternating") -> ThresholdedWalk:
    """CFR with regret matching and dynamic thresholding, by the same walks (Theorem 2)."""
    return ThresholdedWalk(MATCHING, uniform(), turn_order(turns), _d(d))


def _d(value: object, low: float = 0.0) -> float:
    return number("d", value, low, 1e3)
