"""The best menu of K sizes, in less than half of the work of trying all: a shortlist, then rounds of coarse solves.

1. One best response against the opponent's strategy of the rich game, which has all candidates, bounds every menu.
2. The menus with the largest bounds are solved in rounds, each to a smaller NashConv, keeping the best of the round by
   the middle of their intervals. A choice within a round cannot lose more than an interval is wide.
3. The winner is solved as accurately as the rich game. Then other menus are solved further until none can be better by
   more than ``gap``, which changes the winner if one turns out better.

With several spots a menu's bounds are averages over them, in per cent of the pot.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import Final

from treeplex.poker.sizes.cases import Case
from treeplex.poker.sizes.menus import Menu
from treeplex.poker.sizes.steps import Steps

SHORT: Final = {1: 5, 2: 4}  # menus on the shortlist, by how many sizes they have (2: or more)
SHARED: Final = {1: 6, 2: 10}  # the same for several spots: sums of bounds rank worse
ROUNDS: Final = {1: ((2.0, 3), (1.0, 2), (0.3, 1)), 2: ((1.0, 2), (0.3, 1))}  # NashConv in per cent of pot, menus kept


def choose(cases: Sequence[Case], keep: int, accuracy: float, gap: float) -> Steps[tuple[Menu, float]]:
    """The best menu found, and by how much another may be better at most; all in per cent of the pot."""
    menus = menus_of(cases, keep)
    kind = min(keep, 2)
    for case in cases:
        yield from case.bound(menus, "bounds of all menus")
    ranked = sorted(menus, key=lambda menu: -_upper(cases, menu))
    left: list[Menu] = ranked[: (SHORT if len(cases) == 1 else SHARED)[kind]]
    for percent, count in ROUNDS[kind]:
        if len(left) > 1:
            for k, menu in enumerate(left):
                stage = f"menu {k + 1} of {len(left)} to {percent:g} % of the pot"
                yield from _solve(cases, menu, max(percent, accuracy), stage)
            left.sort(key=lambda menu: -_middle(cases, menu))
            for menu in left[count:]:
                _drop(cases, menu)
            left = left[:count]
    yield from _solve(cases, left[0], accuracy, "the best menu")
    return (yield from _proved(cases, menus, left[0], accuracy, gap))


def menus_of(cases: Sequence[Case], keep: int) -> list[Menu]:
    """All menus of so many sizes; on a single spot, of sizes that differ in chips."""
    sizes = cases[0].distinct if len(cases) == 1 else cases[0].all
    return list(combinations(sizes, min(keep, len(sizes))))


def _proved(
    cases: Sequence[Case], menus: list[Menu], best: Menu, accuracy: float, gap: float
) -> Steps[tuple[Menu, float]]:
    """Solve other menus until none can be better by more than ``gap``; the winner may change."""
    while True:
        low = _low(cases, best)
        rivals = [menu for menu in menus if menu != best]
        if not rivals:
            return best, 0.0
        rival = max(rivals, key=lambda menu: _high(cases, menu))
        better = _high(cases, rival) - low
        width = fmean(case.high(rival) - case.low(rival) for case in cases)
        if better <= gap or width <= accuracy:
            return best, better
        stage = "is another menu better?"
        solved = all(rival in case.solves for case in cases)
        yield from _solve(cases, rival, max(width / 2.0, accuracy) if solved else 1.0, stage)
        if _low(cases, rival) > low:
            _drop(cases, best)
            best = rival
            yield from _solve(cases, best, accuracy, stage)
        elif _high(cases, rival) <= low + gap:
            _drop(cases, rival)


def _solve(cases: Sequence[Case], menu: Menu, percent: float, stage: str) -> Steps[None]:
    for case in cases:
        yield from case.solve(menu, percent, stage)


def _drop(cases: Sequence[Case], menu: Menu) -> None:
    for case in cases:
        case.drop(menu)


def _middle(cases: Sequence[Case], menu: Menu) -> float:
    return fmean((case.low(menu) + case.high(menu)) / 2.0 for case in cases)


def _upper(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.uppers[menu] for case in cases)


def _low(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.low(menu) for case in cases)


def _high(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.high(menu) for case in cases)
