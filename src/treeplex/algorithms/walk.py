"""CFR by walks over the history tree, entering as little of it as a traversal allows.

A suffix says which nodes are visited and changes nothing else: players take turns as in ``cfr`` and ``cfr+``. The paper
updates both at once, which is ``turns="simultaneous"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.algorithms.options import number, turn_order
from treeplex.algorithms.protocol import Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.algorithms.traversals import BOUNDS, Bound, Traversal, full, partial, regret_based, zero_reach_response
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.arrays import BEHAVIOUR, SUM, Open, Pruner, Rule, Scratch, open_sequences, scratch
from treeplex.engines.history.cpu.prune import complete_sums, pruned_iterations
from treeplex.engines.history.cpu.walk import Ground
from treeplex.engines.history.paths import Paths, Side, paths
from treeplex.engines.sequence.learners import normalised, uniform_strategies
from treeplex.errors import ParameterError
from treeplex.updates.schedules import Schedule, linear, uniform
from treeplex.updates.turns import SIMULTANEOUS


class State(NamedTuple):
    """What the next iteration needs."""

    pruners: tuple[Pruner, Pruner]
    iteration: int
    nodes: int  # touched so far


@dataclass(frozen=True)
class WalkCFR(Tabular[State]):
    """CFR over the history tree; ``plus``: with regrets that forget being negative (CFR+, section 4.2 of the paper)."""

    plus: bool
    weight: Schedule
    traversal: Traversal
    turns: int

    @property
    def pruning(self) -> bool:
        """By regret?"""
        return self.traversal.threshold >= 0.0

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies, nothing pruned."""
        first, second = uniform_strategies(game)[0]
        return State((self._newborn(game, 0, first), self._newborn(game, 1, second)), 0, 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        weight = self.weight(np.arange(state.iteration + 1, last + 1, dtype=np.float64))
        ways, traversal = game_paths(game), self.traversal
        touched = pruned_iterations(
            ways.tree,
            game.treeplexes,
            (bounded(ways.sides[0], traversal.bound), bounded(ways.sides[1], traversal.bound)),
            game.payoffs,
            state.pruners,
            (_open(game, state, 0), _open(game, state, 1)),
            (_scratch(game, 0), _scratch(game, 1)),
            ground(ways),
            state.iteration,
            weight,
            Rule(self.plus, traversal.partial, traversal.respond, traversal.threshold),
            self.turns,
        )
        return State(state.pruners, last, state.nodes + touched)

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return normalised(game, (_sums(game, state, 0), _sums(game, state, 1)))

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        return state.pruners[0].behaviour.copy(), state.pruners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Counted as they are entered; a best response counts all nodes below its sequence."""
        return state.nodes

    def _newborn(self, game: CompiledGame, player: int, behaviour: Floats) -> Pruner:
        """One sum of strategies serves as average and as what the opponent met, if both are the plain one."""
        infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
        apart = self.turns != SIMULTANEOUS or self.weight != uniform()
        columns, tallies = ((6, 5) if apart else (5, 4)) if self.pruning else (4, 2)
        cells = np.zeros((sequences, columns))
        cells[:, BEHAVIOUR] = behaviour
        if not self.pruning:
            infosets_pruned, sequences_pruned = 0, 0
        else:
            infosets_pruned, sequences_pruned = infosets, sequences
        return Pruner(
            cells=cells,
            tallies=np.zeros((infosets, tallies)),
            pruned=np.zeros(sequences, dtype=np.int8),
            begun=np.zeros(sequences_pruned),
            stored=np.zeros(sequences_pruned),
            frozen=np.zeros(infosets_pruned, dtype=np.int8),
        )


def cfr_full(turns: str = "alternating") -> WalkCFR:
    """CFR by walks that enter every history: what pruning is measured against."""
    return WalkCFR(False, uniform(), full(), turn_order(turns))


def cfr_plus_full(turns: str = "alternating") -> WalkCFR:
    """CFR+ by walks that enter every history."""
    return WalkCFR(True, linear(), full(), turn_order(turns))


def cfr_partial(turns: str = "alternating") -> WalkCFR:
    """CFR with partial pruning: the same iterates as CFR, fewer nodes."""
    return WalkCFR(False, uniform(), partial(), turn_order(turns))


def cfr_plus_partial(turns: str = "alternating") -> WalkCFR:
    """CFR+ with partial pruning: the same strategies as CFR+, fewer nodes."""
    return WalkCFR(True, linear(), partial(), turn_order(turns))


def cfr_zero_reach_br(turns: str = "alternating") -> WalkCFR:
    """CFR with best responses in zero-reach sequences (Brown & Sandholm 2015, section 3)."""
    return WalkCFR(False, uniform(), zero_reach_response(), turn_order(turns))


def cfr_plus_zero_reach_br(turns: str = "alternating") -> WalkCFR:
    """CFR+ with best responses in zero-reach sequences, regrets as in section 4.2."""
    return WalkCFR(True, linear(), zero_reach_response(), turn_order(turns))


def cfr_rbp(threshold: float = 25.0, bound: str = "payoff", turns: str = "alternating") -> WalkCFR:
    """CFR with regret-based pruning (Brown & Sandholm 2015, section 4)."""
    return WalkCFR(False, uniform(), regret_pruning(threshold, bound), turn_order(turns))


def cfr_plus_rbp(threshold: float = 25.0, bound: str = "payoff", turns: str = "alternating") -> WalkCFR:
    """CFR+ with regret-based pruning (Brown & Sandholm 2015, section 4.2)."""
    return WalkCFR(True, linear(), regret_pruning(threshold, bound), turn_order(turns))


def regret_pruning(threshold: float, bound: str) -> Traversal:
    """Regret-based pruning with parameters that are checked."""
    for known in BOUNDS:
        if bound == known:
            return regret_based(number("threshold", threshold, 0.0), known)
    raise ParameterError(f"The 'bound' parameter must be one of {', '.join(BOUNDS)}, got {bound!r}.")


_PATHS: WeakKeyDictionary[CompiledGame, Paths] = WeakKeyDictionary()


def game_paths(game: CompiledGame) -> Paths:
    """What walks need of a game, made once."""
    if game not in _PATHS:
        _PATHS[game] = paths(game)
    return _PATHS[game]


def bounded(side: Side, bound: Bound) -> Side:
    """With the bound asked for as U(I, a)."""
    return side if bound == "payoff" else side._replace(best=side.wished)


def _sums(game: CompiledGame, state: State, player: int) -> Floats:
    """Of copies: reading must not change what the next iterations compute."""
    cells, tallies = state.pruners[player].cells.copy(), state.pruners[player].tallies.copy()
    complete_sums(game.treeplexes[player], cells, tallies)
    return np.ascontiguousarray(cells[:, SUM])


def _open(game: CompiledGame, state: State, player: int) -> Open:
    return open_sequences(game.treeplexes[player].first, state.pruners[player].pruned)


def _scratch(game: CompiledGame, player: int) -> Scratch:
    return scratch(game.treeplexes[player].infosets, game.treeplexes[player].sequences)


def ground(ways: Paths) -> Ground:
    """Scratch of a walk."""
    inner = max(ways.tree.inner, 1)
    node, last0, last1 = (np.empty(inner, dtype=np.int32) for _ in range(3))
    return Ground(node, np.empty(inner), np.empty(inner), last0, last1)
