"""Ranges as GTO+ writes them: hands of the same weight between tags, ``[67.0]75s,65s[/67.0],AA,KK``, in per cent.

``parse_range`` reads them like any other text.
"""

from __future__ import annotations

import math

import numpy as np

from treeplex.arrays import Floats
from treeplex.games.holdem.ranges import format_range


def write_brackets(weights: Floats) -> str:
    """A range with a tag for each weight below 100 %, heaviest first; hands of full weight come last, without one.

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
    """Per cent that read as the weight again, if floats have such a number; else the next one. Without an exponent."""
    percent = weight * 100.0
    near = (percent, math.nextafter(percent, 0.0), math.nextafter(percent, 200.0))
    return np.format_float_positional(next((x for x in near if x / 100.0 == weight), percent), trim="0")
