"""Locked decisions: strategies that are fixed while everything around them is solved.

A locked strategy is written into the regrets, from which strategies are normalised, and is never updated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import ALL_LOCKED, FREE, HandLearner, Locked, Offsets, Sources
from treeplex.engines.boards.boards import stored_board
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.trees import by_node
from treeplex.games.holdem.cards import HAND_CARDS, hand_numbers
from treeplex.updates.storage import STORAGES, largest_of


def no_locks(game: HoldemGame, storage: str) -> Locked:
    """Return the marks of a game in which every decision is free."""
    first, second = (np.full(game.decisions(player), FREE, np.int64) for player in (0, 1))
    return Locked((first, second), Sources(np.zeros(0, storage), np.zeros(0, storage)))


def fix(game: HoldemGame, storage: str, learners: tuple[HandLearner, HandLearner] | None = None) -> Locked:
    """Mark the locked decisions. With ``learners``, also write their strategies into all arrays played from."""
    where = no_locks(game, storage).where
    parts: tuple[list[Floats], list[Floats]] = ([], [])
    for (player, index, _), (rows, count) in _locked_rows(game).items():
        if (rows.sum(axis=0) > 0.0)[:count].all():
            where[player][index] = ALL_LOCKED
        else:
            where[player][index] = sum(part.size for part in parts[player])
            parts[player].append(_stored(rows, storage).ravel())
    for learner, (positions, numbers) in zip(learners or (), locked_values(game, storage), strict=False):
        for target in (learner.regret, learner.predicted, learner.average):
            if len(target) == len(learner.average):  # skips memory of several rows, which locked hands never use
                target[positions] = numbers
    first, second = (np.concatenate([*part, np.zeros(0)]).astype(storage) for part in parts)
    return Locked(where, Sources(first, second))


def locked_values(game: HoldemGame, storage: str) -> list[tuple[Offsets, npt.NDArray[Any]]]:
    """Return, per player, the positions of locked hands' numbers in arrays of regrets, and the locked numbers."""
    by_player: list[tuple[list[Offsets], list[Floats]]] = [([], []), ([], [])]
    for (player, _, start), (rows, _) in _locked_rows(game).items():
        locked = np.broadcast_to(rows.sum(axis=0) > 0.0, rows.shape).ravel()
        by_player[player][0].append(start + np.flatnonzero(locked))
        by_player[player][1].append(_stored(rows, storage).ravel()[locked])
    none = np.zeros(0, np.int64)
    return [
        (np.concatenate([*positions, none]), np.concatenate([*numbers, none]).astype(storage))
        for positions, numbers in by_player
    ]


def _locked_rows(game: HoldemGame) -> dict[tuple[int, int, int], tuple[Floats, int]]:
    """Return locked rows and the number of hands, by player, decision and start of its numbers.

    Rows [actions, H] are zero for free hands. If two locks name a hand at the same decision, the later one counts.
    """
    rows_by_start: dict[tuple[int, int, int], tuple[Floats, int]] = {}
    known = by_node(game) if game.locks else {}
    for node, cards, table in game.locked:
        depth, decision = known[id(node)]
        try:
            _, board, suits = stored_board(game.deals, cards)
        except LookupError:  # if the spot is cut, another part has the board
            continue
        hands = game.boards[depth].hands[decision.player]
        begin, end, count = int(hands.start[board]), int(hands.start[board + 1]), int(hands.counts[board])
        stored = np.zeros_like(table)
        stored[:, hand_numbers(HAND_CARDS // 4 * 4 + np.array(suits)[HAND_CARDS % 4])] = table
        probabilities = stored[:, hands.number[begin : begin + count].astype(np.int64)]
        named: npt.NDArray[np.bool_] = probabilities.sum(axis=0) > 0.0
        key = (
            decision.player,
            int(hands.decision[board]) + decision.number,
            int(hands.storage[board]) + decision.slot * (end - begin),
        )
        rows, _ = rows_by_start.setdefault(key, (np.zeros((len(table), end - begin)), count))
        rows[:, :count][:, named] = probabilities[:, named]
    return rows_by_start


def _stored(rows: Floats, storage: str) -> Floats:
    return np.rint(rows * largest_of(storage)) if STORAGES[storage].scaled else rows
