"""Discounts after an addition (theorem 2): the weight of all earlier iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


class AddedRegret(NamedTuple):
    """Regret and cost of an added subgame."""

    inside: float  # squared positive regrets of the mover inside what was added
    head: float  # squared positive regrets of the new action
    regret: float  # positive regrets of the new action
    histories: int
    iterations: int  # iterations of the recovery game


def joint(additions: Iterable[AddedRegret]) -> AddedRegret:
    """Return the regret of several additions of one player, as of one: (8) and (22) are sums over infosets."""
    return AddedRegret(*(sum(column) for column in zip(*additions, strict=True)))


class Bounds(NamedTuple):
    """Terms of CFR's regret bound for one player."""

    infosets: int
    spread: float  # Delta: the largest payoff less the smallest, on the scale of regrets per iteration
    actions: int  # largest number of actions at an infoset
    iterations: float  # T, as regrets count them


def recommended(before: float, added: AddedRegret) -> float:
    """Equation (22): squared positive regrets with the head's as before the addition, over those after it."""
    rest = before + added.inside
    return rest / (rest + added.head) if added.head > 0.0 else 1.0


def root(before: float, added: AddedRegret) -> float:
    """Return the square root of (22), for regrets that stay about as large as they are, as those of CFR+ do.

    Weighting the past by w multiplies regrets by w, and the iterations that they come from by w. Let regrets grow with
    T^a. They then match the regrets before the addition, for the same number of iterations, if

        w^2 after = w^(2a) before,        w = (before / after)^(1 / (2 - 2a))

    where before and after are squared regrets. CFR's grow with the square root of T: a = 1/2 is (22), and a = 0 its
    root.
    """
    return recommended(before, added) ** 0.5


def bound(before: float, added: AddedRegret, bounds: Bounds) -> float:
    """Equation (8): the largest weight that the theorem allows, min(1, |I| Delta^2 |A| T / sum of squared regrets)."""
    squares = before + added.inside + added.head
    allowed = bounds.infosets * bounds.spread**2 * bounds.actions * bounds.iterations
    return min(1.0, allowed / squares) if squares > 0.0 else 1.0


DISCOUNTS: Final[dict[str, Callable[[float, AddedRegret, Bounds], float]]] = {
    "recommended": lambda before, added, bounds: recommended(before, added) or bound(before, added, bounds),
    "root": lambda before, added, bounds: root(before, added) or bound(before, added, bounds),
    "bound": bound,
}
"""Methods to choose the weight of the past. Where no infoset had any regret, (22) is zero, and (8) is used instead."""
