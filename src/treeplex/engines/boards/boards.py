"""Boards of every street up to suit isomorphism, and both players' hands on them.

A symmetry of a board is a change of suits that changes neither the board nor a range. Usually it exchanges two suits.
With ranges that distinguish some suits, it may be a cycle of three or two exchanges at once. Of the turn or river cards
that symmetries map to each other, only one is dealt, and it counts for all of them. Values of the others follow by
changing suits in the hands. Below a card, the symmetries that remain are those that do not change it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import permutations
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.engines.boards.arrays import Boards, Hands, Offsets
from treeplex.engines.boards.hands import deal_hands, find_back, find_groups, find_same, first_hands, starts
from treeplex.engines.boards.streets import Span, Street
from treeplex.games.holdem.cards import CARDS, HAND_CARDS, hand_numbers
from treeplex.games.holdem.classes import CLASSES, EVERY_BOARD, class_of
from treeplex.games.holdem.spot import Spot

Suits = tuple[int, int, int, int]
"""The suit that each suit becomes."""

SAME: Suits = (0, 1, 2, 3)


class Deal(NamedTuple):
    """A board with its images and symmetries."""

    cards: tuple[int, ...]
    parent: int  # its number on the street before
    images: tuple[Suits, ...]  # the identity, and every change of suits that leads to a board it represents
    symmetries: tuple[Suits, ...]  # changes of suits that change nothing, those of the fewest suits first
    texture: int = 0  # number of the classes of the cards dealt since the start


class StoredBoard(NamedTuple):
    """The stored board that represents a board."""

    depth: int  # streets dealt since the start
    board: int  # number among the stored boards of that street
    suits: Suits  # the suit on the stored board of each suit


def stored_board(levels: list[list[Deal]], cards: tuple[int, ...]) -> StoredBoard:
    """Return the board that represents ``cards``, which begin with those of the spot."""
    at = StoredBoard(0, 0, SAME)
    for card in cards[len(levels[0][0].cards) :]:
        at = _below(levels[at.depth + 1], at, card)
    return at


def _below(level: list[Deal], at: StoredBoard, card: int) -> StoredBoard:
    """Return the stored board below another one on which ``card`` is dealt."""
    stored = card // 4 * 4 + at.suits[card % 4]
    for board in range(bisect_left(level, at.board, key=attrgetter("parent")), len(level)):
        back = _image(level[board], stored)
        if back is not None:
            first, second, third, fourth = (back[suit] for suit in at.suits)
            return StoredBoard(at.depth + 1, board, (first, second, third, fourth))
    raise LookupError(f"No board has the card {card}.")


def _image(deal: Deal, card: int) -> Suits | None:
    """Return the change of suits that maps ``card``, of the board or an image, back to the board's last card."""
    last = deal.cards[-1]
    for suits in deal.images:
        if last // 4 == card // 4 and suits[last % 4] == card % 4:
            return suits.index(0), suits.index(1), suits.index(2), suits.index(3)
    return None


def deal_streets(spot: Spot, streets: int, isomorphic: bool = True) -> list[list[Deal]]:
    """Deal the boards of every street that is played."""
    levels = [[Deal(spot.cards, 0, (SAME,), _symmetries(spot) if isomorphic else (SAME,))]]
    for _ in range(streets - 1):
        level: list[Deal] = []
        for parent, above in enumerate(levels[-1]):
            level.extend(_children(parent, above))
        levels.append(level)
    return levels


def _children(parent: int, above: Deal) -> list[Deal]:
    deals: list[Deal] = []
    for card in range(CARDS):
        # of several changes that lead to a card, the one of the fewest suits
        images = {_change_suit(card, suits): suits for suits in reversed(above.symmetries)}
        if card not in above.cards and card == min(images):
            left = tuple(suits for suits in above.symmetries if suits[card % 4] == card % 4)
            texture = len(CLASSES) * above.texture + CLASSES.index(class_of(above.cards, card))
            deals.append(Deal((*above.cards, card), parent, tuple(images[at] for at in sorted(images)), left, texture))
    return deals


def _symmetries(spot: Spot) -> tuple[Suits, ...]:
    """Symmetries of the spot, by the number of suits that they change."""
    symmetries: list[Suits] = [
        suits
        for suits in permutations(SAME, 4)
        if {_change_suit(card, suits) for card in spot.cards} == set(spot.cards)
        and all(_symmetric(spot.weights(player), np.array(suits)) for player in (0, 1))
    ]
    return tuple(sorted(symmetries, key=lambda suits: sum(suit != k for k, suit in enumerate(suits))))


def _change_suit(card: int, suits: Suits) -> int:
    return card // 4 * 4 + suits[card % 4]


def _symmetric(weights: Floats, suits: npt.NDArray[np.int64]) -> bool:
    swapped = hand_numbers(HAND_CARDS // 4 * 4 + suits[HAND_CARDS % 4])
    return bool(np.array_equal(weights, weights[swapped]))


def root_hands(spot: Spot, player: int) -> Ints:
    """Numbers of a player's hands at the start."""
    return np.flatnonzero(spot.weights(player) > 0.0).astype(np.int32)


def board_arrays(spot: Spot, streets: list[Street], levels: list[list[Deal]]) -> list[Boards]:
    """Build the arrays of both players' hands on every board, street by street."""
    above = (first_hands(root_hands(spot, 0)), first_hands(root_hands(spot, 1)))
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
            if depth == 1:
                hands = hands._replace(back=find_back(np.full(len(suits), above[player].start[-1]), image, hands))
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
        texture = np.array([deal.texture for deal in level], dtype=np.int64)
        result.append(Boards(above, image, child.astype(np.int64), group_start, group, texture))
    return lay_out_storage(streets, result)


def open_spans(street: Street, player: int, texture: Offsets) -> Offsets:
    """Return [B, 4] the ``Span`` that is open for ``player`` on each board of a street."""
    known = street.spans(player)
    if EVERY_BOARD in known:
        return np.tile(np.array(known[EVERY_BOARD], dtype=np.int64), (len(texture), 1))
    textures, board = np.unique(texture, return_inverse=True)
    spans = [known.get(each, Span()) for each in textures.tolist()]
    return np.array(spans, dtype=np.int64).reshape(-1, len(Span._fields))[board]


def lay_out_storage(streets: list[Street], boards: list[Boards]) -> list[Boards]:
    """Return the same boards with offsets of regrets and decisions for a betting tree, one board after the other."""
    storage, decisions = [0, 0], [0, 0]
    result: list[Boards] = []
    for street, level in zip(streets, boards, strict=True):
        pair: list[Hands] = []
        for player, hands in enumerate(level.hands):
            width, (slot, slots, number, count) = np.diff(hands.start), open_spans(street, player, level.texture).T
            rows = width * slots
            storage_start, decision_start = (
                storage[player] + np.cumsum(rows) - rows,
                decisions[player] + np.cumsum(count) - count,
            )
            pair.append(hands._replace(storage=storage_start - slot * width, decision=decision_start - number))
            storage[player] += int(rows.sum())
            decisions[player] += int(count.sum())
        result.append(level._replace(hands=(pair[0], pair[1])))
    return result
