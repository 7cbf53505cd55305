"""Lazy-CFR: infosets that the opponent hardly reaches update rarely (Zhou et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import named, number, turn_order
from treeplex.algorithms.protocol import Array, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Ints, Longs
from treeplex.compile.game import CompiledGame
from treeplex.engines.history.cpu.lazy import LazySide, LazyTables, lazy_iterations, pass_all
from treeplex.engines.history.paths import paths
from treeplex.engines.sequence.learners import normalised, numbered, uniform_strategies
from treeplex.tensors import checked
from treeplex.updates.schedules import Schedule, linear, uniform

MOST_LIKELY: Final = 1.0 + 1e-9  # largest probability, with rounding


class LazyState(NamedTuple):
    """Masses that wait, regrets and strategies of both players, and counts of work."""

    tables: tuple[LazyTables, LazyTables]
    iteration: int
    nodes: int
    updates: int  # of infosets


@dataclass(frozen=True)
class LazyCFR(Tabular[LazyState]):
    """CFR in which an infoset updates once more than ``threshold`` of reach waits at its histories."""

    threshold: float
    weight: Schedule
    turns: int
    plus: bool

    def start(self, game: CompiledGame, seed: int = 0) -> LazyState:
        """As ``Algorithm``: no regret, uniform strategies, nothing waits."""
        tables: list[LazyTables] = []
        for player, strategy in enumerate(uniform_strategies(game)[0]):
            infosets, sequences = game.treeplexes[player].infosets, game.treeplexes[player].sequences
            waiting = int(np.count_nonzero(paths(game).tree.mover == player))
            regret, total = np.zeros(sequences), np.zeros(sequences)
            tables.append(
                LazyTables(strategy.copy(), regret, total, np.zeros(infosets), np.zeros(infosets), np.zeros(waiting))
            )
        return LazyState((tables[0], tables[1]), 0, 0, 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> LazyState:
        """As ``Algorithm``: strategies must be probabilities, and masses must not be negative."""
        state = super().restore(game, tensors, seed)
        for player, tables in enumerate(state.tables):
            checked(f"strategy {player}", tables.strategy, np.float64, None, 0.0, MOST_LIKELY)
            checked(f"reach {player}", tables.reach, np.float64, None, 0.0)
            checked(f"waiting {player}", tables.waiting, np.float64, None, 0.0)
        return state

    def advance(self, game: CompiledGame, state: LazyState, iterations: int, stop: Stop = never) -> LazyState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        first, second = (_side(game, player, tables) for player, tables in enumerate(state.tables))
        weight = self.weight(numbered(state.iteration, iterations))
        nodes, updates = lazy_iterations(
            paths(game).walked, (first, second), self.threshold, weight, self.plus, self.turns
        )
        return LazyState(state.tables, state.iteration + iterations, state.nodes + nodes, state.updates + updates)

    def average(self, game: CompiledGame, state: LazyState) -> Strategies:
        """As ``Algorithm``; sums are completed on copies, because reading must not change later iterations."""
        totals = [tables.total.copy() for tables in state.tables]
        for treeplex, tables, total in zip(game.treeplexes, state.tables, totals, strict=True):
            pass_all(treeplex, tables.strategy, total, tables.passed.copy())
        return normalised(game, (totals[0], totals[1]))

    def current(self, game: CompiledGame, state: LazyState) -> Strategies:
        """As ``Algorithm``."""
        return state.tables[0].strategy.copy(), state.tables[1].strategy.copy()

    def nodes_touched(self, game: CompiledGame, state: LazyState) -> int:
        """Return the histories to which mass has run so far."""
        return state.nodes

    def counters(self, state: LazyState) -> dict[str, int]:
        """As ``Algorithm``."""
        return {"updates": state.updates}


def histories(mover: Ints, infoset: Ints, player: int, infosets: int) -> tuple[Longs, Ints, Ints]:
    """Return a player's histories, sorted by infoset: [I + 1] starts, [H] nodes, and [N] positions in the list."""
    own = np.flatnonzero(mover == player)
    order = np.argsort(infoset[own], kind="stable")
    nodes = own[order].astype(np.int32)
    count = np.bincount(infoset[own], minlength=infosets)
    position = np.zeros(len(mover), dtype=np.int32)
    position[nodes] = np.arange(len(nodes), dtype=np.int32)
    return np.concatenate(([0], np.cumsum(count))).astype(np.int64), nodes, position


def _side(game: CompiledGame, player: int, tables: LazyTables) -> LazySide:
    tree, side, treeplex = paths(game).tree, paths(game).sides[player], game.treeplexes[player]
    start, nodes, position = histories(tree.mover, tree.infoset, player, treeplex.infosets)
    size = len(tree.payoff)
    return LazySide(
        treeplex,
        side.child_start,
        side.child,
        start,
        nodes,
        position,
        tables,
        np.zeros(treeplex.sequences),
        np.empty(treeplex.infosets + 1, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.empty(size),
    )


def lazy_cfr(threshold: float = 0.1, turns: str = "alternating", regret: str = "plain") -> LazyCFR:
    """Lazy-CFR (Zhou, Ren, Li, Yan & Zhu 2020): an infoset waits for more than ``threshold`` of counterfactual reach.

    A unit of mass per iteration runs down from the root, by the probabilities of chance and of the opponent, and waits
    at the player's histories. Once more than ``threshold`` waits at an infoset, it runs on behind every action. What
    it earns at terminals, v(a), is learnt at once: R(a) <- R(a) + v(a) - sum_b sigma(b) v(b), children first. A
    threshold of 0 is CFR with partial pruning. ``regret="plus"``: regret matching+ and linear averaging, Lazy-CFR+.

    Differs from the paper in: a mass counts when it reaches a terminal, where the authors count a stored value of the
    history at which it waits. Averages are exact. Players take turns unless ``turns="simultaneous"``.
    """
    plus = named("regret", regret, {"plain": False, "plus": True})
    return LazyCFR(number("threshold", threshold, 0.0, 1e9), linear() if plus else uniform(), turn_order(turns), plus)
