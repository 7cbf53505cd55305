"""Registry of the formats by name, with their recognition, reading and writing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.files import parse_json
from treeplex.games.holdem.cards import HANDS
from treeplex.games.holdem.files import parsed
from treeplex.games.holdem.formats.brackets import write_brackets
from treeplex.games.holdem.formats.floats import read_floats, write_floats
from treeplex.games.holdem.formats.imported import Exported, Imported
from treeplex.games.holdem.formats.pio import is_pio, read_pio, write_pio
from treeplex.games.holdem.formats.postflop import is_postflop, read_postflop, write_desktop, write_ranges, write_wasm
from treeplex.games.holdem.formats.texas import is_texas, read_texas, write_texas
from treeplex.games.holdem.ranges import format_range, parse_range
from treeplex.games.holdem.spot import PLAYERS, Spot

OURS: Final = "treeplex"
MOST_BYTES: Final = 20_000_000
"""Largest size of a file; PioSOLVER's largest trees are smaller."""


@dataclass(frozen=True)
class Format:
    """One format. ``ranges``: writer of a format that holds only ranges, by name."""

    summary: str
    write: Callable[[Spot], Exported] | None = None
    ranges: Callable[[Mapping[str, str]], Exported] | None = None


def _treeplex(spot: Spot) -> Exported:
    return Exported(json.dumps(spot.summary(), indent=2) + "\n")


def _each(write: Callable[[Any], str]) -> Callable[[Mapping[str, str]], Exported]:
    """Return a writer of one range per line."""
    return lambda ranges: Exported("".join(write(parse_range(text)) + "\n" for text in ranges.values()))


FORMATS: Final = {
    OURS: Format("a spot as JSON (TOML can also be read)", _treeplex),
    "pio": Format("PioSOLVER: #Key#value settings and add_line commands", write_pio),
    "texas": Format("TexasSolver: a console file", write_texas),
    "desktop": Format("desktop-postflop: a hand as JSON", write_desktop),
    "wasm": Format("wasm-postflop, desktop-postflop: saved configurations", write_wasm),
    "wasm-ranges": Format("wasm-postflop, desktop-postflop: saved ranges", ranges=write_ranges),
    "range": Format("a range as text: 22+,AJs+,KQo:0.5", ranges=_each(format_range)),
    "gtoplus": Format("a range as GTO+ writes it: [50]AA[/50],KK", ranges=_each(write_brackets)),
    "floats": Format("a range as 1,326 numbers in PioSOLVER's order", ranges=_each(write_floats)),
}
"""Formats by name; those without ``write`` hold ranges."""


def named(name: str) -> Format:
    """Return a format by name; raise ParameterError, listing all formats, if there is none."""
    if name not in FORMATS:
        raise ParameterError(f"The format must be one of {', '.join(FORMATS)}, got {quoted(name)}.")
    return FORMATS[name]


def detect(text: str, file: str = "") -> str:
    """Return the format of a text by its content; ``file``: its name, whose ending identifies JSON and TOML."""
    start, ending = text[:1000].lstrip(), file.lower()
    if start.startswith(("{", "[")) and not re.match(r"\[[0-9.]+%?\]", start):
        return _json_format(text)
    if ending.endswith((".toml", ".json")):
        return OURS
    for name, matches in (("texas", is_texas), ("pio", is_pio)):
        if matches(text):
            return name
    words = text[:100_000].replace(",", " ").split()
    if len(words) == HANDS and re.fullmatch(r"[0-9.eE+-]+", words[0]):
        return "floats"
    if re.search(r"\[[0-9.]+%?\]", text[:100_000]):
        return "gtoplus"
    return "range" if words and len(text) < 100_000 and _is_range(text) else OURS


def read(text: str, form: str, part: str = "") -> Imported:
    """Read a text in another program's format; ``part``: name of one of several parts."""
    named(form)
    if len(text) > MOST_BYTES:
        raise FormatError(f"a file of more than {MOST_BYTES // 10**6} MB is not read.", path=form)
    if form in ("wasm", "wasm-ranges", "desktop"):
        data = parsed(text, "JSON", form)
        if not is_postflop(data):
            raise FormatError("has neither data, nor config, nor startingPot.", path=form)
        return read_postflop(data, part)
    if part:
        raise ParameterError(f"A {form} file holds one thing: leave out {quoted('#' + part)}.")
    if form in ("pio", "texas"):
        return read_pio(text) if form == "pio" else read_texas(text)
    text_of_range = read_floats(text) if form == "floats" else " ".join(text.split())
    return Imported({}, ranges={"range": format_range(parse_range(text_of_range))})


def export_spot(spot: Spot, to: str) -> Exported:
    """Write a spot in the format of another program, or both its ranges if the format holds only ranges.

    >>> print(export_spot(Spot("Ks 9h 6d 3c Jh", 100, 300, "AA:0.5,KQs", "QQ"), "gtoplus").text.strip())
    [50.0]AA[/50.0],KQs
    QQ
    """
    return write(Imported(spot.summary()), to)


def write(source: Imported, form: str) -> Exported:
    """Write a spot, its ranges, or ranges alone in another format."""
    how = named(form)
    if how.ranges is not None:
        return how.ranges(_ranges(source) if source.ranges is None else source.ranges)
    if source.ranges is not None or how.write is None:
        raise ParameterError(f"The file holds a range, and --to {form} writes a spot; give --to gtoplus or floats.")
    return how.write(source.spot)


def _ranges(source: Imported) -> dict[str, str]:
    """Return both ranges of a spot."""
    return {name: str(source.fields.get(f"{name}_range", "")) for name in PLAYERS}


def _json_format(text: str) -> str:
    try:
        data = parse_json(text)
    except ValueError:
        return OURS  # its reader reports the error
    if not is_postflop(data):
        return OURS
    if "config" in data or "startingPot" in data:
        return "desktop"
    return "wasm-ranges" if data["name"] == "ranges" else "wasm"


def _is_range(text: str) -> bool:
    try:
        parse_range(text)
    except ParameterError:
        return False
    return True
