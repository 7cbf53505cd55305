"""Classes of the next card, by which menus may differ.

The class of a card, given the board before it, is the first of these that applies:

- ``flush``: with it the board has three or more cards of its suit;
- ``pair``: its rank is already on the board;
- ``over``: it is higher than every card of the board before;
- ``other``.

Exchanging suits does not change classes, so cards that are dealt as one have the same class.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import permutations
from typing import Final

from treeplex.games.holdem.cards import CARDS

CLASSES: Final = ("flush", "pair", "over", "other")

FLUSH: Final = 3  # cards of a suit on the board with which two more make a flush

EVERY_BOARD: Final = -1
"""Texture of data that are equal on all boards."""

Classes = tuple[str, ...]
"""Classes of the cards dealt since the start of a spot, first to last."""


def class_of(board: tuple[int, ...], card: int) -> str:
    """Return the class of a card that is dealt to a board.

    >>> from treeplex.games.holdem.cards import parse_board, parse_card
    >>> [class_of(parse_board("Ks 9h 6d 2h"), parse_card(card)) for card in ("9h", "Kc", "As", "Qc")]
    ['flush', 'pair', 'over', 'other']
    """
    if sum(other % 4 == card % 4 for other in board) >= FLUSH - 1:
        return "flush"
    ranks = [other // 4 for other in board]
    return "pair" if card // 4 in ranks else "over" if card // 4 > max(ranks) else "other"


def classes_of(board: tuple[int, ...], dealt: int) -> Classes:
    """Return the classes of the last ``dealt`` cards of a board."""
    return tuple(class_of(board[:before], board[before]) for before in range(len(board) - dealt, len(board)))


def texture_of(classes: Classes) -> int:
    """Number of the classes of the cards dealt since the start; the boards below texture n have 4 n + k."""
    number = 0
    for name in classes:
        number = len(CLASSES) * number + CLASSES.index(name)
    return number


def whatever_after(texture: int) -> int:
    """Map a texture to the negative number of data that are equal for all next cards; the map is its own inverse.

    >>> whatever_after(whatever_after(3))
    3
    """
    return EVERY_BOARD - 1 - texture


@lru_cache(maxsize=64)
def boards_by_class(board: tuple[int, ...], dealt: int) -> Counter[Classes]:
    """Count the boards after ``dealt`` more cards, in order of the deal and in all suits, by their classes."""
    cards = (card for card in range(CARDS) if card not in board)
    return Counter(classes_of((*board, *more), dealt) for more in permutations(cards, dealt))


@lru_cache(maxsize=64)
def following(board: tuple[int, ...], before: Classes) -> Classes:
    """Return the possible classes of the next card, on any board with cards of the classes ``before``."""
    known = boards_by_class(board, len(before) + 1)
    return tuple(name for name in CLASSES if (*before, name) in known)
