"""Poker with bets of any size: continuous Leduc hold'em, and finite games with a few of its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.errors import ParameterError, brief, quoted
from treeplex.files import parse_json
from treeplex.games.dealt import WON, DealtGame, Settlement
from treeplex.games.parameters import title
from treeplex.games.poker import NO_CARD, Card, OneCard, court
from treeplex.games.sized import Abstraction, ActionMenu, Menu, Sizes, interval_of

LOWEST: Final = 0.01  # of the pot
HIGHEST: Final = 1.0

BRANCHES: Final = {
    "branch-2": (LOWEST, HIGHEST),
    "branch-3": (LOWEST, 1 / 3, HIGHEST),
    "branch-5": (LOWEST, 1 / 7, 1 / 3, 3 / 5, HIGHEST),
}
"""The fixed abstractions of Brown & Sandholm (2015)."""


class ContinuousState(NamedTuple):
    """A public state of the betting."""

    street: int
    card: int  # the public card, or NO_CARD
    player: int  # player to act
    paid: float  # chips that the player to act has put in
    height: float  # chips that the opponent has put in
    bets: int  # number of bets and raises on this street
    checked: bool  # whether the previous player has checked
    status: str  # "betting", "dealing", "folded" (by the player before) or "showdown"


@dataclass(frozen=True)
class ContinuousPoker(OneCard):
    """Poker with one private card each, without stacks, in which a bet or raise may be any fraction of the pot.

    The fraction refers to the pot after a call. So a bet or raise of x, once called, multiplies each player's stake by
    1 + 2x. Player 0 acts first on every street.
    """

    name: str
    deck: tuple[Card, ...]
    streets: int = 2
    ante: float = 1.0
    limit: int = 2  # bets and raises per street
    low: float = LOWEST
    high: float = HIGHEST

    together: bool = False
    ranked: bool = False
    separator: str = " "
    payoff_scale: tuple[float, float] = (1.0, 2.0)

    def start(self) -> ContinuousState:
        """Return the state in which both players have paid the ante."""
        return ContinuousState(0, NO_CARD, 0, self.ante, self.ante, 0, False, "betting")

    def actions(self, public: ContinuousState) -> Sequence[str]:
        """Return fold and call after a bet, otherwise check; bets and raises have sizes and are not listed."""
        if public.status == "dealing":
            return self.hands()[0]
        return ("fold", "call") if public.bets else ("check",)

    def next(self, public: ContinuousState, action: str) -> ContinuousState:
        """Return the state after a move without a size, or after the public card."""
        other = 1 - public.player
        if public.status == "dealing":
            card = list(self.hands()[0]).index(action)
            return ContinuousState(public.street + 1, card, 0, public.paid, public.paid, 0, False, "betting")
        if action == "fold":
            return public._replace(player=other, status="folded")
        if action == "check" and not public.checked:
            return public._replace(player=other, checked=True)
        status = "showdown" if public.street + 1 == self.streets else "dealing"
        return public._replace(player=0, paid=public.height, status=status)

    def interval(self, public: ContinuousState) -> tuple[float, float] | None:
        """Return the interval of pot fractions, ``low`` to ``high``, while the street allows another bet."""
        return (self.low, self.high) if public.bets < self.limit else None

    def sized(self, public: ContinuousState, size: float) -> ContinuousState:
        """Return the state after a bet or raise of this fraction of the pot after a call."""
        height = public.height * (self.payoff_scale[0] + self.payoff_scale[1] * size)
        return public._replace(player=1 - public.player, paid=public.height, height=height, bets=public.bets + 1)

    def word(self, public: ContinuousState) -> str:
        """Return "bet", or "raise" if the street has a bet already."""
        return "raise" if public.bets else "bet"

    def street(self, public: ContinuousState) -> int:
        """Return 0 before the public card and 1 after it."""
        return public.street

    def settle(self, public: ContinuousState) -> Settlement:
        """Pay what the player who folded has put in, or at a showdown what each player has put in."""
        if public.status == "folded":
            return Settlement(public.paid * (1.0 if public.player == 0 else -1.0), WON)
        return Settlement(public.height, public.card)


def continuous_leduc_rules() -> ContinuousPoker:
    """Continuous Leduc hold'em (Brown & Sandholm 2015): by rank, ante 1, two streets, at most two bets per street."""
    return ContinuousPoker("continuous_leduc", court())


def continuous_leduc(sizes: str | Sizes = "branch-2") -> DealtGame:
    """Continuous Leduc hold'em with a choice of bet sizes, as fractions of the pot from 0.01 to 1.

    ``sizes`` is "branch-2", "branch-3" or "branch-5" of the paper, a list such as [0.01,0.5,1], or a list per street.
    It may also be lists by betting line, {"*": [0.01,1], "check": [0.01,0.5,1]}, where "*" stands for all other lines.
    A .json file, such as one written by ``treeplex grow``, may contain any of these.
    """
    rules = continuous_leduc_rules()
    name = title("continuous_leduc", sizes=None if sizes == "branch-2" else sizes)
    return DealtGame(Abstraction(rules, menu_of(rules, sizes), name))


def menu_of(rules: ActionMenu, sizes: str | Sizes) -> Menu:
    """Build the menu from a name or lists of sizes, checked against the interval at the start of the game."""
    interval = interval_of(rules, rules.start())
    low, high = interval or (LOWEST, HIGHEST)
    if isinstance(sizes, str):
        if sizes.endswith(".json"):
            return Menu.read(_from_file(sizes), low, high)
        if sizes not in BRANCHES:
            options = ", ".join(f'"{option}"' for option in BRANCHES)
            raise ParameterError(
                f"The 'sizes' parameter must be one of {options}, lists of sizes or a .json file, got {quoted(sizes)}."
            )
        sizes = BRANCHES[sizes]
    return Menu.read(sizes, low, high)


def _from_file(path: str) -> Any:
    try:
        return parse_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = brief(str(error))
        raise ParameterError(f"The 'sizes' parameter names {quoted(path)}, which cannot be read ({reason}).") from error
