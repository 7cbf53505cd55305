"""Learners before their first iteration, in every storage, and strategies made from them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints, aligned, pair
from treeplex.compile.game import CompiledGame, Operator
from treeplex.engines.sequence.arrays import Learner, Learner16, RuleLearner, SequenceForm, Steps
from treeplex.engines.sequence.cpu import treeplex as walks
from treeplex.engines.sequence.cpu.tiled import TiledForm
from treeplex.engines.sequence.cpu.tiled_evaluate import normalise_tiles
from treeplex.engines.sequence.partition import partitions, partitions_for, paying, runs
from treeplex.engines.sequence.tiles import TiledGame, TileLayout, laid
from treeplex.kernels.vectors import LANES
from treeplex.updates.protocol import Minimizer
from treeplex.updates.regret_matching import RegretMatching
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule, discounts_at, weights_at

Strategies = tuple[Floats, Floats]
"""Both players' behavioural strategies: one probability per sequence, in the game's order."""

AnyLearner = TypeVar("AnyLearner", bound=Learner | RuleLearner)
Learners = tuple[Learner | Learner16 | RuleLearner, Learner | Learner16 | RuleLearner]
"""Learners of both players, of one kind."""


def uniform_strategies(game: CompiledGame) -> tuple[Strategies, Strategies]:
    """Return both players' uniform strategies, and their realization plans."""
    counts = [np.append(1, treeplex.actions) for treeplex in game.treeplexes]
    strategies = pair(np.repeat(1.0 / count, count) for count in counts)
    return strategies, pair(treeplex.plan(own) for treeplex, own in zip(game.treeplexes, strategies, strict=True))


def initial_learners(game: CompiledGame, dtype: npt.DTypeLike = np.float64) -> tuple[Learner, Learner]:
    """Return learners with no regret and uniform strategies."""
    return pair(
        Learner(np.zeros(len(plan), dtype), np.zeros(len(plan), dtype), strategy.astype(dtype), plan.astype(dtype))
        for strategy, plan in zip(*uniform_strategies(game), strict=True)
    )


def initial_learners_16(game: CompiledGame, storage: str = "int16") -> tuple[Learner16, Learner16]:
    """Return learners with no regret and uniform strategies, whose regrets are whole numbers with a scale."""
    return pair(
        Learner16(learner.regret.astype(storage), np.zeros(treeplex.infosets, dtype=np.float32), *learner[1:])
        for treeplex, learner in zip(game.treeplexes, initial_learners(game), strict=True)
    )


def normalised(
    game: CompiledGame, weights: tuple[npt.NDArray[Any], npt.NDArray[Any]], positions: tuple[Ints, Ints] | None = None
) -> Strategies:
    """Strategies in proportion to non-negative weights, such as sums of realization plans.

    The weights are in the game's order, or in ``positions`` if these are given.
    """
    strategies = scratch(game)
    for player, (treeplex, own, out) in enumerate(zip(game.treeplexes, weights, strategies, strict=True)):
        if positions is None:
            walks.normalise(treeplex, own.astype(np.float64, copy=False), out)
        else:
            walks.normalise(treeplex, own[positions[player]].astype(np.float64, copy=False), out)
    return strategies


class InTiles(NamedTuple):
    """Both players' strategies by position in tiles, the fastest layout for evaluation."""

    strategies: Strategies  # [P]
    positions: tuple[Ints, Ints]  # [S] position of each sequence
    form: TiledForm  # in float64

    @property
    def in_order(self) -> Strategies:
        """Both players' strategies in the game's order."""
        (first, second), positions = self.strategies, self.positions
        return first[positions[0]], second[positions[1]]


def normalised_in_tiles(form: TiledForm, weights: tuple[Floats, Floats], positions: tuple[Ints, Ints]) -> InTiles:
    """Strategies in tiles, in proportion to non-negative weights in tiles."""
    strategies = np.empty(len(weights[0])), np.empty(len(weights[1]))
    normalise_tiles(form.tiles, weights, strategies)
    return InTiles(strategies, positions, form)


def scratch(game: CompiledGame, dtype: npt.DTypeLike = np.float64) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Allocate an uninitialised number for each sequence of both players."""
    return np.empty(game.treeplexes[0].sequences, dtype), np.empty(game.treeplexes[1].sequences, dtype)


def sequence_form(game: CompiledGame, threads: int = 1, storage: str = "float64") -> SequenceForm:
    """Build the form of a game that iterations need, with scratch of its own; ``threads``: as in ``partitions``."""
    values = scratch(game, np.float32 if storage == "float32" else np.float64)
    return SequenceForm(game.treeplexes, operator_in(game, storage), partitions(game, threads), values)


def tiled_form(game: CompiledGame, tiled_game: TiledGame, threads: int = 1) -> TiledForm:
    """Build the tiled form of a game that iterations need, with scratch of its own.

    ``threads``: largest number of threads, 0 for all cores.
    """
    (first, second), rows, blocks, storage, roots = tiled_game
    by_blocks = 1 if blocks[0] is None else paying(first.positions, threads)
    shared = runs(tiled_game, threads, by_blocks)
    count = shared[0].up.shape[1] - 1
    widest = max(int(np.diff(layout.tiles.first).max(initial=1)) for layout in (first, second))
    values = [aligned(0 if blocks[0] is None else layout.positions, storage) for layout in (first, second)]
    lane_values = [aligned(len(layout.tiles.parent) + LANES, np.float64) for layout in (first, second)]
    for numbers in lane_values:
        numbers[-LANES:] = -0.0
    reached = [np.ones(len(layout.tiles.first) - 1, np.int8) for layout in (first, second)]
    return TiledForm(
        (first.tiles, second.tiles),
        rows,
        blocks,
        partitions_for(game, by_blocks),
        shared,
        (values[0], values[1]),
        (lane_values[0], lane_values[1]),
        (reached[0], reached[1]),
        aligned(count * widest * LANES, storage).reshape(count, -1),
        roots,
    )


def to_tiles(
    layouts: tuple[TileLayout, TileLayout], learners: tuple[AnyLearner, AnyLearner]
) -> tuple[AnyLearner, AnyLearner]:
    """Move learners from the game's order to tiles; the memory of a rule stays as it is."""
    return pair(
        learner._replace(**{name: laid(own, getattr(learner, name)) for name in learner._fields if name != "memory"})
        for own, learner in zip(layouts, learners, strict=True)
    )


def in_order(positions: tuple[Ints, Ints], learners: tuple[AnyLearner, AnyLearner]) -> tuple[AnyLearner, AnyLearner]:
    """Copy learners from tiles to the game's order."""
    return pair(
        learner._replace(
            **{name: array.copy() if name == "memory" else array[position] for name, array in learner._asdict().items()}
        )
        for position, learner in zip(positions, learners, strict=True)
    )


def steps(done: int, count: int, weight: Schedule, minimizer: Minimizer | Rule | None = None) -> Steps:
    """Schedule of the next ``count`` iterations; without a minimizer of the family nothing is discounted."""
    iteration = numbered(done, count)
    family = RegretMatching() if minimizer is None or isinstance(minimizer, Rule) else minimizer
    return Steps(iteration, weights_at(weight, iteration), *discounts_at(family, iteration))


def numbered(done: int, count: int) -> Floats:
    """Numbers of the next ``count`` iterations, counted from 1."""
    return np.arange(done + 1, done + count + 1, dtype=np.float64)


_CONVERTED: WeakKeyDictionary[CompiledGame, Operator] = WeakKeyDictionary()
"""Payoff operators in float32, by game; an operator is freed with its game."""


def operator_in(game: CompiledGame, storage: str) -> Operator:
    """Return the payoff operator in float32 if ``storage`` is float32, else in float64."""
    if storage != "float32":
        return game.operator
    if game not in _CONVERTED:
        sides: list[Any] = [
            side._replace(
                **{key: array.astype(storage) for key, array in side._asdict().items() if array.dtype == np.float64}
            )
            for side in game.operator
        ]
        _CONVERTED[game] = type(game.operator)(*sides)
    return _CONVERTED[game]
