"""Bounds on the value of every menu on one spot: from solves, from one best response, and from other menus.

A menu's value can only rise when a size is added. A menu's lower bound therefore holds for all menus that contain it,
and its upper bound for all menus that it contains.

The search finds the best menu of K sizes in less than half the work of solving all menus:

1. One best response against the opponent's strategy of the rich game, which has all candidates, bounds every menu.
2. The menus with the largest bounds are solved in rounds, each to a smaller NashConv. The menus with the best interval
   midpoints stay. The loss from a choice within a round is at most the width of an interval.
3. The winner is solved as accurately as the rich game. Other menus are then solved further until none can be better by
   more than ``gap``. The winner changes if one of them turns out better.

With several spots a menu's bounds are averages over them, in per cent of the pot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from statistics import fmean
from typing import Final

from treeplex.arrays import Floats
from treeplex.engines.boards.game import load_spot
from treeplex.games.holdem.spot import Spot
from treeplex.poker.sizes.problem import Candidates, Menu, Slot, distinct
from treeplex.poker.sizes.solves import Compute, Solve, Steps, concede, joined, narrowed

LARGE: Final = 2**26  # bytes; larger games are freed as soon as they are eliminated
BOUNDS_STAGE: Final = "bounds of each size"
SHORT: Final = {1: 5, 2: 4}  # menus on the shortlist, by number of sizes (2: or more)
SHARED: Final = {1: 6, 2: 10}  # shortlist for several spots: sums of bounds rank worse
ROUNDS: Final = {
    1: ((2.0, 3), (1.0, 2), (0.3, 1)),
    2: ((1.0, 2), (0.3, 1)),
}  # NashConv in per cent of pot, menus that stay


class Case:
    """One spot with all candidates, and its games with menus. Values are in per cent of the pot."""

    def __init__(self, spot: Spot, candidates: Candidates, slot: Slot, rich: Solve, fixed: Mapping[Slot, Menu]) -> None:
        """``rich``: the game with all candidates; ``fixed``: menus of other slots that are already chosen."""
        self.spot, self.candidates, self.slot, self.rich, self.fixed = spot, candidates, slot, rich, dict(fixed)
        self.player, self.threads = candidates.player, rich.threads
        self.all: Menu = tuple(range(len(candidates.of(slot))))
        self.chips = candidates.chips(spot, slot)
        self.solves: dict[Menu, Solve] = {}
        self.known: dict[Menu, tuple[float, float]] = {}  # bounds on all menus that were ever solved
        self.uppers: dict[Menu, float] = {}  # bounds: the opponent plays as with all candidates
        self.frequencies: dict[int, float] = {}  # frequency of each candidate among all, once known
        self.passes = 0  # passes other than those of solves, times public nodes
        self._answered: set[Menu | None] = set()  # opponents with a counted best response; None: rich
        if not fixed:
            self.solves[self.all] = rich
            self.known[self.all] = (self._percent(rich.low), self._percent(rich.high))

    @property
    def distinct(self) -> Menu:
        """Candidates that differ in chips on this spot."""
        return tuple(distinct(self.chips, self.candidates.of(self.slot))) if self.chips is not None else self.all

    def spot_of(self, menu: Menu) -> Spot:
        """Return the spot with the player restricted to a menu."""
        return self.candidates.spot(self.spot, {**self.fixed, self.slot: menu})

    def solve(self, menu: Menu, percent: float, stage: str = "") -> Steps[Solve]:
        """Solve a menu's game, from where it stood, until its interval is at most ``percent`` of the pot wide."""
        if menu not in self.solves:
            self.solves[menu] = Solve(self.spot_of(menu), self.player, self.threads, self.rich)
        solved = yield from narrowed(self.solves[menu], percent * self.spot.pot / 100.0, stage)
        before = self.known.get(menu, (-math.inf, math.inf))
        self.known[menu] = (max(before[0], self._percent(solved.low)), min(before[1], self._percent(solved.high)))
        return solved

    def drop(self, menu: Menu) -> None:
        """Free a large game that is eliminated; its bounds stay."""
        solved = self.solves.get(menu)
        if solved is not None and solved is not self.rich and solved.bytes > LARGE:
            self.passes += solved.work
            del self.solves[menu]

    def low(self, menu: Menu) -> float:
        """Return the best lower bound on a menu's value."""
        inside = self._actions(menu)
        return max((low for known, (low, _) in self.known.items() if inside >= self._actions(known)), default=-math.inf)

    def high(self, menu: Menu) -> float:
        """Return the best upper bound on a menu's value; the menu must have a bound of its own."""
        inside = self._actions(menu)
        solved = [high for known, (_, high) in self.known.items() if inside <= self._actions(known)]
        return min([self.uppers[menu], *solved])

    def bound(self, menus: Iterable[Menu], stage: str = BOUNDS_STAGE) -> Steps[None]:
        """Compute upper bounds of menus: the opponent plays its strategy of the rich game against them."""
        missing = [menu for menu in dict.fromkeys(menus) if menu not in self.uppers]
        if self.chips is None or self.fixed:
            for menu in missing:
                self.uppers[menu] = yield from self._conceded(menu, [self.rich], stage)
        elif missing:
            self._count(None)
            bounds = yield Compute(lambda: [self._upper(menu) for menu in missing], stage)
            self.uppers.update(zip(missing, bounds, strict=True))

    def added(self, menu: Menu, sizes: list[int]) -> Steps[dict[int, float]]:
        """Compute upper bounds on the value of a solved menu with one more size, for several sizes.

        The opponent plays as against the menu, and replies to the size as with all candidates. Or it plays as with all
        candidates throughout. Or it flips a coin between both, which concedes at most their mean.
        """
        more = {size: tuple(sorted({*menu, size})) for size in sizes}
        yield from self.bound(more.values())
        bounds: list[float] = []
        if self.chips is None or self.fixed:
            for size in sizes:
                bounds += [(yield from self._conceded(more[size], [self.solves[menu], self.rich], BOUNDS_STAGE))]
        elif sizes:
            self._count(menu)
            bounds = yield Compute(partial(self._added, menu, [more[size] for size in sizes]), BOUNDS_STAGE)
        return {size: min(self.high(more[size]), at_most) for size, at_most in zip(sizes, bounds, strict=True)}

    def count_frequencies(self) -> Steps[None]:
        """Compute the frequency of each candidate among all; nothing where chips depend on the line."""
        if self.chips is not None and not self.frequencies:
            shares = yield Compute(lambda: self.rich.reader.frequencies(self.line), BOUNDS_STAGE)
            self.frequencies = {k: shares[self._row(k)] for k in self.distinct}

    @property
    def work(self) -> int:
        """Passes times public nodes so far, excluding the rich game."""
        return self.passes + sum(solve.work for solve in self.solves.values() if solve is not self.rich)

    @property
    def line(self) -> str:
        """The line to the player's first decision on the first street."""
        return "check" if self.player else ""

    @cached_property
    def _responses(self) -> tuple[float, Floats]:
        return self.rich.reader.responses(self.player, self.line)

    def _upper(self, menu: Menu) -> float:
        winnings, added = self._responses
        rows = [0, *(self._row(k) for k in menu)]
        return self._percent(winnings + float((added[rows].max(axis=0) - added.max(axis=0)).sum()))

    def _added(self, menu: Menu, menus: list[Menu]) -> list[float]:
        """Return bounds of menus with one more size, from best responses to the menu's and the rich game's opponent."""
        (rich_winnings, rich_added) = self._responses
        winnings, added = joined(self.rich, self.solves[menu]).responses(self.player, self.line)
        rest, others = winnings - float(added.max(axis=0).sum()), rich_winnings - float(rich_added.max(axis=0).sum())
        bounds: list[float] = []
        for more in menus:
            rows = [0, *(self._row(k) for k in more)]
            conceded = [
                part * rest
                + (1.0 - part) * others
                + float((part * added + (1.0 - part) * rich_added)[rows].max(axis=0).sum())
                for part in (0.5, 1.0)
            ]
            bounds.append(min(map(self._percent, conceded)))
        return bounds

    def _count(self, opponent: Menu | None) -> None:
        """Count the best response to an opponent once, even if several processes compute it."""
        if opponent not in self._answered:
            self._answered.add(opponent)
            self.passes += self.rich.nodes

    def _actions(self, menu: Menu) -> frozenset[int]:
        """Return the distinct bets of a menu; where chips depend on the line, its candidates."""
        return frozenset(menu if self.chips is None else map(self._row, menu))

    def _row(self, candidate: int) -> int:
        """Return the index of a candidate among the decision's actions."""
        chips = self.chips or []
        return 1 + sorted(set(chips)).index(chips[candidate])

    def _conceded(self, menu: Menu, known: list[Solve], stage: str) -> Steps[float]:
        """Compute an upper bound on a menu: the opponent plays as in games that are solved."""

        def numbers() -> list[float]:
            game = load_spot(self.spot_of(menu), like=self.rich.game)
            return [self._percent(concede(game, self.player, known, self.threads)), game.nodes]

        conceded, nodes = yield Compute(numbers, stage)
        self.passes += int(nodes)
        return conceded

    def same(self, candidate: int, menu: Menu) -> bool:
        """Return whether a menu has a candidate, or one of as many chips."""
        return candidate in menu or (self.chips is not None and self.chips[candidate] in {self.chips[k] for k in menu})

    def chips_of(self, percent: float) -> float:
        """Convert per cent of the pot to chips."""
        return percent * self.spot.pot / 100.0

    def _percent(self, value: float) -> float:
        return 100.0 * value / self.spot.pot


def choose(cases: Sequence[Case], keep: int, accuracy: float, gap: float) -> Steps[tuple[Menu, float]]:
    """Return the best menu, and an upper bound on another's advantage in per cent of the pot."""
    menus = menus_of(cases, keep)
    kind = min(keep, 2)
    for case in cases:
        yield from case.bound(menus, "bounds of all menus")
    ranked = sorted(menus, key=lambda menu: -fmean(case.uppers[menu] for case in cases))
    left: list[Menu] = ranked[: (SHORT if len(cases) == 1 else SHARED)[kind]]
    for percent, count in ROUNDS[kind]:
        if len(left) > 1:
            for k, menu in enumerate(left):
                stage = f"menu {k + 1} of {len(left)} to {percent:g} % of the pot"
                yield from _solve(cases, menu, max(percent, accuracy), stage)
            left.sort(key=lambda menu: -fmean((case.low(menu) + case.high(menu)) / 2.0 for case in cases))
            for menu in left[count:]:
                _drop(cases, menu)
            left = left[:count]
    yield from _solve(cases, left[0], accuracy, "the best menu")
    return (yield from _proved(cases, menus, left[0], accuracy, gap))


def menus_of(cases: Sequence[Case], keep: int) -> list[Menu]:
    """Return all menus of ``keep`` sizes; on a single spot, of sizes that differ in chips."""
    sizes = cases[0].distinct if len(cases) == 1 else cases[0].all
    return list(combinations(sizes, min(keep, len(sizes))))


def _proved(
    cases: Sequence[Case], menus: list[Menu], best: Menu, accuracy: float, gap: float
) -> Steps[tuple[Menu, float]]:
    """Solve other menus until none can be better by more than ``gap``; return the winner, which may change."""
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


def _low(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.low(menu) for case in cases)


def _high(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.high(menu) for case in cases)
