"""Locked decisions, as a user describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Lock(NamedTuple):
    """At the decision ``line`` leads to, hands of a range play fixed probabilities.

    ``strategy``: for each range, or "all", the probability of each action by name; later ranges count where two hold
    a hand. Suits that suit isomorphism treats as alike must be treated alike by the ranges.
    """

    line: str
    strategy: Mapping[str, Mapping[str, float]]
