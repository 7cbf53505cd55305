"""Ranges in the format of GTO+: hands of equal weight between tags in per cent, ``[67.0]75s,65s[/67.0],AA,KK``.

``parse_range`` reads this format as well.
"""

from __future__ import annotations

import math

import numpy as np

from treeplex.arrays import Floats
from treeplex.games.holdem.ranges import format_range


def write_brackets(weights: Floats) -> str:
    """Write a range with a tag for each weight below 100 %, heaviest first, and last the hands of full weight.

    >>> from treeplex.games.holdem.ranges import parse_range
    >>> write_brackets(parse_range("AA,QQ:0.25,KJs:0.5"))
    '[50.0]KJs[/50.0],[25.0]QQ[/25.0],AA'
    """
    groups: dict[float, list[str]] = {}
    for part in format_range(weights).split(","):
        hands, _, weight = part.partition(":")
        groups.setdefault(float(weight or 1.0), []).append(hands)
    full = groups.pop(1.0, [])
    tagged = [f"[{_percent(w)}]{','.join(groups[w])}[/{_percent(w)}]" for w in sorted(groups, reverse=True)]
    return ",".join([*tagged, *full])


def _percent(weight: float) -> str:
    """Format per cent that parse to the same weight, if such a float exists, without an exponent."""
    percent = weight * 100.0
    near = (percent, math.nextafter(percent, 0.0), math.nextafter(percent, 200.0))
    return np.format_float_positional(next((x for x in near if x / 100.0 == weight), percent), trim="0")
