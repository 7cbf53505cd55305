"""The search for bet sizes as a problem: the spots, who is held to how many sizes, and how exactly it must be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, cast

from treeplex.algorithms.options import named
from treeplex.errors import ParameterError, quoted, within
from treeplex.games.holdem.betting import first_bets
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.sizes import ALL_IN, parse_sizes
from treeplex.games.holdem.spot import PLAYERS, Spot, make_spot

ACCURACY: Final = 0.04  # NashConv of rich and kept game, per cent of the pot
GAP: Final = 0.25  # per cent of the pot by which another menu may be better
RESTRICT: Final = {"bets": ("bet",), "raises": ("raise",), "both": ("bet", "raise")}
PERCENT: Final = "per cent of the pot, more than 0 and at most 100"
LEAST: Final = 1e-300  # more than nothing

SpotFields = Spot | Mapping[str, Any]
"""A spot, or its fields as a file has them."""


Menu = tuple[int, ...]
"""Numbers of candidates, in order."""

Slot = tuple[str, str]
"""A street, and "bet" or "raise": where a menu applies."""


@dataclass(frozen=True)
class Candidates:
    """Sizes to choose from, for both players on some streets of spots that are otherwise as they are."""

    player: int  # who is held to a menu; the opponent keeps every candidate
    streets: tuple[str, ...]
    bets: tuple[str, ...]
    raises: tuple[str, ...]

    def of(self, slot: Slot) -> tuple[str, ...]:
        """The candidates of a slot."""
        return self.bets if slot[1] == "bet" else self.raises

    def spot(self, spot: Spot, menus: Mapping[Slot, Menu]) -> Spot:
        """The spot with all candidates, and menus for the player. Nothing adds, forces or merges all-ins."""
        everything = {"bet": ", ".join(self.bets), "raise": ", ".join(self.raises)}
        sizes: dict[str, Any] = {street: dict(spot.sizes.get(street, {})) for street in spot.streets}
        for street in self.streets:
            held = {
                kind: ", ".join(self.of((street, kind))[k] for k in menus[street, kind])
                for kind in everything
                if (street, kind) in menus
            }
            sizes[street] = {PLAYERS[self.player]: everything | held, PLAYERS[1 - self.player]: everything}
        donks = {street: text for street, text in spot.donk_sizes.items() if street not in self.streets}
        no = {"add_allin_threshold": 0.0, "force_allin_threshold": 0.0, "merging_threshold": 0.0}
        return replace(spot, sizes=sizes, donk_sizes=donks, **no)

    def chips(self, spot: Spot, slot: Slot) -> list[float] | None:
        """What each candidate is on the first street of a spot, where it does not depend on the line; else None."""
        if slot != (spot.street, "bet"):
            return None
        rich = self.spot(spot, {})
        each = [parse_sizes(text, "bets", raises=False) for text in self.bets]
        return [first_bets(rich, self.player, size)[0].amount for size in each]


def listed(text: str, name: str, *, raises: bool) -> tuple[str, ...]:
    """Candidates of a list, all-in among them."""
    sizes = parse_sizes(text, name, raises=raises)
    parts = [part for part in text.replace(",", " ").replace(";", " ").split() if part]
    if not sizes or len(parts) != len(sizes):
        raise ParameterError(f"The '{name}' parameter must be sizes such as \"33%, 75%, a\", got {quoted(text)}.")
    return tuple(parts) if any(size.kind == ALL_IN for size in sizes) else (*parts, "a")


def distinct(chips: list[float], names: tuple[str, ...]) -> list[int]:
    """Candidates that differ in chips, smallest first; of equal ones all-in, or the last named."""
    by_chips: dict[float, int] = {}
    for k in sorted(range(len(chips)), key=lambda k: is_all_in(names[k])):
        by_chips[chips[k]] = k
    return [by_chips[amount] for amount in sorted(by_chips)]


def is_all_in(name: str) -> bool:
    """Is a candidate called all-in?"""
    return parse_sizes(name, "size", raises=True)[0].kind == ALL_IN


@dataclass(frozen=True)
class SizeOptions:
    """What is asked about the sizes of spots.

    ``keep``: how many sizes the ``player`` may have, whose opponent keeps every candidate. ``lose``: instead, the
    fewest sizes that lose at most this per cent of the pot. ``street``: where candidates are and the menu applies, by
    default the spots' first; "all": a menu per street. ``per_decision``: one menu per line, on the first street of one
    spot. ``counts``: also the best menus of 1, 2, ... up to this number of sizes. ``accuracy``: NashConv of both games,
    in per cent of the pot. ``gap``: solve other menus until none can be better by more.
    """

    keep: int = 1
    lose: float | None = None
    player: str = PLAYERS[0]
    street: str | None = None
    bets: str = BETS
    raises: str = RAISES
    restrict: str = "bets"
    per_decision: bool = False
    counts: int = 0
    accuracy: float = ACCURACY
    gap: float = GAP

    def __post_init__(self) -> None:
        for name, least in (("keep", 1), ("counts", 0)):
            value = within(int, name, getattr(self, name), f"a whole number from {least}", least)
            object.__setattr__(self, name, value)
        for name in ("lose", "accuracy", "gap"):
            if name != "lose" or self.lose is not None:
                object.__setattr__(self, name, within(float, name, getattr(self, name), PERCENT, LEAST, 100.0))
        named("player", self.player, dict.fromkeys(PLAYERS))
        named("restrict", self.restrict, RESTRICT)
        object.__setattr__(self, "per_decision", bool(self.per_decision))


@dataclass(frozen=True)
class SizeSearch:
    """Which sizes matter on one spot, or on several that share the menu."""

    spots: tuple[Spot, ...]
    options: SizeOptions

    @staticmethod
    def of(spots: SpotFields | Sequence[SpotFields], options: SizeOptions) -> SizeSearch:
        """The search on a spot or a list of them, or of their fields; refuses what it cannot answer."""
        several = spots if isinstance(spots, list | tuple) else [cast(SpotFields, spots)]
        made = [spot if isinstance(spot, Spot) else make_spot(spot) for spot in several]
        if not made:
            raise ParameterError("The 'spots' parameter must name at least one spot.")
        if any(spot.rake(spot.pot) > 0.0 for spot in made):
            raise ParameterError(
                "Sizes are compared by the value of a game, and with rake there is none: leave out the rake."
            )
        if len({spot.street for spot in made}) > 1:
            raise ParameterError("Spots that share a menu must start on the same street.")
        search = SizeSearch(tuple(made), replace(options, street=options.street or made[0].street))
        _ = search.candidates, search.slots
        if options.per_decision:
            search._check_per_decision()
        return search

    def _check_per_decision(self) -> None:
        """Refuse menus by line where there are several spots or streets, or no number of sizes."""
        options = self.options
        if len(self.spots) != 1 or options.lose is not None or options.street != self.spots[0].street:
            raise ParameterError(
                "The 'per_decision' parameter is for one spot, its first street, and a number of sizes to keep."
            )

    @cached_property
    def candidates(self) -> Candidates:
        """The sizes to choose from."""
        options = self.options
        bets = listed(options.bets, "bets", raises=False)
        raises = listed(options.raises, "raises", raises=True)
        return Candidates(PLAYERS.index(options.player), self._streets, bets, raises)

    @property
    def slots(self) -> list[Slot]:
        """Where menus apply."""
        return [(street, kind) for street in self._streets for kind in RESTRICT[self.options.restrict]]

    @property
    def _streets(self) -> tuple[str, ...]:
        played = self.spots[0].streets
        return named("street", self.options.street, {**{each: (each,) for each in played}, "all": played})
