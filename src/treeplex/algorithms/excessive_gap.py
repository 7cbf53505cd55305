"""The excessive gap technique over dilated entropies: smoothed best responses whose smoothing shrinks stepwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import named, number
from treeplex.algorithms.protocol import Array, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu.excessive_gap import begin, gap_iterations
from treeplex.engines.sequence.cpu.oracle import TreeSide
from treeplex.engines.sequence.cpu.treeplex import realization_plan
from treeplex.engines.sequence.entropy import (
    centres,
    first_order_players,
    moduli,
    new_scratch,
    scheme,
    smoothing_guess,
)
from treeplex.engines.sequence.first_order import LONGEST_STEP, ROUNDING, Gap, GapPlayer, GapScratch, Pace, Terms
from treeplex.engines.sequence.learners import normalised, uniform_strategies
from treeplex.engines.sequence.tree_operator import tree_operator
from treeplex.tensors import LARGEST, TINY, checked

STEPS: Final = {"adaptive": True, "theory": False}
LEAST: Final = 1e-16  # fraction of the first guess below which smoothing has no effect and stops shrinking
MOST_HALVINGS: Final = 30  # most halvings of the first smoothing


class ExcessiveGapState(NamedTuple):
    """State of the technique between steps."""

    gaps: tuple[Gap, Gap]
    pace: Pace
    iteration: int
    nodes: int  # touched so far
    centres: tuple[Floats, ...] = ()  # dual points from which distances are measured; none: from uniform play


@dataclass(frozen=True)
class ExcessiveGap(Tabular[ExcessiveGapState]):
    """Nesterov's excessive gap technique (2005) on the sequence form (Hoda et al. 2010).

    ``cut``: compute gradients by walks that stop where chance and the opponent reach a node with probability below
    cut / t; None: compute them by products with the payoff operator. ``centred``: distances can be measured from other
    points than uniform play.
    """

    scheme: int
    adaptive: bool
    cut: float | None = None
    centred: bool = False

    def start(self, game: CompiledGame, seed: int = 0) -> ExcessiveGapState:
        """Return plans that respond to each other, with roughly the least smoothing the excessive gap condition allows.

        Without ``adaptive``, smoothing is as large as the theorem requires.
        """
        gaps = (Gap(*(np.empty(treeplex.sequences) for _ in Gap._fields)) for treeplex in game.treeplexes)
        pace = Pace(np.empty(2), np.empty(2), np.array([LONGEST_STEP]))
        points = tuple(np.zeros(treeplex.sequences) for treeplex in game.treeplexes) if self.centred else ()
        state, plan = ExcessiveGapState((next(gaps), next(gaps)), pace, 0, 0, points), uniform_strategies(game)[1][0]
        if not self.adaptive:
            first, second = moduli(game, self.scheme)
            largest = float(np.abs(game.payoffs.rows.data).max(initial=0.0)) or 1.0
            return self._begin(game, state, plan, largest / math.sqrt(first * second))
        return self._least(game, state, plan, smoothing_guess(game, self.scheme))

    def around(self, game: CompiledGame, state: ExcessiveGapState, strategies: Strategies) -> ExcessiveGapState:
        """Return the state before the first step of a run that measures distances from these strategies.

        The arrays of ``state`` are modified in place. The search for the smoothing begins with the larger of both.
        """
        plan = np.empty(game.treeplexes[0].sequences)
        realization_plan(game.treeplexes[0], strategies[0], plan)
        pace = state.pace._replace(step=np.array([LONGEST_STEP]))
        fresh = ExcessiveGapState(state.gaps, pace, 0, 0, centres(game, self.scheme, strategies))
        least = 2.0 * LEAST * smoothing_guess(game, self.scheme)
        return self._least(game, fresh, plan, max(float(state.pace.smoothing.max()), least))

    def _least(self, game: CompiledGame, state: ExcessiveGapState, plan: Floats, smoothing: float) -> ExcessiveGapState:
        """Begin with the smoothing, among ``smoothing`` times powers of two, that is hardly larger than necessary."""
        state = self._begin(game, state, plan, smoothing)
        while _gap(state) > 0.0:
            smoothing *= 2.0
            state = self._begin(game, state, plan, smoothing)
        least = LEAST * smoothing_guess(game, self.scheme)
        for _ in range(MOST_HALVINGS):
            if 0.5 * smoothing < least:
                break
            state = self._begin(game, state, plan, 0.5 * smoothing)
            if _gap(state) > 0.0:
                return self._begin(game, state, plan, smoothing)
            smoothing *= 0.5
        return state

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> ExcessiveGapState:
        """As ``Algorithm``: smoothing and steps must be positive."""
        state = super().restore(game, tensors, seed)
        least = 0.5 * LEAST * smoothing_guess(game, self.scheme)
        checked("state.pace.smoothing", state.pace.smoothing, np.float64, (2,), least, LARGEST)
        checked("state.pace.step", state.pace.step, np.float64, (1,), TINY, 1.0)
        return state

    def advance(
        self, game: CompiledGame, state: ExcessiveGapState, iterations: int, stop: Stop = never
    ) -> ExcessiveGapState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        players = self._players(game, state)
        side = players[0][0].side
        limit = side.limit if isinstance(side, TreeSide) else np.zeros(1)
        slack, least = ROUNDING * game.largest_payoff, LEAST * smoothing_guess(game, self.scheme)
        terms = Terms(slack, least, self.adaptive, limit, self.cut or 0.0)
        products = gap_iterations(players, state.pace, state.iteration, iterations, terms)
        nodes = state.nodes + _touched(game, players, products)
        return state._replace(iteration=state.iteration + iterations, nodes=nodes)

    def average(self, game: CompiledGame, state: ExcessiveGapState) -> Strategies:
        """Return the plans, which are averages of smoothed best responses."""
        return normalised(game, (state.gaps[0].plan, state.gaps[1].plan))

    def current(self, game: CompiledGame, state: ExcessiveGapState) -> Strategies:
        """Return the smoothed best responses to the plans."""
        return normalised(game, (state.gaps[0].response, state.gaps[1].response))

    def nodes_touched(self, game: CompiledGame, state: ExcessiveGapState) -> int:
        """Return one pass per gradient: three per step, two more per step that was too long, and a few at the start."""
        return state.nodes

    def _begin(self, game: CompiledGame, state: ExcessiveGapState, plan: Floats, smoothing: float) -> ExcessiveGapState:
        players = self._players(game, state)  # with a limit of zero, so the start is exact
        begin(players, state.pace, plan, smoothing)
        return state._replace(nodes=state.nodes + _touched(game, players, 3))

    def _players(self, game: CompiledGame, state: ExcessiveGapState) -> tuple[GapPlayer, GapPlayer]:
        operator = game.operator if self.cut is None else tree_operator(game)
        players = first_order_players(game, self.scheme, operator, state.centres)
        first, second = (
            (player, gap, new_scratch(GapScratch, player.treeplex))
            for player, gap in zip(players, state.gaps, strict=True)
        )
        return first, second


def egt(weights: str = "kroer2015", steps: str = "adaptive") -> ExcessiveGap:
    """The excessive gap technique with the dilated entropy of Kroer et al. (2015)."""
    return ExcessiveGap(scheme(weights), named("steps", steps, STEPS))


def egt_dt(c: float = 0.01, weights: str = "kroer2015", steps: str = "adaptive") -> ExcessiveGap:
    """EGT with truncated gradients: walks stop where chance and the opponent reach a node with probability below c / t.

    Brown, Kroer & Sandholm (2017), section 5.
    """
    return ExcessiveGap(scheme(weights), named("steps", steps, STEPS), number("c", c, 0.0, 1.0))


def _gap(state: ExcessiveGapState) -> float:
    return float(state.pace.value.sum())


def _touched(game: CompiledGame, players: tuple[GapPlayer, GapPlayer], products: int) -> int:
    side = players[0][0].side
    return int(side.entered[0]) if isinstance(side, TreeSide) else products * game.nodes
