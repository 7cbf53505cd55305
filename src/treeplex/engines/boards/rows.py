"""Numbers of a decision on all its boards at once: where they are stored, and each hand's row on the street before.

There is one number per hand of every board, flat, board after board, including padding, as ``Hands.start`` counts. If a
spot distinguishes classes of cards, a decision has only the boards of its texture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import Offsets, Small
from treeplex.engines.boards.game import HoldemGame
from treeplex.games.holdem.classes import CLASSES, EVERY_BOARD


class HandRows(NamedTuple):
    """The hands of one player on all boards of a street, or on those of a texture."""

    first: Offsets  # [N] index of the number of the street's first action
    width: Offsets  # [N] distance to the number of the next action
    above: Offsets  # [N] index of the same hand on the street before; empty on the first street
    boards: Floats  # [N] number of boards that the hand's board represents; 0 where there is no hand
    board: Offsets  # [N] the number of the hand's board
    decision: Offsets  # [N] the number of the first decision on the hand's board
    number: Small  # [N] number of the hand among all 1,326; 1,326: no hand

    @property
    def first_and_width(self) -> tuple[Offsets, Offsets]:
        """``first`` and ``width`` as a pair."""
        return self.first, self.width

    def at(self, slot: int) -> Offsets:
        """Indices [N] of the numbers of an action."""
        return self.first + slot * self.width

    def actions(self, slot: int, count: int) -> Offsets:
        """Indices [actions, N] of the numbers of a decision."""
        return self.at(slot) + np.arange(count)[:, None] * self.width


def hand_rows(game: HoldemGame, player: int) -> dict[tuple[int, int], HandRows]:
    """Return the rows of all decisions of the game, by the number of streets before and the texture of the boards."""
    rows_by_texture: dict[tuple[int, int], HandRows] = {}
    among: dict[tuple[int, int], Offsets] = {}  # positions of a street's hands among those of a texture
    copies = np.ones(1)
    for depth, (street, level) in enumerate(zip(game.streets, game.boards, strict=True)):
        hands = level.hands[player]
        widths = np.diff(hands.start)
        board = np.repeat(np.arange(len(widths)), widths)
        position = np.arange(int(hands.start[-1])) - hands.start[board]
        above = np.zeros(0, np.int64)
        if depth:
            parent = np.array([deal.parent for deal in game.deals[depth]], dtype=np.int64)
            copies = copies[parent] * np.diff(level.image)
            map_start = hands.map_start[level.image[:-1]]  # map of the board itself: its first image
            over = game.boards[depth - 1].hands[player]
            above = over.start[parent][board] + hands.map[map_start[board] + position]
        count = np.where(position < hands.counts[board], copies[board], 0.0)
        every = HandRows(
            hands.storage[board] + position, widths[board], above, count, board, hands.decision[board], hands.number
        )
        for texture in {decision.texture for decision in street.decisions}:
            if texture == EVERY_BOARD:
                rows_by_texture[depth, texture] = every
                continue
            inside = np.flatnonzero(level.texture[board] == texture)
            rows = HandRows._make(array[inside] for array in every)
            over_texture = (depth - 1, texture // len(CLASSES))
            if over_texture in among:
                rows = rows._replace(above=among[over_texture][rows.above])
            rows_by_texture[depth, texture] = rows
            among[depth, texture] = np.zeros(len(board), np.int64)
            among[depth, texture][inside] = np.arange(len(inside))
    return rows_by_texture


def normalise(numbers: Floats) -> Floats:
    """Return strategies [actions, N] by regret matching; uniform where no number is positive."""
    positive = np.maximum(numbers, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), 1.0 / len(numbers))
