"""Random initial strategies, by the seed: an option of runs of the CFR family.

The first iteration plays a random strategy at every infoset: numbers drawn evenly from [0, 1), divided by their sum.
Regrets begin at ``TINY`` times such numbers and the largest payoff, so that an infoset plays at random until it learns.
Rules without regrets and regrets in 16 bits have no such memory. There an infoset that learns nothing from the first
iteration plays uniformly afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from treeplex.algorithms.mccfr import MonteCarlo, SamplingState
from treeplex.algorithms.options import STARTS, UNIFORM, named
from treeplex.algorithms.protocol import Algorithm, Array
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import REGRET, STRATEGY
from treeplex.engines.sampling.tree import sample_tree
from treeplex.errors import ParameterError

TINY: Final = 1e-12  # regrets that decide strategies, and are too small for anything else
STORED: Final = re.compile(
    r"state\.(?:arrays\.|walk\.)?(?:learners|tables)\.([01])\.(strategy|plan|play|regret|sequences)"
)
"""Names of arrays in which a state keeps strategies and regrets of a player."""


def initial_state(algorithm: Algorithm[Any, Any], game: Any, seed: int, start: str = UNIFORM) -> Any:
    """Return the state before the first iteration."""
    state = algorithm.start(game, seed)
    if named("start", start, STARTS) == UNIFORM:
        return state
    if isinstance(algorithm, MonteCarlo):
        return _sampled(algorithm, game, state, seed)
    tensors = algorithm.save(state)
    if not _randomise(tensors, game, seed):
        raise ParameterError(
            "The 'start' parameter can be random only where an algorithm of the CFR family solves a game; leave it out."
        )
    return algorithm.restore(game, tensors, seed)


def random_strategy(treeplex: Treeplex, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a random strategy and its realization plan, both [S]."""
    strategy = np.ones(treeplex.sequences)
    strategy[1:] = rng.random(treeplex.sequences - 1)
    if treeplex.infosets:
        total = np.add.reduceat(strategy, treeplex.first[:-1])
        strategy[1:] /= np.repeat(total, treeplex.actions)
    return strategy, treeplex.plan(strategy)


def _randomise(tensors: Mapping[str, Array], game: CompiledGame, seed: int) -> bool:
    """Write random strategies to the arrays that keep strategies, in place; return whether there are any."""
    places = [(match[1], match[2], array) for key, array in tensors.items() if (match := STORED.fullmatch(key))]
    has_strategies = any(kind in ("strategy", "play") for _, kind, _ in places)
    if not has_strategies or any("sampler." in key for key in tensors):
        return False
    rng = np.random.default_rng(seed)
    drawn = [random_strategy(treeplex, rng) for treeplex in game.treeplexes]
    scale = TINY * (game.largest_payoff or 1.0)
    for player, kind, array in places:
        strategy, plan = drawn[int(player)]
        match kind:
            case "play":
                array[:, STRATEGY] = strategy
            case "sequences":
                array[1:, REGRET] = scale * strategy[1:]
            case "regret" if array.dtype.kind == "f":
                array[1:] = scale * strategy[1:]
            case "strategy" | "plan":
                array[:] = strategy if kind == "strategy" else plan
            case _:
                pass
    return True


def _sampled(algorithm: MonteCarlo, game: CompiledGame, state: SamplingState, seed: int) -> SamplingState:
    """Let a sampler start from random strategies; pure ones do so anyway."""
    if algorithm.pure:
        return state
    rng, scale, form = np.random.default_rng(seed), TINY * (game.largest_payoff or 1.0), sample_tree(game)
    for stream in state.streams:
        for player, table in enumerate(stream.tables):
            if algorithm.rule is None:
                table.regret[:] = scale * rng.random(len(table.regret))
            else:  # a function stores its strategy there
                table.regret[form.sequence_index[player]] = random_strategy(game.treeplexes[player], rng)[0]
    return state
