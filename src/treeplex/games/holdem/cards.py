"""Cards and hands as integers: card 4 * rank + suit, hands of two cards in one fixed order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from treeplex.errors import ParameterError, quoted

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
CARDS: Final = 52
HANDS: Final = CARDS * (CARDS - 1) // 2

_FIRST, _SECOND = np.triu_indices(CARDS, 1)
HAND_CARDS: Final[npt.NDArray[np.int64]] = np.stack([_SECOND, _FIRST], axis=1)  # [1326, 2], the higher card first

_SIGNS: Final = str.maketrans(
    {**dict.fromkeys("♣♧", "c"), **dict.fromkeys("♦♢", "d"), **dict.fromkeys("♥♡", "h"), **dict.fromkeys("♠♤", "s")}
    | {"\ufe0e": "", "\ufe0f": ""}  # variation selectors, which choose between text and picture
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_BETWEEN: Final = re.compile(r"[\s,;/|-]+")


def hand_number(first: int, second: int) -> int:
    """Index in ``HAND_CARDS`` of the hand of two cards."""
    low, high = min(first, second), max(first, second)
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


def hand_numbers(cards: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Compute ``hand_number`` of many hands [..., 2] at once."""
    low, high = cards.min(axis=-1), cards.max(axis=-1)
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


def card_name(card: int) -> str:
    """Return rank and suit of a card as text.

    >>> card_name(51)
    'As'
    """
    return RANKS[card // 4] + SUITS[card % 4]


@cache
def hand_name(hand: int) -> str:
    """Return both cards as text, the higher one first.

    >>> hand_name(hand_number(0, 51))
    'As2c'
    """
    return "".join(card_name(int(card)) for card in HAND_CARDS[hand])


def plain(text: str) -> str:
    """Replace suit signs by letters, and every kind of dash by a hyphen.

    >>> plain("K♠–9♥")
    'Ks-9h'
    """
    return text.translate(_SIGNS)


def parse_card(text: str) -> int:
    """Return the number of a card such as ``Ks``, ``K♠``, ``10h``."""
    card = plain(text).strip().replace("10", "T")
    if len(card) != 2 or card[0].upper() not in RANKS or card[1].lower() not in SUITS:
        raise ParameterError(f"A card is a rank of {RANKS} and a suit of {SUITS}, such as Ks; got {quoted(text)}.")
    return 4 * RANKS.index(card[0].upper()) + SUITS.index(card[1].lower())


def parse_board(board: object) -> tuple[int, ...]:
    """Parse the three, four or five cards of a board, as a list, or as text with or without separators.

    >>> [card_name(card) for card in parse_board("10d9d 6h")]
    ['Td', '9d', '6h']
    """
    if isinstance(board, str):
        joined = _BETWEEN.sub("", plain(board)).replace("10", "T")
        parts = [joined[at : at + 2] for at in range(0, min(len(joined), 20), 2)]
    else:
        listed = list(cast(Sequence[object], board)) if isinstance(board, list | tuple) else [board]
        parts = [part for part in listed[:10] if isinstance(part, str)]
        if len(parts) < len(listed[:10]):
            raise ParameterError(
                f"The 'board' parameter must be text such as \"Ks 9h 6d\", or a list of cards, got {quoted(listed)}."
            )
    cards = tuple(parse_card(part) for part in parts)
    if not 3 <= len(cards) <= 5:
        raise ParameterError(
            f"The 'board' parameter must have 3, 4 or 5 cards, got {len(cards)} in {quoted(' '.join(parts))}."
        )
    for card in cards:
        if cards.count(card) > 1:
            raise ParameterError(f"The 'board' parameter must not hold a card twice, got {card_name(card)} twice.")
    return cards
