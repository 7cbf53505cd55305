"""The Leduc extensions of Ju et al. (2023): "5 card, 5 bet action, 1 len" of Table 1 and "14-Card 1-Action 1-Len".

The paper states no rules. Its authors' published code (github.com/Zealoter/CFVFP, ``GameLeduc5Pot``) has these. The
deck has two cards per rank, and one move of chance deals both cards. The first player may fold, check or bet one of
several sizes (in the second round not fold). The reply to an opening bet is a fold or a call. The reply to a check is a
check or a bet, and the reply to that bet is a fold, a call, or one raise of the same or a larger size, which is then
folded to or called. The player whose turn it is begins the second round. With ``open_raise`` an opening bet may also be
raised (``GameLeduc``, which has one size). Both players stake 2 and the bets they match. A fold loses the folder's
stake without the last bet, and a fold at the very start costs 1.

``folds="published"`` has the payoffs of that code: after a fold in the first round it takes back 8, 16 and 32 for bets
of 6, 8 and 16, so that a player who folds to the larger two is paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from treeplex.games.dealt import WON, DealtGame, Settlement
from treeplex.games.parameters import boolean, choice, integer, title
from treeplex.games.poker import NO_CARD, Card, OneCard
from treeplex.games.protocol import CHANCE, TERMINAL

SIZES: Final = ((2.0, 4.0, 6.0, 8.0, 16.0), (4.0, 8.0, 16.0, 32.0, 64.0))
PUBLISHED: Final = (2.0, 4.0, 8.0, 16.0, 32.0)  # amounts that the authors' code takes back for bets of the first round
FOLDS: Final = ("matched", "published")
CHECK: Final = -1
CALL: Final = -2
FOLD: Final = -3


class PotsState(NamedTuple):
    """A public state of the betting."""

    card: int
    player: int  # player to act
    stake: float  # stake of each player, without a bet that is not yet called
    line: tuple[int, ...]  # moves of this round: CHECK, CALL, FOLD or a size


@dataclass(frozen=True)
class LeducPots(OneCard):
    """Dealt rules of the Leduc extensions."""

    name: str
    deck: tuple[Card, ...]
    bets: int  # number of sizes
    open_raise: bool
    published: bool  # pay folds as the authors' code does
    together: bool = True
    separator: str = " "
    ranked: bool = False

    def start(self) -> PotsState:
        """Return the state in which both players have staked two."""
        return PotsState(NO_CARD, 0, 2.0, ())

    def mover(self, public: PotsState) -> int:
        """Return the players in turn, and chance for the public card."""
        if FOLD in public.line or (self._over(public.line) and public.card != NO_CARD):
            return TERMINAL
        return CHANCE if self._over(public.line) else public.player

    def actions(self, public: PotsState) -> Sequence[str]:
        """Return the public cards, or the moves."""
        return self._labels if self._over(public.line) else list(self._moves(public))

    def next(self, public: PotsState, action: str) -> PotsState:
        """Return the state after the public card, or after one move."""
        if self._over(public.line):
            return public._replace(card=self._labels.index(action), line=())
        move = self._moves(public)[action]
        stake = public.stake
        if public.line and public.line[-1] >= 0 and move != FOLD:  # a call, or a raise, matches the bet before it
            stake += self._sizes(public)[public.line[-1]]
        return public._replace(player=1 - public.player, stake=stake, line=(*public.line, move))

    def settle(self, public: PotsState) -> Settlement:
        """Pay the stake at a showdown, or after a fold."""
        if FOLD in public.line:
            amount = 1.0 if public.line == (FOLD,) and public.card == NO_CARD else public.stake
            if self.published and public.card == NO_CARD and len(public.line) > 1:
                size = public.line[-2]
                amount += self._sizes(public)[size] - PUBLISHED[size]
            return Settlement(amount if public.player == 0 else -amount, WON)
        return Settlement(public.stake, (public.card,))

    def _sizes(self, public: PotsState) -> tuple[float, ...]:
        return SIZES[0 if public.card == NO_CARD else 1][: self.bets]

    def _over(self, line: tuple[int, ...]) -> bool:
        return CALL in line or line == (CHECK, CHECK)

    def _moves(self, public: PotsState) -> dict[str, int]:
        sizes = self._sizes(public)
        bets = {f"bet{size:g}": k for k, size in enumerate(sizes)}
        match public.line:
            case ():
                fold = {"fold": FOLD} if public.card == NO_CARD else {}
                return fold | {"check": CHECK} | bets
            case (k,) if k == CHECK:
                return {"check": CHECK} | bets
            case (*before, size) if before == [CHECK] or (self.open_raise and not before):
                raises = {f"raise{more:g}": k for k, more in enumerate(sizes) if k >= size}
                return {"fold": FOLD, "call": CALL} | raises
            case _:
                return {"fold": FOLD, "call": CALL}


def leduc_pots(ranks: int = 5, bets: int = 5, open_raise: bool = False, folds: str = "matched") -> DealtGame:
    """Build the game of Table 1 or, with 14 ranks, one bet and ``open_raise``, that of Figure 2."""
    ranks, bets = integer("ranks", ranks, 2, 10**4), integer("bets", bets, 1, len(SIZES[0]))
    published = choice("folds", folds, FOLDS) == "published"
    name = title(
        "leduc_pots",
        ranks=None if ranks == 5 else ranks,
        bets=None if bets == len(SIZES[0]) else bets,
        open_raise=True if boolean("open_raise", open_raise) else None,
        folds=folds if published else None,
    )
    deck = tuple(Card(str(rank), rank, 2) for rank in range(ranks))
    return DealtGame(LeducPots(name, deck, bets, open_raise, published))
