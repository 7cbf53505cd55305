"""Bet sizes: ``33%`` of the pot, ``2.5x`` the previous bet, ``e`` geometric, ``120c`` chips, ``a`` all-in, ``min``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import plain

POT: Final = "%"
MULTIPLE: Final = "x"
GEOMETRIC: Final = "e"
CHIPS: Final = "c"
ALL_IN: Final = "a"
MINIMUM: Final = "min"
EVERY: Final = "every"  # every legal amount of whole chips; a candidate, never on a menu

MOST_CANDIDATES: Final = 1000  # largest number of sizes in a range

PERCENT_FROM: Final = 10.0  # a smaller bare number may be a fraction (0.33), a multiple (2.5) or per cent

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_FORMS: Final = re.compile(
    rf"(?P<percent>{_NUMBER})%(?:pot)?|(?P<bare>{_NUMBER})|(?P<over>[0-9]+)/(?P<under>[0-9]+)(?:pot)?|(?P<pot>pot)"
    rf"|(?P<multiple>{_NUMBER})x|(?P<chips>{_NUMBER})c|(?P<streets>[1-9]?)e(?:(?P<most>{_NUMBER})%?)?"
    r"|(?P<all>a|allin|jam|shove)|(?P<least>min)"
)
_ONE_OR_TWO: Final = re.compile(rf"(?<![0-9.])(?:{_NUMBER}%|[0-9]+/[0-9]+) pot\b|\b[1-9]?e {_NUMBER}%")


@dataclass(frozen=True)
class Size:
    """One size. ``amount``: fraction of the pot, multiple, chips, or number of streets (0: all remaining ones)."""

    kind: str
    amount: float = 0.0
    most: float = float("inf")  # largest geometric size, as a fraction of the pot


def parse_sizes(text: object, name: str, *, raises: bool) -> tuple[Size, ...]:
    """Parse sizes separated by commas or blanks.

    >>> parse_sizes("50%, a", "bet", raises=False)
    (Size(kind='%', amount=0.5, most=inf), Size(kind='a', amount=0.0, most=inf))
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' sizes must be text such as \"33%, 75%, a\", got {quoted(text)}.")
    return _parsed(text, name, raises)


@lru_cache(maxsize=256)  # every decision of a tree parses them
def _parsed(text: str, name: str, raises: bool) -> tuple[Size, ...]:
    tidy = " ".join(plain(text).lower().split())
    ambiguous = _ONE_OR_TWO.search(tidy)
    if ambiguous is not None:
        one, two = ambiguous[0].replace(" ", ""), ambiguous[0].replace(" ", ", ")
        raise ParameterError(
            f"The '{name}' sizes hold {quoted(ambiguous[0])}: write {one!r} for one size, {two!r} for two."
        )
    tidy = re.sub(r"\ball[ -]in\b", "allin", tidy)
    tidy = re.sub(r" (?=%)|(?<=[0-9]) (?=[xc]\b)", "", tidy)
    return tuple(_size(part, name, raises) for part in re.split(r"[ ,;]+", tidy) if part)


def parse_candidates(text: object, name: str, *, raises: bool) -> tuple[Size, ...]:
    """Parse candidates: a list, ranges such as ``20%:200%:20%`` (from, to, step), or ``every`` chip amount.

    >>> [text_of(size) for size in parse_candidates("25%:100%:25%, a", "bets", raises=False)]
    ['25%', '50%', '75%', '100%', 'a']
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' candidates must be text such as \"33%, 75%, a\", got {quoted(text)}.")
    candidates: list[Size] = []
    for part in re.split(r"[ ,;]+", plain(text).lower().strip()):
        if part == EVERY:
            candidates.append(Size(EVERY))
        elif ":" in part:
            candidates += _range(part, name)
        else:
            candidates += parse_sizes(part, name, raises=raises)
    if not candidates:
        raise ParameterError(f'The \'{name}\' candidates name no size; write for example "33%, 75%, a" or "every".')
    return tuple(dict.fromkeys(candidates))


def _range(part: str, name: str) -> list[Size]:
    """Parse a range such as ``20%:200%:20%`` or ``10c:200c:10c``."""
    ends = [parse_sizes(each, name, raises=False) for each in part.split(":")]
    sizes = [each[0] for each in ends if len(each) == 1]
    kinds = {size.kind for size in sizes}
    if len(ends) != 3 or len(sizes) != 3 or kinds not in ({POT}, {CHIPS}):
        raise ParameterError(
            f"A range of candidates in '{name}' is written from:to:step, such as 20%:200%:20% or 10c:200c:10c, got"
            f" {quoted(part)}."
        )
    low, high, step = (size.amount for size in sizes)
    count = int((high - low) / step + 1e-9) + 1
    if not 0 < count <= MOST_CANDIDATES:
        raise ParameterError(
            f"A range of candidates in '{name}' must have 1 to {MOST_CANDIDATES} sizes, got {quoted(part)}."
        )
    return [Size(sizes[0].kind, round(low + k * step, 9)) for k in range(count)]


def text_of(size: Size) -> str:
    """Format a size as it is written.

    >>> [text_of(size) for size in parse_sizes("1/3, 2.5x, 3e200%, 120c, min, a", "raise", raises=True)]
    ['33.3333333333%', '2.5x', '3e200%', '120c', 'min', 'a']
    """
    if size.kind == POT:
        return f"{100.0 * size.amount:.12g}%"
    if size.kind in (MULTIPLE, CHIPS):
        return f"{size.amount:.12g}{size.kind}"
    if size.kind == GEOMETRIC:
        most = "" if size.most == float("inf") else f"{100.0 * size.most:.12g}%"
        return f"{int(size.amount) or ''}e{most}"
    return size.kind


def _size(part: str, name: str, raises: bool) -> Size:
    match = _FORMS.fullmatch(part)
    if match is None:
        raise ParameterError(
            f"The '{name}' sizes must be of the forms 33% or 1/3 (of the pot), pot, 2.5x (raises), e, 2e or 3e200%"
            f" (geometric), 120c (chips), min or a (all-in), got {quoted(part)}."
        )
    form = match.groupdict()
    if form["bare"] and float(part) < PERCENT_FROM:
        multiple = f", {part}x for a multiple of the bet" if raises else ""
        raise ParameterError(
            f"The '{name}' sizes hold the bare number {quoted(part)}: write {100 * float(part):g}% for that multiple of"
            f" the pot, {part}% for per cent of it{multiple}, or {part}c for chips."
        )
    percent = form["percent"] or form["bare"]
    if percent or form["over"]:
        over, under = (float(percent), 100.0) if percent else (float(form["over"]), float(form["under"]))
        return Size(POT, _within(over / under if under else 0.0, 0.0, 100.0, part, name))
    if form["multiple"]:
        if not raises:
            raise ParameterError(
                f"The '{name}' sizes are first bets, so there is no bet to multiply, got {quoted(part)}; write 200% for"
                " twice the pot, or 60c for chips."
            )
        return Size(MULTIPLE, _within(float(form["multiple"]), 1.0, 1000.0, part, name))
    if form["chips"]:
        return Size(CHIPS, _within(float(form["chips"]), 0.0, 1e9, part, name))
    if form["streets"] is not None:
        most = _within(float(form["most"]) / 100.0, 0.0, 1e9, part, name) if form["most"] else float("inf")
        return Size(GEOMETRIC, float(form["streets"] or 0), most)
    return Size(POT, 1.0) if form["pot"] else Size(ALL_IN if form["all"] else MINIMUM)


def _within(value: float, low: float, high: float, part: str, name: str) -> float:
    if not low < value <= high:
        raise ParameterError(
            f"A size in '{name}' is out of range (more than {low:g}, at most {high:g}), got {quoted(part)}."
        )
    return value
