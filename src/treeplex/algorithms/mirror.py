"""Mirror prox and optimistic mirror descent over dilated entropies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.protocol import Array, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.cpu.mirror import mirror_iterations
from treeplex.engines.sequence.entropy import first_order_players, new_scratch, scheme, smoothing_guess, spread
from treeplex.engines.sequence.first_order import Mirror, MirrorScratch, Rate
from treeplex.engines.sequence.learners import normalised, uniform_strategies
from treeplex.tensors import TINY, checked

LONGEST: Final = 1e12  # longest step, over the smoothing that makes responses even: such steps make responses pure
FIRST_GROWTH: Final = 2.0  # growth factor of steps until one is too long


class MirrorState(NamedTuple):
    """State of the method between iterations."""

    mirrors: tuple[Mirror, Mirror]
    rate: Rate
    iteration: int
    products: int  # gradients computed so far


@dataclass(frozen=True)
class MirrorProx(Tabular[MirrorState]):
    """Mirror prox (Nemirovski 2004). ``optimistic``: the last gradient replaces the first of the two.

    ``rounding``: of potentials, relative to the entropies they are sums of. It is 0 where play starts uniformly, since
    the potentials start at zero and soon outgrow the entropies.
    """

    scheme: int
    optimistic: bool
    rounding: float = 0.0

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
        first, second = (
            (player, mirror, new_scratch(MirrorScratch, player.treeplex))
            for player, mirror in zip(first_order_players(game, self.scheme, game.operator), mirrors, strict=True)
        )
        longest = LONGEST / smoothing_guess(game, self.scheme)
        noise = self.rounding * spread(game, self.scheme)
        gradients = mirror_iterations((first, second), rate, iteration, iterations, self.optimistic, longest, noise)
        return MirrorState(mirrors, rate, iteration + iterations, products + gradients)

    def average(self, game: CompiledGame, state: MirrorState) -> Strategies:
        """Return the average of the strategies played, each weighted by its step."""
        return normalised(game, (state.mirrors[0].average, state.mirrors[1].average))

    def current(self, game: CompiledGame, state: MirrorState) -> Strategies:
        """Return the smoothed best responses to everything faced so far."""
        return normalised(game, (state.mirrors[0].response, state.mirrors[1].response))

    def nodes_touched(self, game: CompiledGame, state: MirrorState) -> int:
        """Return one pass per gradient."""
        return state.products * game.nodes


def mirror_prox(weights: str = "kroer2015") -> MirrorProx:
    """Mirror prox (Nemirovski 2004) with the dilated entropy of Kroer et al. (2015)."""
    return MirrorProx(scheme(weights), optimistic=False)


def omd(weights: str = "kroer2015") -> MirrorProx:
    """Optimistic mirror descent (Rakhlin & Sridharan 2013) over the same dilated entropy."""
    return MirrorProx(scheme(weights), optimistic=True)
