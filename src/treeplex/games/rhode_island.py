"""Rhode Island hold'em: poker with one private and two public cards, invented to be solved (Shi & Littman 2001).

Each player pays an ante of 5 and gets a card. There are three rounds of betting, with bets of 10, 20 and 20 and at most
three bets (a bet and two raises) in each. A public card is dealt after the first round and after the second. The best
three-card hand wins, and equal hands split the pot. Rules and ranking are those of Gilpin & Sandholm (2007) and of
their page about the game (cs.cmu.edu/~gilpin/gsi.html). The same player acts first in every round.

Their page says "3 raises". Their linear program has 91,224,226 columns: one per sequence of one player, one per infoset
of the other, and one more. This is the number for three bets, raises included.
"""

from __future__ import annotations

from typing import Final

from treeplex.errors import GameError
from treeplex.games.dealt import DealtGame
from treeplex.games.parameters import boolean, integer, title
from treeplex.games.poker import Card, Poker, Round, suited
from treeplex.games.suits import FoldedGame

RANKS: Final = "23456789TJQKA"
SUITS: Final = "shdc"

HIGH_CARD, PAIR, FLUSH, STRAIGHT, THREE_OF_A_KIND, STRAIGHT_FLUSH = range(6)

ROUNDS: Final = (Round((10.0,), 3), Round((20.0,), 3), Round((20.0,), 3))


def three_cards(card: Card, board: tuple[Card, ...]) -> tuple[int, ...]:
    """Strength of a hand of three cards or, before all public cards are dealt, rank of the private card.

    Hands are ordered by kind, then by the ranks that decide: of the straight's highest card, of the pair, or of the
    highest cards. An ace also begins the lowest straight, A23.
    """
    if len(board) < 2:
        return (card.rank,)
    cards = (card, *board)
    low, middle, high = ranks = sorted(one.rank for one in cards)
    flush = len({one.suit for one in cards}) == 1
    if low == high:
        return THREE_OF_A_KIND, low
    if middle in (low, high):
        return PAIR, middle, low if middle == high else high
    top = high if high - low == 2 else middle if (low, middle, high) == (0, 1, len(RANKS) - 1) else None
    if top is not None:
        return STRAIGHT_FLUSH if flush else STRAIGHT, top
    return FLUSH if flush else HIGH_CARD, *reversed(ranks)


def rhode_island(ranks: int = 13, suits: int = 4, whole: bool = False) -> FoldedGame | DealtGame:
    """Build Rhode Island hold'em: three rounds of limit betting, one private and two public cards, three-card hands.

    ``ranks``: from the two upward, so that only 13 ranks include aces. ``suits``: 1 to 4. Suit isomorphism merges cards
    that no strategy needs to distinguish, which loses nothing. With ``whole`` no cards are merged.
    """
    integer("ranks", ranks, 2, len(RANKS))
    integer("suits", suits, 1, len(SUITS))
    if ranks * suits < 4:
        raise GameError(f"ranks={ranks} and suits={suits} make {ranks * suits} cards; two hands and a board need four.")
    changed = {"ranks": ranks if ranks != 13 else None, "suits": suits if suits != 4 else None}
    deck = suited(RANKS[:ranks], SUITS[:suits])
    unfolded = Poker(
        title("rhode_island", **changed, whole=True),
        deck,
        ROUNDS,
        ante=5.0,
        ranking=three_cards,
    )
    if boolean("whole", whole):
        return DealtGame(unfolded)
    folded = Poker(title("rhode_island", **changed), deck, ROUNDS, ante=5.0, ranking=three_cards)
    return FoldedGame(folded, unfolded)
