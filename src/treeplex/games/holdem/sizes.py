"""Bet sizes: ``33%`` of the pot, ``2.5x`` the bet before, ``e`` geometric, ``120c`` chips, ``a`` all-in, ``min``."""

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

PERCENT_FROM: Final = 10.0  # a bare number below may be a share (0.33), a multiple (2.5) or per cent

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_FORMS: Final = re.compile(
    rf"(?P<percent>{_NUMBER})%(?:pot)?|(?P<bare>{_NUMBER})|(?P<over>[0-9]+)/(?P<under>[0-9]+)(?:pot)?|(?P<pot>pot)"
    rf"|(?P<multiple>{_NUMBER})x|(?P<chips>{_NUMBER})c|(?P<streets>[1-9]?)e(?:(?P<most>{_NUMBER})%?)?"
    r"|(?P<all>a|allin|jam|shove)|(?P<least>min)"
)
_ONE_OR_TWO: Final = re.compile(rf"(?<![0-9.])(?:{_NUMBER}%|[0-9]+/[0-9]+) pot\b|\b[1-9]?e {_NUMBER}%")


@dataclass(frozen=True)
class Size:
    """One size. ``amount``: a share of the pot, a multiple, chips, or streets left (0: those that are left)."""

    kind: str
    amount: float = 0.0
    most: float = float("inf")  # of a geometric size, as a share of the pot


def parse_sizes(text: object, name: str, *, raises: bool) -> tuple[Size, ...]:
    """Sizes separated by commas or blanks.

    >>> parse_sizes("50%, a", "bet", raises=False)
    (Size(kind='%', amount=0.5, most=inf), Size(kind='a', amount=0.0, most=inf))
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' sizes must be text such as \"33%, 75%, a\", got {quoted(text)}.")
    return _parsed(text, name, raises)


@lru_cache(maxsize=256)  # every decision of a tree asks for them
def _parsed(text: str, name: str, raises: bool) -> tuple[Size, ...]:
    tidy = " ".join(plain(text).lower().split())
    found = _ONE_OR_TWO.search(tidy)
    if found is not None:
        one, two = found[0].replace(" ", ""), found[0].replace(" ", ", ")
        raise ParameterError(
            f"The '{name}' sizes hold {quoted(found[0])}: write {one!r} for one size, {two!r} for two."
        )
    tidy = re.sub(r"\ball[ -]in\b", "allin", tidy)
    tidy = re.sub(r" (?=%)|(?<=[0-9]) (?=[xc]\b)", "", tidy)
    return tuple(_size(part, name, raises) for part in re.split(r"[ ,;]+", tidy) if part)


def _size(part: str, name: str, raises: bool) -> Size:
    found = _FORMS.fullmatch(part)
    if found is None:
        raise ParameterError(
            f"The '{name}' sizes must be of the forms 33% or 1/3 (of the pot), pot, 2.5x (raises), e, 2e or 3e200%"
            f" (geometric), 120c (chips), min or a (all-in), got {quoted(part)}."
        )
    form = found.groupdict()
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
