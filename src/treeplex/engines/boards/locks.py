"""Locked decisions: a strategy that is fixed while everything around it is solved.

A locked strategy is written where regrets are kept, of which strategies are shares, and is never updated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards.arrays import HandLearner
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.lines import decision_at, follow
from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import HAND_CARDS, hand_numbers
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.ranges import parse_range
from treeplex.updates.storage import LARGEST

Frozen = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]

ALL = "all"


def fix(game: HoldemGame, learners: tuple[HandLearner, HandLearner] | None = None) -> Frozen:
    """Mark the locked decisions; with ``learners``, write their strategies wherever strategies are read from."""
    frozen = (np.zeros(game.decisions(0), np.bool_), np.zeros(game.decisions(1), np.bool_))
    for lock in game.locks:
        place = follow(game, lock.line)
        decision = decision_at(game, place)
        hands = game.boards[place.depth].hands[decision.player]
        frozen[decision.player][int(hands.decision[place.board]) + decision.number] = True
        if learners is None:
            continue
        begin, end = int(hands.start[place.board]), int(hands.start[place.board + 1])
        table = _table(game, lock, decision.node.actions, place.suits)
        numbers = hands.number[begin:end].astype(np.int64)
        count = int(hands.held[place.board])
        rows = np.zeros((len(decision.node.actions), end - begin))
        rows[:, :count] = table[:, numbers[:count]]
        if not np.allclose(rows[:, :count].sum(axis=0), 1.0, atol=1e-6):
            raise ParameterError(
                f"The lock at {lock.line!r} must say for every hand what it plays, with probabilities that sum to 1."
            )
        learner = learners[decision.player]
        start = int(hands.storage[place.board]) + decision.slot * (end - begin)
        stored = np.rint(rows * LARGEST) if np.issubdtype(learner.regret.dtype, np.integer) else rows
        for target in (learner.regret, learner.predicted, learner.average):
            if len(target):
                target[start : start + rows.size] = stored.ravel()
    return frozen


def _table(game: HoldemGame, lock: Lock, actions: Any, suits: Any) -> npt.NDArray[np.float64]:
    """Probabilities [actions, 1326], hands as they are stored."""
    names = [action.name for action in actions]
    stored = hand_numbers(HAND_CARDS // 4 * 4 + np.array(suits)[HAND_CARDS % 4])
    table = np.zeros((len(names), len(HAND_CARDS)))
    for text, plays in lock.strategy.items():
        chosen = np.ones(len(HAND_CARDS), np.bool_) if text == ALL else parse_range(text, "lock") > 0.0
        for name, probability in plays.items():
            if name not in names:
                raise ParameterError(f"The lock at {lock.line!r} has the actions {', '.join(names)}; got {name!r}.")
            if isinstance(probability, bool) or not 0.0 <= probability <= 1.0:
                raise ParameterError(
                    f"A probability in the lock at {lock.line!r} must be from 0 to 1, got {probability!r}."
                )
        column = np.array([float(plays.get(name, 0.0)) for name in names])
        table[:, stored[chosen]] = column[:, None]
    return table
