"""CFR by walks over the history tree, entering as little of it as a traversal allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treeplex.compiled.game import CompiledGame
from treeplex.compiled.paths import Paths, paths
from treeplex.kernels.cpu.prune import Pruner, Yard, pruned_iterations
from treeplex.kernels.cpu.walk import Ground, Trail
from treeplex.schedules import Schedule, linear, uniform
from treeplex.solvers.algorithm import Behaviour
from treeplex.solvers.learners import behaviours, newborns
from treeplex.solvers.options import number, turn_order
from treeplex.traversals import Partial, RegretBased, Traversal


class State(NamedTuple):
    """What the next iteration needs."""

    pruners: tuple[Pruner, Pruner]
    iteration: int
    nodes: int  # touched so far


@dataclass(frozen=True)
class WalkCFR:
    """CFR over the history tree; ``plus``: with regrets that forget being negative (CFR+, section 4.2 of the paper)."""

    plus: bool
    weight: Schedule
    traversal: Traversal
    turns: int

    def start(self, game: CompiledGame) -> State:
        """No regret yet, uniform strategies, nothing pruned."""
        first, second = newborns(game)
        return State((_newborn(game, 0, first.behaviour), _newborn(game, 1, second.behaviour)), 0, 0)

    def advance(self, game: CompiledGame, state: State, iterations: int) -> State:
        """As ``Algorithm``."""
        last = state.iteration + iterations
        weight = self.weight(np.arange(state.iteration + 1, last + 1, dtype=np.float64))
        ways = _paths(game)
        touched = pruned_iterations(
            game.tree,
            ways.sequence,
            game.treeplexes,
            ways.sides,
            game.payoffs,
            state.pruners,
            (_trail(game, 0), _trail(game, 1)),
            _ground(game),
            (_yard(game, 0), _yard(game, 1)),
            state.iteration,
            weight,
            self.plus,
            self.traversal.partial,
            self.traversal.threshold,
            self.turns,
        )
        return State(state.pruners, last, state.nodes + touched)

    def average(self, game: CompiledGame, state: State) -> Behaviour:
        """As ``Algorithm``."""
        return behaviours(game, (state.pruners[0].average, state.pruners[1].average))

    def current(self, game: CompiledGame, state: State) -> Behaviour:
        """As ``Algorithm``."""
        return state.pruners[0].behaviour.copy(), state.pruners[1].behaviour.copy()

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """Counted as they are entered; a best response counts all nodes below its sequence."""
        return state.nodes


def cfr_partial(turns: str = "simultaneous") -> WalkCFR:
    """CFR with partial pruning: the same iterates as CFR, fewer nodes."""
    return WalkCFR(False, uniform(), Partial(), turn_order(turns))


def cfr_plus_partial(turns: str = "simultaneous") -> WalkCFR:
    """CFR+ with partial pruning: the same strategies as CFR+, fewer nodes."""
    return WalkCFR(True, linear(), Partial(), turn_order(turns))


def cfr_rbp(threshold: float = 25.0, turns: str = "simultaneous") -> WalkCFR:
    """CFR with regret-based pruning (Brown & Sandholm 2015, section 4)."""
    return WalkCFR(False, uniform(), RegretBased(threshold=number("threshold", threshold)), turn_order(turns))


_PATHS: WeakKeyDictionary[CompiledGame, Paths] = WeakKeyDictionary()


def _paths(game: CompiledGame) -> Paths:
    if game not in _PATHS:
        _PATHS[game] = paths(game)
    return _PATHS[game]


def _newborn(game: CompiledGame, player: int, behaviour: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Pruner:
    infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
    return Pruner(
        regret=np.zeros(sequences),
        average=np.zeros(sequences),
        behaviour=behaviour,
        played=np.zeros(sequences),
        pruned=np.zeros(sequences, dtype=np.int8),
        bound=np.zeros(sequences),
        spent=np.zeros(sequences),
        stored=np.zeros(sequences),
        frozen=np.zeros(infosets, dtype=np.int8),
        worth=np.zeros(infosets),
        mass=np.zeros(infosets),
    )


def _trail(game: CompiledGame, player: int) -> Trail:
    infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
    return Trail(np.zeros(sequences), np.zeros(infosets), np.zeros(infosets), np.empty(infosets, dtype=np.int32))


def _yard(game: CompiledGame, player: int) -> Yard:
    infosets = game.treeplexes[player].infosets
    first, second, third = (np.empty(infosets, dtype=np.int32) for _ in range(3))
    return Yard(np.zeros(game.treeplexes[player].sequences), first, second, third)


def _ground(game: CompiledGame) -> Ground:
    nodes = game.tree.nodes
    return Ground(
        np.empty(nodes, dtype=np.int32), np.empty((2, nodes)), np.empty(nodes), np.zeros(nodes, dtype=np.int8)
    )
