"""Cards and hands as whole numbers: card 4 * rank + suit, hands of two cards numbered in one fixed order."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.errors import ParameterError

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
CARDS: Final = 52
HANDS: Final = CARDS * (CARDS - 1) // 2

_FIRST, _SECOND = np.triu_indices(CARDS, 1)
HAND_CARDS: Final[npt.NDArray[np.int64]] = np.stack([_SECOND, _FIRST], axis=1)  # [1326, 2], the higher card first


def hand_number(first: int, second: int) -> int:
    """Where the hand of these two cards stands in ``HAND_CARDS``."""
    low, high = min(first, second), max(first, second)
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


def hand_numbers(cards: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``hand_number`` of many hands [..., 2] at once."""
    low, high = cards.min(axis=-1), cards.max(axis=-1)
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


def card_name(card: int) -> str:
    """Rank and suit.

    >>> card_name(51)
    'As'
    """
    return RANKS[card // 4] + SUITS[card % 4]


def hand_name(hand: int) -> str:
    """Both cards, the higher one first.

    >>> hand_name(hand_number(0, 51))
    'As2c'
    """
    return "".join(card_name(int(card)) for card in HAND_CARDS[hand])


def parse_card(text: str) -> int:
    """The number of a card such as ``Ks``."""
    if len(text) != 2 or text[0].upper() not in RANKS or text[1].lower() not in SUITS:
        raise ParameterError(f"A card is a rank of {RANKS} and a suit of {SUITS}, such as Ks; got {text!r}.")
    return 4 * RANKS.index(text[0].upper()) + SUITS.index(text[1].lower())


def parse_board(text: object) -> tuple[int, ...]:
    """The cards of a board: three, four or five, with or without spaces.

    >>> [card_name(card) for card in parse_board("Td9d 6h")]
    ['Td', '9d', '6h']
    """
    if not isinstance(text, str):
        raise ParameterError(f"The 'board' parameter must be text such as \"Ks 9h 6d\", got {text!r}.")
    joined = "".join(text.replace(",", " ").split())
    cards = tuple(parse_card(joined[at : at + 2]) for at in range(0, len(joined), 2))
    if not 3 <= len(cards) <= 5:
        raise ParameterError(f"The 'board' parameter must have 3, 4 or 5 cards, got {len(cards)} in {text!r}.")
    for card in cards:
        if cards.count(card) > 1:
            raise ParameterError(f"The 'board' parameter must not hold a card twice, got {card_name(card)} twice.")
    return cards
