"""Ranges as people write them, ``22+ A5s-A2s,KQo:0.5,!33``, parsed to weights of the 1,326 hands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HANDS, RANKS, hand_name, hand_number, parse_card, plain
from treeplex.games.holdem.order import ORDER

_RANK: Final = "[2-9tjqka]"
_CLASS: Final = re.compile(rf"({_RANK})({_RANK})([so]?)")
_CARDS: Final = re.compile(rf"{_RANK}[cdhs]{_RANK}[cdhs]")
_ANY: Final = re.compile(rf"({_RANK})[x*]([so]?)")
_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_TOP: Final = re.compile(rf"({_NUMBER})%")
_WEIGHT: Final = re.compile(rf"({_NUMBER}(?:e[-+]?[0-9]+)?)(%?)")
_TOKEN: Final = re.compile(r"\[(/?)([^\[\]]*)\]|([^\s,;\[\]]+)|([\[\]])")

EVERYTHING: Final = frozenset({"random", "any", "all"})

Class = tuple[int, int, str]
"""Higher rank, lower rank, and ``s`` (suited), ``o`` (offsuit) or an empty text (both)."""

CLASSES: Final = tuple(
    RANKS[high] + RANKS[low] + kind
    for high in reversed(range(len(RANKS)))
    for low in reversed(range(high + 1))
    for kind in (("",) if high == low else ("s", "o"))
)
"""All 169 classes, aces first."""


def parse_range(text: object, name: str = "range") -> Floats:
    """Parse weights [1326] from 0 to 1. If two parts name a hand, the later one applies; ``!`` removes hands.

    >>> int(parse_range("AA,AKs").sum())
    10
    """
    if not isinstance(text, str):
        raise ParameterError(f"The '{name}' parameter must be text such as \"22+,AJs+,KQo:0.5\", got {quoted(text)}.")
    return _weights(text, name).copy()


@lru_cache(maxsize=64)  # spots parse their ranges repeatedly
def _weights(text: str, name: str) -> Floats:
    weights = np.zeros(HANDS)
    for part, weight in _parts(text, name):
        weights[list(_hands(part, name))] = weight
    if not weights.any():
        raise ParameterError(f"The '{name}' parameter holds no hand with a positive weight, got {quoted(text)}.")
    return weights


def format_range(weights: Floats) -> str:
    """Format a range so that ``parse_range`` gives the same weights; classes of equal weights are merged.

    >>> format_range(parse_range("QQ+,AhKh:0.5"))
    'AA,AhKh:0.5,KK,QQ'
    """
    parts: list[str] = []
    for name in CLASSES:
        hands = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])
        alike = len(set(weights[hands].tolist())) == 1
        named = {name: hands[0]} if alike else {hand_name(hand): hand for hand in hands}
        for part, hand in named.items():
            weight = float(weights[hand])
            if weight > 0.0:
                parts.append(part if weight == 1.0 else f"{part}:{weight!r}")
    return ",".join(parts)


def _parts(text: str, name: str) -> Iterator[tuple[str, float]]:
    """Yield every part in lower case without its weight, and the weight; ignore blanks around ``-``, ``:``, ``@``."""
    tidy = " ".join(plain(text).lower().split())
    tidy = re.sub(r" ?([-:@]) ?", r"\1", tidy)
    tidy = re.sub(r" (?=[+%])|(?<=!) ", "", tidy)
    tag: str | None = None
    for match in _TOKEN.finditer(tidy):
        ends, number, part, stray = match.groups()
        if stray or (number is not None and (bool(ends) == (tag is None) or (ends and number not in ("", tag)))):
            raise _brackets(match[0], name)
        if number is not None:
            tag = None if ends else number
            _weight("@", number if _TOP.fullmatch(number) else f"{number}%", match[0], name)
            continue
        hands, sign, amount = re.fullmatch(r"([^:@]*)([:@]?)(.*)", part).groups()  # pyright: ignore[reportOptionalMemberAccess] - matches anything
        if sign and (tag is not None or hands.startswith("!")):
            raise ParameterError(f"A part of '{name}' has one weight at most, and none after !, got {quoted(part)}.")
        weight = _weight(sign, amount, part, name) if sign else 1.0
        if tag is not None:
            weight = _weight("@", f"{tag.removesuffix('%')}%", part, name)
        yield hands.removeprefix("!"), 0.0 if hands.startswith("!") else weight
    if tag is not None:
        raise _brackets(f"[{tag}]", name)


def _brackets(tag: str, name: str) -> ParameterError:
    return ParameterError(
        f"Brackets in '{name}' must be pairs around hands, with their weight in per cent and without nesting, such as"
        f" [50]AA,KK[/50]; got {quoted(tag)}."
    )


def _weight(sign: str, amount: str, part: str, name: str) -> float:
    """Parse a weight, ``:0.5``, ``:50%``, ``@50`` or ``@50%``; ``@0.5`` is ambiguous and rejected."""
    match = _WEIGHT.fullmatch(amount)
    weight = float(match[1]) if match else -1.0
    percent = bool(match and (match[2] or sign == "@"))
    if match and sign == "@" and not match[2] and 0.0 < weight <= 1.0:
        weight = -1.0
    if not 0.0 <= weight <= (100.0 if percent else 1.0):
        raise ParameterError(
            f"A weight in '{name}' must be a number from 0 to 1 after a colon, or per cent, such as AA:0.5, AA:50% or"
            f" AA@50, got {quoted(part)}."
        )
    return weight / 100.0 if percent else weight


def _hands(part: str, name: str) -> Iterator[int]:
    """Yield all hands of one part: a class, two cards, ``x+``, ``x-y``, ``ax``, ``15%``, ``random``."""
    if part in EVERYTHING:
        yield from range(HANDS)
        return
    top = _TOP.fullmatch(part)
    if top:
        yield from _best(float(top[1]), part, name)
        return
    part = part.replace("10", "t")
    if _CARDS.fullmatch(part):
        first, second = parse_card(part[:2]), parse_card(part[2:])
        if first == second:
            raise ParameterError(f"A hand in '{name}' must be two different cards, got {quoted(part)}.")
        yield hand_number(first, second)
        return
    for high, low, kind in _classes(part, name):
        yield from class_hands(high, low, kind)


def _best(percent: float, part: str, name: str) -> Iterator[int]:
    """Yield the hands of whole classes, best first, until they are at least ``percent`` per cent of all hands."""
    if not 0.0 < percent <= 100.0:
        raise ParameterError(
            f"A percentage of all hands in '{name}' must be above 0% and at most 100%, got {quoted(part)}."
        )
    count = 0
    for best in ORDER:
        if 100.0 * count >= percent * HANDS:
            return
        hands = class_hands(RANKS.index(best[0]), RANKS.index(best[1]), best[2:])
        count += len(hands)
        yield from hands


def class_hands(high: int, low: int, kind: str) -> list[int]:
    """Return the hands of a class such as AKs: 6 for a pair, 4 suited, 12 offsuit, 16 for both."""
    suits = [(first, second) for first in range(4) for second in range(4)]
    if high == low:
        suits = [(first, second) for first, second in suits if first > second]
    elif kind:
        suits = [(first, second) for first, second in suits if (first == second) == (kind == "s")]
    return [hand_number(4 * high + first, 4 * low + second) for first, second in suits]


def _classes(part: str, name: str) -> Iterator[Class]:
    with_any = _ANY.fullmatch(part)
    if with_any:
        rank, kind = RANKS.index(with_any[1].upper()), with_any[2]
        others = (other for other in range(len(RANKS)) if other != rank or not kind)
        yield from ((max(rank, other), min(rank, other), kind) for other in others)
        return
    first, dash, last = part.partition("-")
    if dash and (not first or first.endswith("+")):
        raise ParameterError(
            f"A dash in '{name}' joins two hands; to remove hands write !{last[:8]}, got {quoted(part)}."
        )
    plus = first.endswith("+")
    high, low, kind = _class(first[:-1] if plus else first, part, name)
    if not plus and not dash:
        yield high, low, kind
    elif plus and high == low:
        yield from ((rank, rank, kind) for rank in range(high, len(RANKS)))
    elif plus:
        yield from ((high, rank, kind) for rank in range(low, high))
    else:
        yield from _between((high, low, kind), _class(last, part, name), part, name)


def _between(first: Class, last: Class, part: str, name: str) -> Iterator[Class]:
    """Yield the classes from JJ-22, A5s-A2s (same high card), or JTs-65s (same gap)."""
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
        f" suited or both offsuit (JJ-22, A5s-A2s, JTs-65s), got {quoted(part)}."
    )


def _class(text: str, part: str, name: str) -> Class:
    match = _CLASS.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"'{name}' has parts such as AA, AKs, KQo, T9, Axs, 22+, A5s-A2s, AsKd, 15%, random, QJs:0.5 or !33,"
            f" separated by commas or blanks, got {quoted(part)}."
        )
    high, low = RANKS.index(match[1].upper()), RANKS.index(match[2].upper())
    if high == low and match[3]:
        raise ParameterError(
            f"A pair is neither suited nor offsuit: write {text[:2].upper()} in '{name}', not {quoted(part)}."
        )
    return max(high, low), min(high, low), match[3]
