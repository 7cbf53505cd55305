"""Labels of board textures and hand classes: paired, two-tone, ace-high; set, top pair, flush draw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.strength import CATEGORY, strengths
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HAND_CARDS, RANKS

SUITED: Final = ("rainbow", "two-tone", "three-suited", "four-suited")
PAIRED: Final = ("unpaired", "paired", "trips")
HIGH: Final = tuple(f"{rank}-high" for rank in reversed(RANKS))
CONNECTED: Final = ("connected", "disconnected")
TEXTURES: Final = (*SUITED, *PAIRED, *CONNECTED, *HIGH)
"""All words that select boards; a board has one of each row."""

CLASSES: Final = (
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "three of a kind",
    "two pair",
    "overpair",
    "top pair",
    "lower pair",
    "board's pair",
    "flush draw",
    "straight draw",
    "ace high",
    "nothing",
)
"""Classes of hands on a board, best first; a hand belongs to the first class that fits."""


def textures(board: Sequence[int]) -> tuple[str, ...]:
    """Return the words for a board of three to five cards.

    >>> from treeplex.games.holdem.cards import parse_board
    >>> textures(parse_board("Ks 8s 8d"))
    ('two-tone', 'paired', 'disconnected', 'K-high')
    """
    ranks, suits = [card // 4 for card in board], [card % 4 for card in board]
    alike = max(suits.count(suit) for suit in suits)
    often = max(ranks.count(rank) for rank in ranks)
    return (
        SUITED[min(alike, 4) - 1],
        PAIRED[min(often, 3) - 1],
        CONNECTED[0 if _straight_possible(ranks) else 1],
        f"{RANKS[max(ranks)]}-high",
    )


def check_textures(words: Sequence[str], name: str) -> None:
    """Raise ``ParameterError`` for a word that is not a texture."""
    for word in words:
        if word not in TEXTURES:
            raise ParameterError(f"The '{name}' parameter takes the words {', '.join(TEXTURES)}; got {quoted(word)}.")


def _straight_possible(ranks: Sequence[int]) -> bool:
    """Return whether two cards can make a straight with three of the board. An ace also counts below the two."""
    present = _with_low_ace(set(ranks))
    return any(len(present & set(range(low, low + 5))) >= 3 for low in range(-1, 9))


def _with_low_ace(ranks: set[int]) -> set[int]:
    return ranks | {-1} if 12 in ranks else ranks


def classes_on(board: Sequence[int]) -> Ints:
    """Return the class of each hand [1326] as an index into ``CLASSES``; -1 where it shares a card with the board."""
    cards = np.concatenate([HAND_CARDS, np.broadcast_to(np.array(board), (len(HAND_CARDS), len(board)))], axis=1)
    free = ~np.isin(HAND_CARDS, board).any(axis=1)
    category = strengths(cards) >> CATEGORY
    classes = np.full(len(cards), -1, np.int32)
    by_category = {8: 0, 7: 1, 6: 2, 5: 3, 4: 4, 3: 5, 2: 6}
    for hand in np.flatnonzero(free).tolist():
        made = by_category.get(int(category[hand]))
        classes[hand] = _unpaired_or_pair(hand, board, int(category[hand])) if made is None else made
    return classes


def _unpaired_or_pair(hand: int, board: Sequence[int], category: int) -> int:
    """Return the class of a hand that makes a pair or less."""
    high, low = (int(card) // 4 for card in HAND_CARDS[hand])
    ranks = sorted({card // 4 for card in board})
    if category == 1:
        if high == low:
            return CLASSES.index("overpair" if high > ranks[-1] else "lower pair")
        if high in ranks or low in ranks:
            return CLASSES.index("top pair" if ranks[-1] in (high, low) else "lower pair")
    draws = len(board) < 5
    if draws and _flush_draw(hand, board):
        return CLASSES.index("flush draw")
    if draws and _straight_draw({high, low}, set(ranks)):
        return CLASSES.index("straight draw")
    if category == 1:
        return CLASSES.index("board's pair")
    return CLASSES.index("ace high" if high == 12 else "nothing")


def _flush_draw(hand: int, board: Sequence[int]) -> bool:
    """Return whether a suit has four cards, at least one of them in the hand."""
    suits = [int(card) % 4 for card in HAND_CARDS[hand]]
    return any(suits.count(suit) + sum(card % 4 == suit for card in board) == 4 for suit in suits)


def _straight_draw(hand: set[int], board: set[int]) -> bool:
    """Return whether four of five ranks in a row are present, at least one of them only in the hand."""
    both, own = _with_low_ace(hand | board), _with_low_ace(hand - board)
    runs = [set(range(low, low + 5)) for low in range(-1, 9)]
    return any(len(both & run) == 4 and own & run for run in runs)


def alike_boards(board: Sequence[int]) -> int:
    """Return the number of boards that differ only by suits: 24, 12 or 4 for flops.

    >>> from treeplex.games.holdem.cards import parse_board
    >>> [alike_boards(parse_board(text)) for text in ("Ks 8h 4d", "Ks 8s 4d", "Ks 8s 4s", "Ks Kd 4s")]
    [24, 12, 4, 12]
    """
    return len({frozenset(card // 4 * 4 + suits[card % 4] for card in board) for suits in permutations(range(4))})
