"""JSON of wasm-postflop and desktop-postflop: saved configurations, saved ranges, and a whole hand.

Both pages export configurations and ranges (``{"version": 2, "name": "configurations", "data": [...]}``, fields in
b-inary/wasm-postflop ``src/store.ts``). Configurations have neither board nor ranges, and saved ranges have nothing
else. A hand is the input of desktop-postflop's importer (b-inary/desktop-postflop ``src/components/HandImporter.vue``):
``{"oopRange", "ipRange", "config": {"board", ...}}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.games.holdem.formats.imported import Exported, Imported
from treeplex.games.holdem.formats.units import in_chips, range_text
from treeplex.games.holdem.formats.words import bare, cannot, from_bare
from treeplex.games.holdem.spot import PLAYERS, STREETS, Spot

PROGRAM: Final = "wasm-postflop"
VERSION: Final = 2
SIZES: Final = {
    f"{player}{street.capitalize()}{kind.capitalize()}": (player, street, kind)
    for player in PLAYERS
    for street in STREETS
    for kind in ("bet", "raise")
}
DONKS: Final = {"oopTurnDonk": "turn", "oopRiverDonk": "river"}
MONEY: Final = {"startingPot": "pot", "effectiveStack": "effective_stack", "rakeCap": "rake_cap"}
PERCENT: Final = {
    "rakePercent": "rake_rate",
    "addAllInThreshold": "add_allin_threshold",
    "forceAllInThreshold": "force_allin_threshold",
    "mergingThreshold": "merging_threshold",
}
EDITED: Final = ("addedLines", "removedLines")
IDLE: Final = ("board", "donkOption", "expectedBoardLength")


def is_postflop(data: object) -> bool:
    """Whether this is JSON of one of the two pages."""
    if not isinstance(data, Mapping):
        return False
    keys = set(cast(Mapping[Any, Any], data))
    return {"version", "name", "data"} <= keys or "config" in keys or "startingPot" in keys


def read_postflop(data: Mapping[str, Any], part: str = "") -> Imported:
    """Read the spot, as far as the JSON has it; ``part``: the path of one of several, such as ``SRP/BTN vs BB``."""
    if "config" in data:
        made = _configuration(data["config"])
        board = data["config"].get("board", [])
        ranges = {f"{player}_range": data.get(f"{player}Range", "") for player in PLAYERS}
        return Imported({**made, "board": board, **ranges})
    if "startingPot" in data:
        return Imported(_configuration(data), partial=True)
    items = _items(data)
    if data["name"] == "ranges":
        named = {name: str(value) for name, value in items.items()}
        return Imported({}, ranges={part: _chosen(named, part)} if part else named)
    if data["name"] != "configurations":
        raise FormatError(f"holds configurations or ranges, got {quoted(data['name'])}.", path=PROGRAM)
    if not part and len(items) == 1:
        return Imported(_configuration(next(iter(items.values()))), partial=True)
    return Imported(_configuration(_chosen(items, part)), partial=True)


def _items(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved values by their paths, without groups."""
    listed: Any = data["data"]
    by_path: dict[str, Any] = {}
    for item in cast(list[Any], listed) if isinstance(listed, list) else [None]:
        entry: dict[str, Any] = dict(cast(Mapping[str, Any], item)) if isinstance(item, Mapping) else {}
        if not isinstance(entry.get("path"), list):
            raise FormatError("'data' must be a list of items with a path and a value.", path=PROGRAM)
        if not entry.get("isGroup"):
            by_path["/".join(map(str, entry["path"]))] = entry.get("value")
    return by_path


def _chosen(items: Mapping[str, Any], part: str) -> Any:
    if part not in items:
        shown = ", ".join(name[:30] for name in list(items)[:6]) + (", ..." if len(items) > 6 else "")
        raise ParameterError(f"The file holds {shown or 'nothing'}: write FILE#NAME.")
    return items[part]


def _configuration(value: object) -> dict[str, Any]:
    """Return money, sizes and thresholds of one configuration."""
    if not isinstance(value, Mapping):
        raise FormatError(f"a configuration must be an object, got {quoted(value)}.", path=PROGRAM)
    table = cast(Mapping[str, Any], value)
    known = {*SIZES, *DONKS, *MONEY, *PERCENT, *EDITED, *IDLE}
    for key in table:
        if key not in known:
            raise FormatError(f"a configuration has no field {quoted(key)}.", path=PROGRAM)
    for key in EDITED:
        if table.get(key):
            raise ParameterError(
                f"The {PROGRAM} configuration has {key} ({str(table[key])[:40]}), which sizes of a spot cannot"
                " represent; clear the edits of its tree, or write line_sizes."
            )
    fields: dict[str, Any] = {MONEY[key]: table[key] for key in MONEY if key in table}
    fields |= {PERCENT[key]: _share(key, table[key]) for key in PERCENT if key in table}
    if fields.get("rake_cap") == 0:
        fields["rake_rate"] = 0.0  # these programs apply the rate or the cap, whichever is less
    sizes: dict[str, Any] = {street: {player: {} for player in PLAYERS} for street in STREETS}
    for key, (player, street, kind) in SIZES.items():
        sizes[street][player][kind] = from_bare(table.get(key, ""), key)
    if table.get("donkOption"):
        fields["donk_sizes"] = {street: from_bare(table.get(key, ""), key) for key, street in DONKS.items()}
    return {**fields, "sizes": sizes}


def _share(key: str, percent: object) -> float:
    if isinstance(percent, bool) or not isinstance(percent, int | float):
        raise FormatError(f"{key} must be a number in per cent, got {quoted(percent)}.", path=PROGRAM)
    return float(f"{percent / 100.0:.15g}")


def write_desktop(spot: Spot) -> Exported:
    """Write a whole hand for desktop-postflop's importer."""
    whole, notes = in_chips(spot)
    ranges = {f"{name}Range": range_text(whole, player) for player, name in enumerate(PLAYERS)}
    config = {"board": whole.board.split(), **_written(whole)}
    return Exported(json.dumps({**ranges, "config": config}, indent=2) + "\n", notes)


def write_wasm(spot: Spot) -> Exported:
    """Write one saved configuration, which both pages import."""
    whole, notes = in_chips(spot)
    item = {"path": [whole.board], "isGroup": False, "value": _written(whole)}
    text = json.dumps({"version": VERSION, "name": "configurations", "data": [item]}, indent=2)
    return Exported(
        text + "\n", (*notes, "a configuration holds neither board nor ranges: --to wasm-ranges, --to desktop")
    )


def write_ranges(ranges: Mapping[str, str]) -> Exported:
    """Write saved ranges by name, which both pages import."""
    data = [{"path": [name], "isGroup": False, "value": text} for name, text in ranges.items()]
    return Exported(json.dumps({"version": VERSION, "name": "ranges", "data": data}, indent=2) + "\n")


def _written(spot: Spot) -> dict[str, Any]:
    if spot.line_sizes:
        raise cannot(PROGRAM, "sizes by line", "; --to pio writes them as add_line commands")
    most = spot.pot + 2 * spot.effective_stack if spot.rake_rate else 0
    cap = spot.rake_cap if spot.rake_cap is not None else most
    fields: dict[str, Any] = {
        "startingPot": spot.pot,
        "effectiveStack": spot.effective_stack,
        "rakePercent": _percent(spot.rake_rate),
        "rakeCap": int(cap) if cap == int(cap) else cap,
        "donkOption": bool(spot.donk_sizes),
    }
    for key, (player, street, kind) in SIZES.items():
        who = PLAYERS.index(player)
        menu = spot.bets(street, who) if kind == "bet" else spot.raises(street, who)
        fields[key] = bare(menu, spot, key, PROGRAM)
    for key, street in DONKS.items():
        donks = spot.donks(street) if spot.donk_sizes else ()
        fields[key] = bare(spot.bets(street, 0) if donks is None else donks, spot, key, PROGRAM)
    fields |= {key: _percent(getattr(spot, name)) for key, name in PERCENT.items() if key != "rakePercent"}
    return {**fields, "expectedBoardLength": 0, "addedLines": "", "removedLines": ""}


def _percent(share: float) -> float:
    percent = float(f"{100.0 * share:.15g}")
    return int(percent) if percent == int(percent) else percent
