"""Goofspiel, the game of pure strategy: both players bid a card for each prize, and the higher bid takes it.

Rules. Two players hold the cards 1 to ``cards``, and so does the pile of prizes. Each turn one prize is up, both
players secretly bid a card, the higher bid wins the prize's points, equal bids discard it, and both cards are spent.
The last turn is forced, because one card is left in each hand and one prize on the pile. Simultaneous bids are modelled
as one player bidding after the other without seeing the bid.

The rules, the sizes and the payoffs are those of OpenSpiel's ``goofspiel`` made turn-based, with one difference. With
``imperfect=False`` OpenSpiel's information states omit the order in which cards were bid. Here they contain it, so that
players always have perfect recall.

Reference: S. M. Ross, "Goofspiel: the game of pure strategy", Journal of Applied Probability 8(3), 1971; the variant
that hides the bids is from M. Lanctot et al., "Monte Carlo sampling for regret minimization in extensive games", 2009.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treeplex.games.parameters import boolean, choice, integer, titled
from treeplex.games.protocol import CHANCE, TERMINAL


class OpenCards(NamedTuple):
    """The cards on the table in the order of play: row 1 + ``mover`` is the mover's, and chance lays the prizes."""

    prizes: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True)
class Goofspiel:
    """Goofspiel with ``cards`` cards per suit.

    ``order``: the prizes are "descending" or "ascending", known to all, or "random", turned up by chance each turn.
    ``imperfect``: after a turn the players learn only its winner, not the bid; otherwise they learn both.
    ``returns``: "win_loss" pays 1 to the player with more points. "point_difference" pays points above the players'
    mean, that is half of their difference, as OpenSpiel does.
    """

    cards: int = 4
    order: str = "descending"
    imperfect: bool = True
    returns: str = "win_loss"

    def __post_init__(self) -> None:
        integer("cards", self.cards, 2, 13)
        choice("order", self.order, ("descending", "ascending", "random"))
        boolean("imperfect", self.imperfect)
        choice("returns", self.returns, ("win_loss", "point_difference"))

    @property
    def name(self) -> str:
        """The game with its non-default parameters."""
        return titled("goofspiel", self)

    def root(self) -> OpenCards:
        """Return the history without bids; the prizes are open unless chance turns them up one by one."""
        up = range(1, self.cards + 1)
        prizes = {"random": (), "ascending": tuple(up), "descending": tuple(reversed(up))}[self.order]
        return OpenCards(prizes, (), ())

    def mover(self, history: OpenCards) -> int:
        """Return chance if a prize must be turned up, then player 0, then player 1."""
        prizes, first, second = history
        if len(second) == self.cards - 1:
            return TERMINAL
        if len(first) > len(second):
            return 1
        return CHANCE if len(prizes) == len(first) else 0

    def actions(self, history: OpenCards) -> Sequence[str]:
        """Return the cards in hand or, for chance, the prizes still on the pile."""
        return [str(card) for card in self._left(history[1 + self.mover(history)])]

    def probabilities(self, history: OpenCards) -> Sequence[float]:
        """Return equal probabilities for the remaining prizes."""
        left = self.cards - len(history.prizes)
        return [1 / left] * left

    def child(self, history: OpenCards, action: str) -> OpenCards:
        """Put the card on the table."""
        row = 1 + self.mover(history)
        return history._replace(**{OpenCards._fields[row]: (*history[row], int(action))})

    def infoset(self, history: OpenCards) -> str:
        """List ``prize:bid`` and the result of each turn (w, l, d, or the opponent's bid), then the current prize."""
        prizes, first, second = history
        own, other = (second, first) if len(first) > len(second) else (first, second)
        turns = [
            f"{prize}:{bid}{'dwl'[_sign(bid - opponent)]}" if self.imperfect else f"{prize}:{bid}-{opponent}"
            for prize, bid, opponent in zip(prizes, own, other, strict=False)
        ]
        return " ".join([*turns, f"{prizes[len(turns)]}:"])

    def payoff(self, history: OpenCards) -> float:
        """Play the last card of each suit, and count the points."""
        prizes, first, second = ((*played, *self._left(played)) for played in history)
        lead = sum(prize * _sign(a - b) for prize, a, b in zip(prizes, first, second, strict=True))
        return float(_sign(lead)) if self.returns == "win_loss" else lead / 2

    def _left(self, played: Collection[int]) -> list[int]:
        return [card for card in range(1, self.cards + 1) if card not in played]


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)
