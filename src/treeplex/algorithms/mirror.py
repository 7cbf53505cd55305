"""Mirror prox and optimistic mirror descent over dilated entropies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.options import number
from treeplex.algorithms.protocol import Array, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu.mirror import mirror_iterations
from treeplex.engines.sequence.cpu.oracle import TreeSide
from treeplex.engines.sequence.entropy import (
    first_order_players,
    moduli,
    new_scratch,
    scheme,
    smoothing_guess,
    spread,
)
from treeplex.engines.sequence.first_order import SHORTEST_STEP, Mirror, MirrorScratch, Rate, StepBounds
from treeplex.engines.sequence.learners import normalised, uniform_strategies
from treeplex.engines.sequence.tree_operator import tree_operator
from treeplex.tensors import TINY, checked

LONGEST: Final = 1e12  # longest step, over the smoothing that makes responses even: such steps make responses pure
FIRST_GROWTH: Final = 2.0  # growth factor of steps until one is too long


class MirrorState(NamedTuple):
    """State of the method between iterations."""

    mirrors: tuple[Mirror, Mirror]
    rate: Rate
    iteration: int
    products: int  # gradients computed so far, or nodes entered by walks


@dataclass(frozen=True)
class MirrorProx(Tabular[MirrorState]):
    """Mirror prox (Nemirovski 2004). ``optimistic``: the last gradient replaces the first of the two.

    ``cut``: compute gradients by walks that stop where chance and the opponent reach a node with probability below
    cut / t; None: compute them by products with the payoff operator.

    ``rounding``: of potentials, relative to the entropies they are sums of. It is 0 where play starts uniformly, since
    the potentials start at zero and soon outgrow the entropies.
    """

    scheme: int
    optimistic: bool
    rounding: float = 0.0
    cut: float | None = None

    def start(self, game: CompiledGame, seed: int = 0) -> MirrorState:
        """As ``Algorithm``: uniform strategies, nothing learned yet."""
        first, second = (
            Mirror(np.zeros(len(plan)), plan, np.zeros(len(plan)), np.zeros(len(plan)))
            for plan in uniform_strategies(game)[1]
        )
        step = 1.0 / (game.largest_payoff or 1.0)
        return MirrorState((first, second), Rate(np.array([step]), np.array([FIRST_GROWTH]), np.zeros(1)), 0, 0)

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> MirrorState:
        """As ``Algorithm``: steps must be positive."""
        state = super().restore(game, tensors, seed)
        for name in ("step", "growth"):
            checked(f"state.rate.{name}", getattr(state.rate, name), np.float64, (1,), TINY)
        return state

    def advance(self, game: CompiledGame, state: MirrorState, iterations: int, stop: Stop = never) -> MirrorState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        mirrors, rate, iteration, products = state
        operator = game.operator if self.cut is None else tree_operator(game)
        first, second = (
            (player, mirror, new_scratch(MirrorScratch, player.treeplex))
            for player, mirror in zip(first_order_players(game, self.scheme, operator), mirrors, strict=True)
        )
        side = first[0].side
        limit = side.limit if isinstance(side, TreeSide) else np.zeros(1)
        longest, noise = LONGEST / smoothing_guess(game, self.scheme), self.rounding * spread(game, self.scheme)
        least = shortest_step(game, self.scheme) if self.cut else SHORTEST_STEP * SHORTEST_STEP * longest
        bounds = StepBounds(longest, least, noise, limit, self.cut or 0.0)
        gradients = mirror_iterations((first, second), rate, iteration, iterations, self.optimistic, bounds)
        if isinstance(side, TreeSide):
            gradients = int(side.entered[0])
        return MirrorState(mirrors, rate, iteration + iterations, products + gradients)

    def average(self, game: CompiledGame, state: MirrorState) -> Strategies:
        """Return the average of the strategies played, each weighted by its step."""
        return normalised(game, (state.mirrors[0].average, state.mirrors[1].average))

    def current(self, game: CompiledGame, state: MirrorState) -> Strategies:
        """Return the smoothed best responses to everything faced so far."""
        return normalised(game, (state.mirrors[0].response, state.mirrors[1].response))

    def nodes_touched(self, game: CompiledGame, state: MirrorState) -> int:
        """Return one pass per gradient, or the nodes that walks have entered."""
        return state.products * (game.nodes if self.cut is None else 1)


def shortest_step(game: CompiledGame, kind: int) -> float:
    """Return the step that theory allows with exact gradients, sqrt(m0 m1) / max |A|, with the moduli m."""
    first, second = moduli(game, kind)
    largest = float(np.abs(game.payoffs.rows.data).max(initial=0.0)) or 1.0
    return math.sqrt(first * second) / largest


def mirror_prox(weights: str = "kroer2015") -> MirrorProx:
    """Mirror prox (Nemirovski 2004) with the dilated entropy of Kroer et al. (2015)."""
    return MirrorProx(scheme(weights), optimistic=False)


def omd(weights: str = "kroer2015") -> MirrorProx:
    """Optimistic mirror descent (Rakhlin & Sridharan 2013) over the same dilated entropy."""
    return MirrorProx(scheme(weights), optimistic=True)


def mirror_prox_dt(c: float = 0.01, weights: str = "kroer2015") -> MirrorProx:
    """Mirror prox with truncated gradients: walks stop where chance and opponent come with probability below c / t.

    After Brown, Kroer & Sandholm (2017), sections 5 and 6, who do so for EGT.
    """
    return MirrorProx(scheme(weights), optimistic=False, cut=number("c", c, 0.0, 1.0))


def omd_dt(c: float = 0.01, weights: str = "kroer2015") -> MirrorProx:
    """Optimistic mirror descent with truncated gradients; as ``mirror_prox_dt``."""
    return MirrorProx(scheme(weights), optimistic=True, cut=number("c", c, 0.0, 1.0))
