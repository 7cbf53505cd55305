"""Parts of a spot for writers: its ranges, and its amounts in whole chips, as other programs require."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from treeplex.arrays import Floats
from treeplex.games.holdem.money import format_amount, ratio
from treeplex.games.holdem.ranges import format_range, parse_range
from treeplex.games.holdem.spot import Spot

_CHIPS = re.compile(r"([0-9.]+)(?= ?c\b)")
_AMOUNT = re.compile(r"[0-9.]+")


def in_chips(spot: Spot) -> tuple[Spot, tuple[str, ...]]:
    """Convert the amounts of a spot to chips, and return it with a note about this."""
    if spot.chip == 1:
        return spot, ()

    def chips(match: re.Match[str]) -> str:
        return str(spot.chips(float(match[0])))

    def counted(menus: Mapping[str, str]) -> dict[str, str]:
        return {key: _CHIPS.sub(chips, text) for key, text in menus.items()}

    whole = replace(
        spot,
        chip=1,
        pot=spot.chips(spot.pot),
        effective_stack=spot.chips(spot.effective_stack),
        sizes={street: {who: counted(menu) for who, menu in table.items()} for street, table in spot.sizes.items()},
        donk_sizes=counted(spot.donk_sizes),
        line_sizes={_AMOUNT.sub(chips, line): text for line, text in counted(spot.line_sizes).items()},
        rake_cap=None if spot.rake_cap is None else ratio(spot.rake_cap, spot.chip),
    )
    return whole, (
        f"amounts are counted in chips of {format_amount(spot.chip)}:"
        f" the pot of {format_amount(spot.pot)} is {whole.pot}",
    )


def range_weights(spot: Spot, player: int) -> Floats:
    """[1326] a player's range as entered, including hands that share a card with the board."""
    return parse_range(spot.ip_range if player else spot.oop_range)


def range_text(spot: Spot, player: int) -> str:
    """Return a player's range as text that every program reads: classes and hands with their weights."""
    return format_range(range_weights(spot, player))
