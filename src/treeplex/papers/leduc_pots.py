"""The Leduc extension behind Ju et al.'s Table 1: "5 card, 5 bet action, 1 len", 245,336 nodes.

The paper states no rules. Its authors' published code (github.com/Zealoter/CFVFP, ``GameLeduc5Pot``) has these: five
ranks, two cards each; both cards are dealt by one move of chance; the first player may fold, check or bet one of five
sizes (in the second round not fold); an opening bet is folded to or called; a check is followed by a check or a bet,
and that bet by a fold, a call or one raise of the same size or a larger one, which is then folded to or called. The
second round is begun by the player whose turn it is.

Differs from that code in: payoffs, where it takes back another amount at a fold than the bet was. Here both stake 2
and the bets they match, and a fold loses the folder's stake without the last bet; a fold at the very start costs 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from treeplex.games.dealt import WON, DealtGame, Settlement
from treeplex.games.poker import NO_CARD, Card, OneCard
from treeplex.games.protocol import CHANCE, TERMINAL

SIZES: Final = ((2.0, 4.0, 6.0, 8.0, 16.0), (4.0, 8.0, 16.0, 32.0, 64.0))
CHECK: Final = -1
CALL: Final = -2
FOLD: Final = -3


class Pot(NamedTuple):
    """A public state."""

    card: int
    player: int  # whose turn it is
    stake: float  # of both, without what is bet and not yet called
    line: tuple[int, ...]  # moves of this round: CHECK, CALL, FOLD or a size


@dataclass(frozen=True)
class LeducPots(OneCard):
    """Dealt rules."""

    deck: tuple[Card, ...] = tuple(Card(str(rank), rank, 2) for rank in range(5))
    together: bool = True
    separator: str = " "
    ranked: bool = False

    @property
    def name(self) -> str:
        """By the paper's words."""
        return f"leduc_pots(ranks={len(self.deck)})"

    def start(self) -> Pot:
        """Both have staked two."""
        return Pot(NO_CARD, 0, 2.0, ())

    def mover(self, public: Pot) -> int:
        """The players in turn; chance for the public card."""
        if FOLD in public.line or (self._over(public.line) and public.card != NO_CARD):
            return TERMINAL
        return CHANCE if self._over(public.line) else public.player

    def actions(self, public: Pot) -> Sequence[str]:
        """The public cards, or the moves."""
        return self._labels if self._over(public.line) else list(self._moves(public))

    def next(self, public: Pot, action: str) -> Pot:
        """The public card, or one move."""
        if self._over(public.line):
            return public._replace(card=self._labels.index(action), line=())
        move = self._moves(public)[action]
        stake = public.stake
        if public.line and public.line[-1] >= 0 and move != FOLD:  # a call, or a raise, matches the bet before it
            stake += self._sizes(public)[public.line[-1]]
        return public._replace(player=1 - public.player, stake=stake, line=(*public.line, move))

    def settle(self, public: Pot) -> Settlement:
        """A fold loses the stake; a showdown is for it."""
        if FOLD in public.line:
            amount = 1.0 if public.line == (FOLD,) and public.card == NO_CARD else public.stake
            return Settlement(amount if public.player == 0 else -amount, WON)
        return Settlement(public.stake, public.card)

    def _sizes(self, public: Pot) -> tuple[float, ...]:
        return SIZES[0 if public.card == NO_CARD else 1]

    def _over(self, line: tuple[int, ...]) -> bool:
        return CALL in line or line == (CHECK, CHECK)

    def _moves(self, public: Pot) -> dict[str, int]:
        sizes = self._sizes(public)
        bets = {f"bet{size:g}": k for k, size in enumerate(sizes)}
        match public.line:
            case ():
                fold = {"fold": FOLD} if public.card == NO_CARD else {}
                return fold | {"check": CHECK} | bets
            case (k,) if k == CHECK:
                return {"check": CHECK} | bets
            case (check, size) if check == CHECK:
                raises = {f"raise{more:g}": k for k, more in enumerate(sizes) if k >= size}
                return {"fold": FOLD, "call": CALL} | raises
            case _:
                return {"fold": FOLD, "call": CALL}


def leduc_pots() -> DealtGame:
    """The game of Table 1."""
    return DealtGame(LeducPots())
