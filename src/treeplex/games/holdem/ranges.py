"""Ranges in the usual syntax, ``22+,A5s-A2s,KQo:0.5``: a weight for each of the 1,326 hands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import HANDS, RANKS, hand_number, parse_card

_CLASS = re.compile(r"^([2-9TJQKA])([2-9TJQKA])([so]?)$")
_CARDS = re.compile(r"^[2-9TJQKA][cdhs][2-9TJQKA][cdhs]$", re.IGNORECASE)

Class = tuple[int, int, str]
"""Higher rank, lower rank, and ``s`` (suited), ``o`` (offsuit) or nothing (both)."""


def parse_range(text: object, name: str = "range") -> Floats:
    """Weights [1326] from 0 to 1. Where two parts name the same hand, the later one counts.

    >>> int(parse_range("AA,AKs").sum())
    10
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' parameter must be text such as \"22+,AJs+,KQo:0.5\", got {text!r}.")
    weights = np.zeros(HANDS)
    for part in text.replace(";", ",").split(","):
        hands, colon, amount = part.strip().partition(":")
        if not hands.strip() and not colon:
            continue
        weight = _weight(amount, part, name) if colon else 1.0
        for hand in _hands(hands.strip(), name):
            weights[hand] = weight
    if not weights.any():
        raise ParameterError(f"The '{name}' parameter holds no hand with a positive weight, got {text!r}.")
    return weights


def _weight(amount: str, part: str, name: str) -> float:
    try:
        weight = float(amount)
    except ValueError:
        weight = -1.0
    if not 0.0 <= weight <= 1.0:
        raise ParameterError(f"A weight in '{name}' must be a number from 0 to 1, got {part.strip()!r}.")
    return weight


def _hands(part: str, name: str) -> Iterator[int]:
    """All hands of one part: a class, two cards, ``X+`` or ``X-Y``."""
    if _CARDS.match(part):
        first, second = parse_card(part[:2]), parse_card(part[2:])
        if first == second:
            raise ParameterError(f"A hand in '{name}' must be two different cards, got {part!r}.")
        yield hand_number(first, second)
        return
    for high, low, kind in _classes(part, name):
        yield from class_hands(high, low, kind)


def class_hands(high: int, low: int, kind: str) -> list[int]:
    """The hands of a class such as AKs: 6 for a pair, 4 suited, 12 offsuit, 16 for both."""
    suits = [(first, second) for first in range(4) for second in range(4)]
    if high == low:
        suits = [(first, second) for first, second in suits if first > second]
    elif kind:
        suits = [(first, second) for first, second in suits if (first == second) == (kind == "s")]
    return [hand_number(4 * high + first, 4 * low + second) for first, second in suits]


def _classes(part: str, name: str) -> Iterator[Class]:
    first, dash, last = part.partition("-")
    plus = first.endswith("+") and not dash
    high, low, kind = _class(first[:-1] if plus else first, name)
    if not plus and not dash:
        yield high, low, kind
    elif plus and high == low:
        yield from ((rank, rank, kind) for rank in range(high, len(RANKS)))
    elif plus:
        yield from ((high, rank, kind) for rank in range(low, high))
    else:
        yield from _between((high, low, kind), _class(last, name), part, name)


def _between(first: Class, last: Class, part: str, name: str) -> Iterator[Class]:
    """JJ-22, A5s-A2s (same high card), or JTs-65s (same gap)."""
    (high, low, kind), (high_end, low_end, kind_end) = first, last
    step = -1 if high + low >= high_end + low_end else 1
    if kind == kind_end and (high == low) == (high_end == low_end):
        if high == high_end:
            yield from ((high, rank, kind) for rank in range(low, low_end + step, step))
            return
        if high - low == high_end - low_end:
            yield from ((rank, rank - (high - low), kind) for rank in range(high, high_end + step, step))
            return
    raise ParameterError(
        f"A dash in '{name}' joins two pairs, two hands with the same higher card, or two with the same gap, both"
        f" suited or both offsuit (JJ-22, A5s-A2s, JTs-65s), got {part!r}."
    )


def _class(text: str, name: str) -> Class:
    found = _CLASS.match(text.strip()[:2].upper() + text.strip()[2:].lower())
    if found is None:
        raise ParameterError(
            f"'{name}' has parts such as AA, AKs, KQo, T9, 22+, A5s-A2s, AsKd or QJs:0.5, separated by commas, got"
            f" {text.strip()!r}."
        )
    high, low = RANKS.index(found[1]), RANKS.index(found[2])
    if high == low and found[3]:
        raise ParameterError(
            f"A pair is neither suited nor offsuit: write {text[:2]} in '{name}', not {text.strip()!r}."
        )
    return max(high, low), min(high, low), found[3]
