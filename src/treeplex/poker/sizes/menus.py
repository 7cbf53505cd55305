"""Candidates for bet sizes, and spots in which one player is held to a menu of some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import first_bets
from treeplex.games.holdem.sizes import ALL_IN, parse_sizes
from treeplex.games.holdem.spot import PLAYERS, Spot

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
