"""The search for bet sizes as a problem: the spots, the restricted player, the number of sizes, the accuracy."""

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

ACCURACY: Final = 0.04  # NashConv of the rich and the restricted game, per cent of the pot
GAP: Final = 0.25  # per cent of the pot by which another menu may still be better
RESTRICT: Final = {"bets": ("bet",), "raises": ("raise",), "both": ("bet", "raise")}
PERCENT: Final = "per cent of the pot, more than 0 and at most 100"
LEAST: Final = 1e-300  # the smallest positive value

SpotFields = Spot | Mapping[str, Any]
"""A spot, or its fields as in a file."""


Menu = tuple[int, ...]
"""Indices of candidates, in order."""

Slot = tuple[str, str]
"""A street, and "bet" or "raise": where a menu applies."""


@dataclass(frozen=True)
class Candidates:
    """Sizes to choose from, for both players on some streets; the rest of a spot stays unchanged."""

    player: int  # restricted to a menu; the opponent keeps every candidate
    streets: tuple[str, ...]
    bets: tuple[str, ...]
    raises: tuple[str, ...]

    def of(self, slot: Slot) -> tuple[str, ...]:
        """Return the candidates of a slot."""
        return self.bets if slot[1] == "bet" else self.raises

    def spot(self, spot: Spot, menus: Mapping[Slot, Menu]) -> Spot:
        """Return the spot with all candidates and the player's menus. No threshold adds, forces or merges all-ins."""
        everything = {"bet": ", ".join(self.bets), "raise": ", ".join(self.raises)}
        sizes: dict[str, Any] = {street: dict(spot.sizes.get(street, {})) for street in spot.streets}
        for street in self.streets:
            menu_sizes = {
                kind: ", ".join(self.of((street, kind))[k] for k in menus[street, kind])
                for kind in everything
                if (street, kind) in menus
            }
            sizes[street] = {PLAYERS[self.player]: everything | menu_sizes, PLAYERS[1 - self.player]: everything}
        donks = {street: text for street, text in spot.donk_sizes.items() if street not in self.streets}
        no = {"add_allin_threshold": 0.0, "force_allin_threshold": 0.0, "merging_threshold": 0.0}
        return replace(spot, sizes=sizes, donk_sizes=donks, **no)

    def chips(self, spot: Spot, slot: Slot) -> list[float] | None:
        """Return the chips of each candidate on the first street of a spot, or None where they depend on the line."""
        if slot != (spot.street, "bet"):
            return None
        rich = self.spot(spot, {})
        each = [parse_sizes(text, "bets", raises=False) for text in self.bets]
        return [first_bets(rich, self.player, size)[0].amount for size in each]


def listed(text: str, name: str, *, raises: bool) -> tuple[str, ...]:
    """Return the candidates of a list, with all-in added if it is missing."""
    sizes = parse_sizes(text, name, raises=raises)
    parts = [part for part in text.replace(",", " ").replace(";", " ").split() if part]
    if not sizes or len(parts) != len(sizes):
        raise ParameterError(f"The '{name}' parameter must be sizes such as \"33%, 75%, a\", got {quoted(text)}.")
    return tuple(parts) if any(size.kind == ALL_IN for size in sizes) else (*parts, "a")


def distinct(chips: list[float], names: tuple[str, ...]) -> list[int]:
    """Return candidates that differ in chips, smallest first; among equal ones, all-in or the last one."""
    by_chips: dict[float, int] = {}
    for k in sorted(range(len(chips)), key=lambda k: is_all_in(names[k])):
        by_chips[chips[k]] = k
    return [by_chips[amount] for amount in sorted(by_chips)]


def is_all_in(name: str) -> bool:
    """Return whether a candidate is called all-in."""
    return parse_sizes(name, "size", raises=True)[0].kind == ALL_IN


@dataclass(frozen=True)
class SizeOptions:
    """Options of the search for bet sizes.

    ``keep``: number of sizes of the ``player``; the opponent keeps every candidate. ``lose``: choose the fewest sizes
    that lose at most this per cent of the pot, instead. ``street``: street of the candidates and the menu, by default
    the spots' first; "all": a menu per street. ``per_decision``: one menu per line, on the first street of one spot.
    ``counts``: also find the best menus of 1, 2, ... sizes, up to this number. ``accuracy``: NashConv of both games, in
    per cent of the pot. ``gap``: solve other menus until none can be better by more than this per cent of the pot.
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
    """The search for sizes on one spot, or on several that share the menu."""

    spots: tuple[Spot, ...]
    options: SizeOptions

    @staticmethod
    def of(spots: SpotFields | Sequence[SpotFields], options: SizeOptions) -> SizeSearch:
        """Return the search on a spot or a list of spots, or their fields; raise ``ParameterError`` for bad ones."""
        several = spots if isinstance(spots, list | tuple) else [cast(SpotFields, spots)]
        made = [spot if isinstance(spot, Spot) else make_spot(spot) for spot in several]
        if not made:
            raise ParameterError("The 'spots' parameter must name at least one spot.")
        if any(spot.rake(spot.pot) > 0.0 for spot in made):
            raise ParameterError(
                "The 'spots' parameter must have spots without rake: sizes are compared by game values, and with rake"
                " there is none."
            )
        if len({spot.street for spot in made}) > 1:
            raise ParameterError(
                "The 'spots' parameter must have spots that start on the same street, because they share a menu."
            )
        search = SizeSearch(tuple(made), replace(options, street=options.street or made[0].street))
        _ = search.candidates, search.slots
        if options.per_decision:
            search._check_per_decision()
        return search

    def _check_per_decision(self) -> None:
        """Raise ``ParameterError`` for menus by line with several spots or streets, or without a number of sizes."""
        options = self.options
        if len(self.spots) != 1 or options.lose is not None or options.street != self.spots[0].street:
            raise ParameterError(
                "The 'per_decision' parameter needs one spot, its first street, and a number of sizes to keep."
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
        """Streets and kinds where menus apply."""
        return [(street, kind) for street in self._streets for kind in RESTRICT[self.options.restrict]]

    @property
    def _streets(self) -> tuple[str, ...]:
        played = self.spots[0].streets
        return named("street", self.options.street, {**{each: (each,) for each in played}, "all": played})
