"""Learners before their first iteration, and the strategies in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import CompactLearner, Learner
from treeplex.engines.sequence.cpu import treeplex as walks

Strategies = tuple[Floats, Floats]
"""Both players' behavioural strategies: one probability per sequence, in the game's order."""


def newborns(game: CompiledGame, dtype: npt.DTypeLike = np.float64) -> tuple[Learner, Learner]:
    """Both players' learners: no regret, uniform strategies."""
    return _newborn(game.treeplexes[0], dtype), _newborn(game.treeplexes[1], dtype)


def compact_newborns(game: CompiledGame) -> tuple[CompactLearner, CompactLearner]:
    """The same with 16-bit regrets."""
    first, second = (
        CompactLearner(
            np.zeros(treeplex.sequences, dtype=np.int16), np.zeros(treeplex.infosets, dtype=np.float32), *learner[1:]
        )
        for treeplex, learner in zip(game.treeplexes, newborns(game), strict=True)
    )
    return first, second


def averages(game: CompiledGame, learners: tuple[Learner | CompactLearner, Learner | CompactLearner]) -> Strategies:
    """Both learners' average strategies."""
    return behaviours(game, (learners[0].average, learners[1].average))


def behaviours(game: CompiledGame, weights: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> Strategies:
    """Strategies from non-negative sequence weights."""
    first, second = weights
    return _normalised(game.treeplexes[0], first), _normalised(game.treeplexes[1], second)


def scratch(game: CompiledGame, dtype: npt.DTypeLike = np.float64) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """An uninitialised number for each sequence."""
    return np.empty(game.treeplexes[0].sequences, dtype), np.empty(game.treeplexes[1].sequences, dtype)


def _newborn(treeplex: Treeplex, dtype: npt.DTypeLike) -> Learner:
    size = treeplex.sequences
    weights, behaviour = np.empty(size), _normalised(treeplex, np.zeros(size))
    walks.sequence_weights(treeplex, behaviour, weights)
    return Learner(np.zeros(size, dtype), np.zeros(size, dtype), behaviour.astype(dtype), weights.astype(dtype))


def _normalised(treeplex: Treeplex, weights: npt.NDArray[Any]) -> Floats:
    behaviour = np.empty(treeplex.sequences)
    walks.normalise(treeplex, weights.astype(np.float64, copy=False), behaviour)
    return behaviour
