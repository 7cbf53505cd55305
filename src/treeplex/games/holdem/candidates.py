"""Candidate sizes of the real game, from which growth chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.grown import with_classes
from treeplex.games.holdem.sizes import ALL_IN, Size, parse_candidates
from treeplex.games.holdem.spot import STREETS, Spot, sizes_for

BETS: Final = "20%, 33%, 50%, 75%, 100%, 150%, 200%, a"
RAISES: Final = "40%, 70%, 100%, 150%, a"
"""Default candidates; raises are fractions of the pot after the call."""

START_BETS: Final = "50%, a"
START_RAISES: Final = "a"
"""Sizes that growth starts with if a spot names none: one size and all-in. Without all-in on the menu, large bets
would be translated to small ones."""

ALL: Final = "all"


@dataclass(frozen=True)
class Offered:
    """Candidates on some streets; on the other streets the spot is not changed."""

    streets: tuple[int, ...]
    bets: tuple[Size, ...]
    raises: tuple[Size, ...]

    def __call__(self, street: int, player: int, raises: bool) -> tuple[Size, ...]:
        """Return the candidates of a decision, which are the same for both players."""
        return () if street not in self.streets else self.raises if raises else self.bets


def offered(spot: Spot, bets: str = "", raises: str = "", street: str = "") -> Offered:
    """Build the candidates of both players on one street, by default the first, or on ``"all"``; all-in is added."""
    if street not in ("", ALL, *spot.streets):
        legal = ", ".join((*spot.streets, ALL))
        raise ParameterError(f"The 'street' parameter must be one of {legal}, got {quoted(street)}.")
    streets = spot.streets if street == ALL else (street or spot.street,)
    all_in = (Size(ALL_IN),)
    first = dict.fromkeys(parse_candidates(bets or BETS, "bets", raises=False) + all_in)
    more = dict.fromkeys(parse_candidates(raises or RAISES, "raises", raises=True) + all_in)
    return Offered(tuple(STREETS.index(name) for name in streets), tuple(first), tuple(more))


def start_of(spot: Spot, by_class: bool = False) -> Spot:
    """Return the spot from which growth starts: its own menus, or few sizes if it names none.

    ``by_class`` adds board classes. All-ins are neither added, forced nor merged, so menus have only the sizes that
    were put there.
    """
    none = {"add_allin_threshold": 0.0, "force_allin_threshold": 0.0, "merging_threshold": 0.0}
    if by_class:
        if spot.street == STREETS[-1]:
            raise ParameterError(
                f"The 'by_class' parameter must be false on a river, where no card is to come, got {by_class!r};"
                " leave it out."
            )
        spot = with_classes(spot)
    if spot.has_default_sizes:
        return replace(spot, sizes=sizes_for(START_BETS, START_RAISES), **none)
    return replace(spot, **none)
