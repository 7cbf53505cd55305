"""Bet sizes in other programs' notation, with bare numbers for per cent: ``52``, ``33, 75``, ``2.5x``, ``3e200``.

PioSOLVER, wasm-postflop and desktop-postflop (``sanitizeBetString`` in their ``src/utils.ts``) share this notation;
TexasSolver has only per cent.
"""

from __future__ import annotations

import re

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.sizes import ALL_IN, CHIPS, GEOMETRIC, MINIMUM, MULTIPLE, POT, Size, text_of
from treeplex.games.holdem.spot import Spot

_CAPPED = re.compile(r"[0-9.]+c[0-9]+r")
_BARE = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def from_bare(text: object, name: str) -> str:
    """Convert sizes to treeplex's notation; bare numbers are per cent.

    >>> from_bare("33 75,2.5X a", "raise")
    '33%, 75%, 2.5x, a'
    """
    if not isinstance(text, str):
        raise ParameterError(f"The sizes '{name}' must be text such as \"33, 75\", got {quoted(text)}.")
    parts = re.split(r"[\s,;]+", text.strip().lower())
    return ", ".join(_one(part, name) for part in parts if part)


def _one(part: str, name: str) -> str:
    if _CAPPED.fullmatch(part):
        raise ParameterError(
            f"The size {quoted(part)} of '{name}' has a cap on raises (limit games), which a spot cannot have; write"
            f" {part.partition('c')[0]}c, or give sizes by line."
        )
    if _BARE.fullmatch(part):
        return f"{float(part):.12g}%"
    return {"allin": "a", "all-in": "a"}.get(part, part)


def bare(sizes: tuple[Size, ...], spot: Spot, name: str, program: str) -> str:
    """Convert sizes to the notation of ``program``; raise ParameterError if it has none for one. Chips are whole."""
    words: list[str] = []
    for size in sizes:
        if size.kind == MINIMUM:
            raise cannot(program, f"the least bet or raise, 'min' of '{name}'")
        if size.kind == CHIPS:
            words.append(f"{spot.chips(size.amount)}c")
        elif size.kind in (POT, GEOMETRIC):
            words.append(text_of(size).replace("%", ""))
        elif size.kind in (MULTIPLE, ALL_IN):
            words.append(text_of(size))
    return ", ".join(words)


def cannot(program: str, what: str, fix: str = "") -> ParameterError:
    """Error for something that a program's format cannot represent."""
    return ParameterError(f"{program} cannot represent {what}{fix or '; --to treeplex keeps all of the spot'}.")
