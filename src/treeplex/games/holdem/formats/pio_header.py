"""PioSOLVER's tree settings, ``#Key#value`` line by line, as its viewer saves and ``show_tree_info`` prints them.

Keys as in bupticybee/TexasSolver ``benchmark/benchmark_piosolver.txt``. A street's sizes are those of the player out of
position (``TurnConfig``) or in position (``TurnConfigIP``). An empty donk size means that there are no donk bets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.games.holdem.betting import most_of, pot_after_call
from treeplex.games.holdem.formats.imported import number
from treeplex.games.holdem.formats.menus import MenuNode, same_tree, usual, with_menus
from treeplex.games.holdem.formats.thresholds import force_of_share, share_of_force
from treeplex.games.holdem.formats.units import range_text
from treeplex.games.holdem.formats.words import bare, from_bare
from treeplex.games.holdem.spot import PLAYERS, STREETS, Spot, make_spot

FIELDS: Final = {
    "Range0": "oop_range",
    "Range1": "ip_range",
    "Board": "board",
    "Pot": "pot",
    "EffectiveStacks": "effective_stack",
}
REFUSED: Final = (
    "RemovedLines",
    "ExtraLines",
    "UseUnifiedBetAfterRaise",
    "UseUnifiedRaiseAfterRaise",
    "ForceIPBet",
    "ForceOOPBet",
    "CapEnabled",
    "ICM.Enabled",
)
"""Settings whose effect the sizes of a spot cannot represent; the add_line commands of the same tree can be read."""

SETTINGS: Final = ("AllinThreshold", "AddAllinOnlyIfLessThanThisTimesThePot", "MinimumBetsize")
RAKE: Final = ("Rake.Enabled", "Rake.Fraction", "Rake.Cap")
IDLE: Final = ("TreeBuilding", "Cap", "CapMode", "UnifiedBetAfterRaise", "UnifiedRaiseAfterRaise", "ICM.Stacks")
"""Settings that have no effect by themselves."""

CONFIG: Final = {
    f"{street.capitalize()}Config{suffix}.{key}": (street, player, key)
    for street in STREETS
    for player, suffix in enumerate(("", "IP"))
    for key in ("BetSize", "RaiseSize", "AddAllin", "DonkBetSize", "Dont3bet")
}


class Header:
    """The settings of a tree, and their conversion to a spot."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.notes: list[str] = []

    def add(self, text: str, line: int) -> None:
        """Add a setting from a line ``#Key#value``."""
        parts = text.split("#", 2)
        if len(parts) != 3 or parts[0].strip():
            raise FormatError(f"a setting is written #Key#value, got {quoted(text)}.", path="pio", line=line, column=1)
        self.settings[parts[1].strip()] = parts[2].strip()

    def basics(self) -> dict[str, Any]:
        """Return board, ranges, money and rake, as far as they are set."""
        fields: dict[str, Any] = {}
        for key, name in FIELDS.items():
            if self.settings.get(key):
                text = self.settings[key]
                fields[name] = number(text, f"#{key}#") if name in ("pot", "effective_stack") else text
        if self._is_true("Rake.Enabled", default=True) and self._number("Rake.Fraction"):
            cap = self._number("Rake.Cap") if self.settings.get("Rake.Cap") else None
            fields |= {"rake_rate": self._number("Rake.Fraction"), "rake_cap": cap}
        return fields

    @property
    def has_sizes(self) -> bool:
        """Whether there are bet sizes."""
        return any(key in self.settings for key in CONFIG)

    def spot(self, fields: Mapping[str, Any]) -> Spot:
        """Build the spot with these sizes and thresholds; ``fields``: board, ranges, money."""
        self.notes.clear()
        for key in REFUSED:
            if self.settings.get(key, "").lower() not in ("", "false"):
                raise ParameterError(
                    f"The PioSOLVER setting #{key}#{self.settings[key][:30]} cannot be represented by sizes of a spot;"
                    " save the tree as a script with add_line commands, which can be read."
                )
        if self.settings.get("Type", "NoLimit").lower() != "nolimit":
            raise ParameterError(f"The PioSOLVER #Type# must be NoLimit, got {quoted(self.settings['Type'])}.")
        self._unknown()
        made = make_spot({**fields, **self._sizes(), "force_allin_threshold": self._force(fields)})
        return self._with_rules(made)

    def _sizes(self) -> dict[str, Any]:
        sizes = {
            street: {
                name: {
                    kind: from_bare(self._of(street, player, f"{kind.capitalize()}Size"), f"{street} {name} {kind}")
                    for kind in ("bet", "raise")
                }
                for player, name in enumerate(PLAYERS)
            }
            for street in STREETS
        }
        donks = {street: from_bare(self._of(street, 0, "DonkBetSize"), f"{street} donk") for street in STREETS}
        if donks["flop"] not in ("", sizes["flop"]["oop"]["bet"]):
            self.notes.append(
                f"#FlopConfig.DonkBetSize#{self._of('flop', 0, 'DonkBetSize')} is left out: the first bet of a flop has"
                " the sizes of #FlopConfig.BetSize#"
            )
        del donks["flop"]
        if any("x" in table["raise"] for street in sizes.values() for table in street.values()):
            self.notes.append(
                "raises such as 3x multiply the bet that is faced, also when it is a raise; if PioSOLVER counts"
                " differently, use its add_line commands"
            )
        return {"sizes": sizes, "donk_sizes": donks}

    def _force(self, fields: Mapping[str, Any]) -> float:
        percent = self._number("AllinThreshold", 100.0)
        if not percent > 0.0:
            raise ParameterError(f"The PioSOLVER #AllinThreshold# must be above 0, got {percent:g}.")
        pot, stack = (float(fields.get(name, 0)) for name in ("pot", "effective_stack"))
        return 0.0 if percent >= 100.0 or not pot else force_of_share(percent / 100.0, pot, stack)

    def _with_rules(self, spot: Spot) -> Spot:
        """Add all-ins, smallest bets and missing third bets, by line where sizes cannot represent them."""
        adds = {(street, player): self._flag(street, player, "AddAllin") for street in STREETS for player in (0, 1)}
        quiet = [street for street in spot.streets if self._flag(street, 1, "Dont3bet")]
        least = self._number("MinimumBetsize")
        times = self._number("AddAllinOnlyIfLessThanThisTimesThePot", 1e9) / 100.0
        always = times * spot.pot >= spot.effective_stack
        if always:
            spot, times = _with_allin(spot, adds), 0.0
        if not quiet and not least:
            if always:
                return spot
            if len({adds[street, player] for street in spot.streets for player in (0, 1)}) == 1:
                return replace(spot, add_allin_threshold=times if adds[spot.street, 0] else 0.0)
        if quiet:
            self.notes.append(
                "#Dont3bet#True is read as: after a bet and a raise on the street, the player in position neither"
                " raises nor goes all-in"
            )
        if least:
            self.notes.append(f"bets below the #MinimumBetsize# of {least:g} are raised to it")
        sized = usual(spot)

        def menu(step: MenuNode) -> list[int]:
            node, state = step.node, step.state
            street, most = STREETS[node.street], int(most_of(node, state))
            if state.all_in or (node.player == 1 and street in quiet and state.raises >= 2):
                return []
            amounts = list(sized(step))
            if adds[street, node.player] and most - node.faced <= times * pot_after_call(spot, node):
                amounts.append(most)
            return [max(amount, min(int(least), most)) for amount in amounts]

        return with_menus(spot, menu)

    def _unknown(self) -> None:
        known = {*FIELDS, *REFUSED, *SETTINGS, *RAKE, *IDLE, *CONFIG, "Type"}
        strange = [
            key for key, value in self.settings.items() if key not in known and value.lower() not in ("", "false")
        ]
        if strange:
            self.notes.append(f"settings that are not known are left out: {', '.join(key[:40] for key in strange[:6])}")

    def _of(self, street: str, player: int, key: str) -> str:
        suffix = "IP" if player else ""
        return self.settings.get(f"{street.capitalize()}Config{suffix}.{key}", "")

    def _flag(self, street: str, player: int, key: str) -> bool:
        return self._of(street, player, key).lower() == "true"

    def _is_true(self, key: str, *, default: bool) -> bool:
        return self.settings.get(key, str(default)).lower() == "true"

    def _number(self, key: str, default: float = 0.0) -> float:
        text = self.settings.get(key, "")
        return number(text, f"#{key}#") if text else default


def _with_allin(spot: Spot, adds: Mapping[tuple[str, int], bool]) -> Spot:
    """Add all-in to the sizes of every street and player that adds it."""
    sizes = {
        street: {
            name: {kind: _joined(table[kind], adds[street, player]) for kind in table}
            for player, (name, table) in enumerate(players.items())
        }
        for street, players in spot.sizes.items()
    }
    donks = {street: _joined(text, adds[street, 0]) for street, text in spot.donk_sizes.items()}
    return replace(spot, sizes=sizes, donk_sizes=donks)


def _joined(text: str, allin: bool) -> str:
    if not allin or "a" in text.split(", "):
        return text
    return f"{text}, a" if text else "a"


def write_header(spot: Spot) -> list[str]:
    """Return the settings of a spot with amounts in whole chips; sizes only if they give the same tree."""
    rake = {"Rake.Fraction": spot.rake_rate, "Rake.Cap": _cap(spot)} if spot.rake_rate else {}
    values: dict[str, object] = {
        "Type": "NoLimit",
        "Range0": range_text(spot, 0),
        "Range1": range_text(spot, 1),
        "Board": spot.board,
        "Pot": spot.pot,
        "EffectiveStacks": spot.effective_stack,
        **rake,
        **({"Rake.Enabled": True} if rake else {}),
    }
    basics = [f"#{key}#{value}" for key, value in values.items()]
    try:
        full = basics + _sizes_of(spot)
        header = Header()
        for number_, text in enumerate(full, 1):
            header.add(text, number_)
        if same_tree(header.spot(header.basics()), spot):
            return full
    except ParameterError:
        pass
    return basics


def _cap(spot: Spot) -> float:
    """Rake cap, or the largest possible pot if there is no cap."""
    return spot.rake_cap if spot.rake_cap is not None else spot.pot + 2 * spot.effective_stack


def _sizes_of(spot: Spot) -> list[str]:
    share = 100.0 * share_of_force(spot.force_allin_threshold, spot.pot, spot.effective_stack)
    times = 100.0 * spot.add_allin_threshold
    lines = [f"#AllinThreshold#{share:.10g}", f"#AddAllinOnlyIfLessThanThisTimesThePot#{times:.10g}"]
    for street in spot.streets:
        for player, suffix in enumerate(("", "IP")):
            config = f"#{street.capitalize()}Config{suffix}"
            bets, raises = spot.bets(street, player), spot.raises(street, player)
            lines.append(f"{config}.BetSize#{bare(bets, spot, 'bet', 'PioSOLVER')}")
            lines.append(f"{config}.RaiseSize#{bare(raises, spot, 'raise', 'PioSOLVER')}")
            lines.append(f"{config}.AddAllin#{times > 0.0}")
            if not player and street != spot.street:
                donks = spot.donks(street)
                lines.append(
                    f"{config}.DonkBetSize#{bare(bets if donks is None else donks, spot, 'donk', 'PioSOLVER')}"
                )
    return lines
