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
from treeplex.engines.boards.arrays import LANES, NO_CARD, Boards, Hands, Offsets
from treeplex.engines.boards.cpu.deal import count_hands, deal_hands, find_groups, find_same
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
    above = (_root(spot, 0), _root(spot, 1))
    storage, decisions = [0, 0], [0, 0]
    result: list[Boards] = []
    for depth, (street, level) in enumerate(zip(streets, levels, strict=True)):
        image = _starts([len(deal.images) for deal in level])
        river = street.name == "river"
        pair: list[Hands] = []
        strengths: list[Ints] = []
        for player in (0, 1):
            hands, strength = _hands(above[player], level, image, river)
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
        group_start = np.zeros(len(level) + 1, dtype=np.int64)
        group = np.zeros((int(pair[0].held.sum() + pair[1].held.sum()) if river else 0, 2), dtype=np.uint16)
        if river:
            groups = find_groups(pair[0], pair[1], strengths[0], strengths[1], group_start, group)
            group = group[:groups].copy()
        below = levels[depth + 1] if depth + 1 < len(levels) else []
        child = np.searchsorted(np.array([deal.parent for deal in below], dtype=np.int64), np.arange(len(level) + 1))
        above = (pair[0], pair[1])
        result.append(Boards(above, image, child.astype(np.int64), group_start, group))
    return result


def _root(spot: Spot, player: int) -> Hands:
    """The hands of a range, as if they were left by a board above the first one."""
    numbers = root_hands(spot, player)
    hands = _empty([len(numbers)], 0, 0)
    hands.number[: len(numbers)] = numbers
    hands.first[: len(numbers)] = HAND_CARDS[numbers, 0]
    hands.second[: len(numbers)] = HAND_CARDS[numbers, 1]
    return hands


def _hands(above: Hands, level: list[Deal], image: Offsets, by_strength: bool) -> tuple[Hands, Ints]:
    parent = np.array([deal.parent for deal in level], dtype=np.int64)
    card = np.array([deal.cards[-1] for deal in level], dtype=np.int64)
    board = np.array([deal.cards for deal in level], dtype=np.uint8)
    suits = np.array([suits for deal in level for suits in deal.images], dtype=np.int64)
    count = np.zeros(len(level), dtype=np.int32)
    count_hands(above, parent, card, count)
    width = padded(count)
    images = np.diff(image)
    hands = _empty(count.tolist(), int((width * images).sum()), int(image[-1]))
    hands.map_start[:] = _starts(np.repeat(width, images).tolist())
    strength = np.zeros(int(width.sum()) if by_strength else 0, dtype=np.int32)
    deal_hands(above, parent, card, board, image, suits, by_strength, hands, strength)
    return hands, strength


def padded(count: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Places for that many hands: whole vectors, with at least one place without a hand."""
    return (count.astype(np.int64) // LANES + 1) * LANES


def _empty(count: list[int], maps: int, images: int) -> Hands:
    counts = np.array(count, dtype=np.int32)
    start = _starts(padded(counts).tolist())
    size, boards = int(start[-1]), len(count)
    return Hands(
        start=start,
        held=counts,
        number=np.full(size, len(HAND_CARDS), dtype=np.uint16),
        first=np.full(size, NO_CARD, dtype=np.uint8),
        second=np.full(size, NO_CARD, dtype=np.uint8),
        same=np.zeros(size, dtype=np.uint16),
        storage=np.zeros(boards, dtype=np.int64),
        decision=np.zeros(boards, dtype=np.int64),
        map_start=np.zeros(images + 1, dtype=np.int64),
        map=np.zeros(maps, dtype=np.uint16),
    )


def _starts(sizes: list[int]) -> Offsets:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
