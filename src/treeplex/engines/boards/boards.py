"""Boards of every street up to suit isomorphism, and both players' hands on them.

Two suits are alike on a board if exchanging them changes neither the board nor a range. A turn or river card is dealt
in one of several suits that are alike, and counted once for each of them: values of the others are found by
exchanging suits in the hands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.engines.boards.arrays import Boards, Hands
from treeplex.engines.boards.hands import deal_hands, find_groups, find_same, first_hands, starts
from treeplex.engines.boards.streets import Street
from treeplex.games.holdem.cards import CARDS, HAND_CARDS, hand_numbers
from treeplex.games.holdem.spot import Spot

Suits = tuple[int, int, int, int]
"""What each suit becomes."""

SAME: Suits = (0, 1, 2, 3)


class Deal(NamedTuple):
    """A board."""

    cards: tuple[int, ...]
    parent: int  # on the street before
    images: tuple[Suits, ...]  # itself, and every change of suits that makes a board it stands for
    alike: tuple[tuple[int, ...], ...]  # classes of suits that are still alike, lowest suit first


def deal_streets(spot: Spot, streets: int, isomorphic: bool = True) -> list[list[Deal]]:
    """The boards of every street that is played."""
    levels = [[Deal(spot.cards, 0, (SAME,), _alike(spot) if isomorphic else ())]]
    for _ in range(streets - 1):
        level: list[Deal] = []
        for parent, above in enumerate(levels[-1]):
            level.extend(_children(parent, above))
        levels.append(level)
    return levels


def _children(parent: int, above: Deal) -> list[Deal]:
    deals: list[Deal] = []
    for card in range(CARDS):
        suit = card % 4
        if card in above.cards or any(suit in suits[1:] for suits in above.alike):
            continue  # dealt already, or stands for the same card of a lower suit
        images = [SAME] + [_swap(suit, other) for suits in above.alike if suits[0] == suit for other in suits[1:]]
        left = (tuple(other for other in suits if other != suit) for suits in above.alike)
        alike = tuple(suits for suits in left if len(suits) > 1)
        deals.append(Deal((*above.cards, card), parent, tuple(images), alike))
    return deals


def _alike(spot: Spot) -> tuple[tuple[int, ...], ...]:
    """Classes of suits that can be exchanged, of at least two."""
    classes: list[list[int]] = []
    for suit in range(4):
        for known in classes:
            suits = np.array(_swap(known[0], suit))
            swapped = {card // 4 * 4 + int(suits[card % 4]) for card in spot.cards}
            if swapped == set(spot.cards) and all(_symmetric(spot.weights(player), suits) for player in (0, 1)):
                known.append(suit)
                break
        else:
            classes.append([suit])
    return tuple(tuple(suits) for suits in classes if len(suits) > 1)


def _symmetric(weights: Floats, suits: npt.NDArray[np.int64]) -> bool:
    swapped = hand_numbers(HAND_CARDS // 4 * 4 + suits[HAND_CARDS % 4])
    return bool(np.array_equal(weights, weights[swapped]))


def _swap(low: int, high: int) -> Suits:
    suits = list(SAME)
    suits[low], suits[high] = high, low
    return suits[0], suits[1], suits[2], suits[3]


def root_hands(spot: Spot, player: int) -> Ints:
    """The numbers of a player's hands at the start."""
    return np.flatnonzero(spot.weights(player) > 0.0).astype(np.int32)


def board_arrays(spot: Spot, streets: list[Street], levels: list[list[Deal]]) -> list[Boards]:
    """Hands of both players on every board, street by street."""
    above = (first_hands(root_hands(spot, 0)), first_hands(root_hands(spot, 1)))
    storage, decisions = [0, 0], [0, 0]
    result: list[Boards] = []
    for depth, (street, level) in enumerate(zip(streets, levels, strict=True)):
        image = starts(np.array([len(deal.images) for deal in level]))
        parent = np.array([deal.parent for deal in level], dtype=np.int64)
        cards = np.array([deal.cards for deal in level], dtype=np.uint8)
        suits = np.array([suits for deal in level for suits in deal.images], dtype=np.int64)
        river = street.name == "river"
        pair: list[Hands] = []
        strengths: list[Ints] = []
        for player in (0, 1):
            hands, strength = deal_hands(above[player], parent, cards, image, suits, river)
            slots, count = street.slots(player), street.count(player)
            rows = np.diff(hands.start) * slots
            hands.storage[:] = storage[player] + np.cumsum(rows) - rows
            hands.decision[:] = decisions[player] + count * np.arange(len(level))
            storage[player] += int(rows.sum())
            decisions[player] += count * len(level)
            pair.append(hands)
            strengths.append(strength)
        find_same(pair[0], pair[1])
        find_same(pair[1], pair[0])
        group_start, group = np.zeros(len(level) + 1, dtype=np.int64), np.zeros((0, 2), dtype=np.uint16)
        if river:
            group_start, group = find_groups((pair[0], pair[1]), (strengths[0], strengths[1]))
        below = levels[depth + 1] if depth + 1 < len(levels) else []
        child = np.searchsorted(np.array([deal.parent for deal in below], dtype=np.int64), np.arange(len(level) + 1))
        above = (pair[0], pair[1])
        result.append(Boards(above, image, child.astype(np.int64), group_start, group))
    return result
