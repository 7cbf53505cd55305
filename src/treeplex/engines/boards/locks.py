"""Locked decisions: strategies that are fixed while everything around them is solved.

A locked strategy is written where regrets are kept, of which strategies are shares, and is never updated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import ALL_LOCKED, FREE, HandLearner, Locked, Offsets, Sources
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.lines import Place, action_named, decision_at, follow
from treeplex.engines.boards.streets import Decision
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HAND_CARDS, hand_numbers
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.spot import PLAYERS
from treeplex.updates.storage import LARGEST

Frozen = Locked


def no_locks(game: HoldemGame, storage: str) -> Frozen:
    """Every decision is free."""
    first, second = (np.full(game.decisions(player), FREE, np.int64) for player in (0, 1))
    return Locked((first, second), Sources(np.zeros(0, storage), np.zeros(0, storage)))


def fix(game: HoldemGame, storage: str, learners: tuple[HandLearner, HandLearner] | None = None) -> Frozen:
    """Mark the locked decisions; with ``learners``, write their strategies wherever strategies are read from."""
    where = no_locks(game, storage).where
    parts: tuple[list[Floats], list[Floats]] = ([], [])
    for (player, place, _), (rows, count) in _locked_rows(game).items():
        if (rows.sum(axis=0) > 0.0)[:count].all():
            where[player][place] = ALL_LOCKED
        else:
            where[player][place] = sum(part.size for part in parts[player])
            parts[player].append(_stored(rows, storage).ravel())
    for learner, (places, numbers) in zip(learners or (), told(game, storage), strict=False):
        for target in (learner.regret, learner.predicted, learner.average):
            if len(target) == len(learner.average):  # not memory of several rows, which locked hands never use
                target[places] = numbers
    first, second = (np.concatenate([*part, np.zeros(0)]).astype(storage) for part in parts)
    return Locked(where, Sources(first, second))


def told(game: HoldemGame, storage: str) -> list[tuple[Offsets, npt.NDArray[Any]]]:
    """Of each player: places of the numbers of locked hands in arrays of regrets, and what is written there."""
    found: list[tuple[list[Offsets], list[Floats]]] = [([], []), ([], [])]
    for (player, _, start), (rows, _) in _locked_rows(game).items():
        held = np.broadcast_to(rows.sum(axis=0) > 0.0, rows.shape).ravel()
        found[player][0].append(start + np.flatnonzero(held))
        found[player][1].append(_stored(rows, storage).ravel()[held])
    none = np.zeros(0, np.int64)
    return [
        (np.concatenate([*places, none]), np.concatenate([*numbers, none]).astype(storage)) for places, numbers in found
    ]


def _locked_rows(game: HoldemGame) -> dict[tuple[int, int, int], tuple[Floats, int]]:
    """By player, decision and start of its numbers: rows [actions, H], zeros for free hands, and how many hands are.

    Where two locks name a hand at the same decision, the later one counts.
    """
    found: dict[tuple[int, int, int], tuple[Floats, int]] = {}
    for lock in game.locks:
        place = follow(game, lock.line)
        decision = decision_at(game, place)
        hands = game.boards[place.depth].hands[decision.player]
        begin, end = int(hands.start[place.board]), int(hands.start[place.board + 1])
        count = int(hands.held[place.board])
        table = _table(game, lock, decision, place)
        numbers = hands.number[begin : begin + count].astype(np.int64)
        named: npt.NDArray[np.bool_] = table[:, numbers].sum(axis=0) > 0.0
        if not named.any():
            raise ParameterError(
                f"The lock at {quoted(lock.line)} names no hand that {PLAYERS[decision.player]} may hold there."
            )
        key = (
            decision.player,
            int(hands.decision[place.board]) + decision.number,
            int(hands.storage[place.board]) + decision.slot * (end - begin),
        )
        rows, _ = found.setdefault(key, (np.zeros((len(table), end - begin)), count))
        rows[:, :count][:, named] = table[:, numbers[named]]
    return found


def _stored(rows: Floats, storage: str) -> Floats:
    return np.rint(rows * LARGEST) if np.issubdtype(np.dtype(storage), np.integer) else rows


def _table(game: HoldemGame, lock: Lock, decision: Decision, place: Place) -> Floats:
    """Probabilities [actions, 1326], hands as they are stored; zeros for hands that stay free."""
    stored = _moved(np.array(place.suits))
    table = np.zeros((len(decision.node.actions), len(HAND_CARDS)))
    for text, plays in lock.strategy.items():
        chosen = parse_range(text, "lock") > 0.0
        column = np.zeros(len(table))
        for name, probability in plays.items():
            action = action_named(game, decision.node, name)
            if column[action]:
                raise ParameterError(f"The lock at {quoted(lock.line)} names an action twice, got {quoted(name)}.")
            column[action] = probability
        table[:, stored[chosen]] = column[:, None]
    if place.depth + 1 < len(game.streets):
        _check_suits(game, lock, decision, place, table)
    return table


def _check_suits(game: HoldemGame, lock: Lock, decision: Decision, place: Place, table: Floats) -> None:
    """Cards to come are dealt in one of several suits that are alike, so a lock must not tell these apart."""
    hands = game.boards[place.depth].hands[decision.player]
    begin = int(hands.start[place.board])
    numbers = hands.number[begin : begin + int(hands.held[place.board])].astype(np.int64)
    for suits in game.deals[place.depth][place.board].symmetries:
        if not np.array_equal(table[:, numbers], table[:, _moved(np.array(suits))[numbers]]):
            raise ParameterError(
                f"The lock at {quoted(lock.line)} tells suits apart that are dealt as one, because board and ranges"
                " treat them alike: name whole classes such as AKs."
            )


def _moved(suits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where every hand is after a change of suits."""
    return hand_numbers(HAND_CARDS // 4 * 4 + suits[HAND_CARDS % 4])
