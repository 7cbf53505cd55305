"""What is known of every menu on one spot: bounds from solves, from one best response, and from other menus.

A menu's value can only rise when a size is added. So what a menu guarantees holds for all menus that contain it, and
what is conceded to a menu holds for all menus that it contains.

The best menu of K sizes, in less than half of the work of trying all: a shortlist, then rounds of coarse solves.

1. One best response against the opponent's strategy of the rich game, which has all candidates, bounds every menu.
2. The menus with the largest bounds are solved in rounds, each to a smaller NashConv, keeping the best of the round by
   the middle of their intervals. A choice within a round cannot lose more than an interval is wide.
3. The winner is solved as accurately as the rich game. Then other menus are solved further until none can be better by
   more than ``gap``, which changes the winner if one turns out better.

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

LARGE: Final = 2**26  # bytes from which games are freed as soon as they are out of the running
WORTH: Final = "what each size is worth"
SHORT: Final = {1: 5, 2: 4}  # menus on the shortlist, by how many sizes they have (2: or more)
SHARED: Final = {1: 6, 2: 10}  # the same for several spots: sums of bounds rank worse
ROUNDS: Final = {1: ((2.0, 3), (1.0, 2), (0.3, 1)), 2: ((1.0, 2), (0.3, 1))}  # NashConv in per cent of pot, menus kept


class Case:
    """One spot with all candidates, and the games that menus make of it. Values in per cent of the pot."""

    def __init__(self, spot: Spot, candidates: Candidates, slot: Slot, rich: Solve, held: Mapping[Slot, Menu]) -> None:
        """``rich``: with all candidates; ``held``: menus that the player is held to already, elsewhere."""
        self.spot, self.candidates, self.slot, self.rich, self.held = spot, candidates, slot, rich, dict(held)
        self.player, self.threads = candidates.player, rich.threads
        self.all: Menu = tuple(range(len(candidates.of(slot))))
        self.chips = candidates.chips(spot, slot)
        self.solves: dict[Menu, Solve] = {}
        self.known: dict[Menu, tuple[float, float]] = {}  # of all menus that were ever solved: at least, at most
        self.uppers: dict[Menu, float] = {}  # what the opponent concedes to a menu by playing on as with all candidates
        self.frequencies: dict[int, float] = {}  # how often each candidate is bet with all at hand, once it is known
        self.passes = 0  # beside solves, times public nodes
        self._answered: set[Menu | None] = set()  # opponents whose best responses are counted; None: the rich game's
        if not held:
            self.solves[self.all] = rich
            self.known[self.all] = (self._percent(rich.low), self._percent(rich.high))

    @property
    def distinct(self) -> Menu:
        """Candidates that differ here."""
        return tuple(distinct(self.chips, self.candidates.of(self.slot))) if self.chips is not None else self.all

    def spot_of(self, menu: Menu) -> Spot:
        """The player held to a menu."""
        return self.candidates.spot(self.spot, {**self.held, self.slot: menu})

    def solve(self, menu: Menu, percent: float, stage: str = "") -> Steps[Solve]:
        """Until the interval of a menu is no wider than so much of the pot; continued where it stood."""
        if menu not in self.solves:
            self.solves[menu] = Solve(self.spot_of(menu), self.player, self.threads, self.rich)
        solved = yield from narrowed(self.solves[menu], percent * self.spot.pot / 100.0, stage)
        before = self.known.get(menu, (-math.inf, math.inf))
        self.known[menu] = (max(before[0], self._percent(solved.low)), min(before[1], self._percent(solved.high)))
        return solved

    def drop(self, menu: Menu) -> None:
        """Free a large game that is out of the running; what is known of it stays."""
        solved = self.solves.get(menu)
        if solved is not None and solved is not self.rich and solved.bytes > LARGE:
            self.passes += solved.work
            del self.solves[menu]

    def low(self, menu: Menu) -> float:
        """What the menu is known to be worth at least."""
        inside = self._actions(menu)
        return max((low for known, (low, _) in self.known.items() if inside >= self._actions(known)), default=-math.inf)

    def high(self, menu: Menu) -> float:
        """What a menu with an upper bound is known to be worth at most."""
        inside = self._actions(menu)
        solved = [high for known, (_, high) in self.known.items() if inside <= self._actions(known)]
        return min([self.uppers[menu], *solved])

    def bound(self, menus: Iterable[Menu], stage: str = WORTH) -> Steps[None]:
        """Find upper bounds of menus: what the opponent concedes to them by playing on as with all candidates."""
        missing = [menu for menu in dict.fromkeys(menus) if menu not in self.uppers]
        if self.chips is None or self.held:
            for menu in missing:
                self.uppers[menu] = yield from self._conceded(menu, [self.rich], stage)
        elif missing:
            self._count(None)
            found = yield Compute(lambda: [self._upper(menu) for menu in missing], stage)
            self.uppers.update(zip(missing, found, strict=True))

    def added(self, menu: Menu, sizes: list[int]) -> Steps[dict[int, float]]:
        """What a solved menu with one more size is worth at most, for several sizes.

        The opponent plays as to the menu, and answers the size as with all candidates; or as with all; or one or the
        other, as a coin falls: what is conceded then is at most the mean of both.
        """
        more = {size: tuple(sorted({*menu, size})) for size in sizes}
        yield from self.bound(more.values())
        worth: list[float] = []
        if self.chips is None or self.held:
            for size in sizes:
                worth += [(yield from self._conceded(more[size], [self.solves[menu], self.rich], WORTH))]
        elif sizes:
            self._count(menu)
            worth = yield Compute(partial(self._added, menu, [more[size] for size in sizes]), WORTH)
        return {size: min(self.high(more[size]), at_most) for size, at_most in zip(sizes, worth, strict=True)}

    def count_frequencies(self) -> Steps[None]:
        """Find how often the player bets each candidate with all at hand; nothing where it depends on the line."""
        if self.chips is not None and not self.frequencies:
            shares = yield Compute(lambda: self.rich.reader.frequencies(self.line), WORTH)
            self.frequencies = {k: shares[self._row(k)] for k in self.distinct}

    @property
    def work(self) -> int:
        """Passes times public nodes so far, without those of the rich game."""
        return self.passes + sum(solve.work for solve in self.solves.values() if solve is not self.rich)

    @property
    def line(self) -> str:
        """To the player's first bet on the first street."""
        return "check" if self.player else ""

    @cached_property
    def _responses(self) -> tuple[float, Floats]:
        return self.rich.reader.responses(self.player, self.line)

    def _upper(self, menu: Menu) -> float:
        taken, added = self._responses
        rows = [0, *(self._row(k) for k in menu)]
        return self._percent(taken + float((added[rows].max(axis=0) - added.max(axis=0)).sum()))

    def _added(self, menu: Menu, menus: list[Menu]) -> list[float]:
        """Bounds of menus with one more size, from best responses to the opponent of the menu and of the rich game."""
        (all_taken, all_added) = self._responses
        taken, added = joined(self.rich, self.solves[menu]).responses(self.player, self.line)
        rest, others = taken - float(added.max(axis=0).sum()), all_taken - float(all_added.max(axis=0).sum())
        found: list[float] = []
        for more in menus:
            rows = [0, *(self._row(k) for k in more)]
            conceded = [
                part * rest
                + (1.0 - part) * others
                + float((part * added + (1.0 - part) * all_added)[rows].max(axis=0).sum())
                for part in (0.5, 1.0)
            ]
            found.append(min(map(self._percent, conceded)))
        return found

    def _count(self, opponent: Menu | None) -> None:
        """Count the best response to an opponent once, in whatever process it is computed how often."""
        if opponent not in self._answered:
            self._answered.add(opponent)
            self.passes += self.rich.nodes

    def _actions(self, menu: Menu) -> frozenset[int]:
        """The bets of a menu, whatever they are called; where chips depend on the line, its candidates."""
        return frozenset(menu if self.chips is None else map(self._row, menu))

    def _row(self, candidate: int) -> int:
        """Which action of the decision a candidate is."""
        chips = self.chips or []
        return 1 + sorted(set(chips)).index(chips[candidate])

    def _conceded(self, menu: Menu, known: list[Solve], stage: str) -> Steps[float]:
        """What the opponent concedes to a menu by playing as in games that are solved."""

        def numbers() -> list[float]:
            game = load_spot(self.spot_of(menu), like=self.rich.game)
            return [self._percent(concede(game, self.player, known, self.threads)), game.nodes]

        conceded, nodes = yield Compute(numbers, stage)
        self.passes += int(nodes)
        return conceded

    def same(self, candidate: int, menu: Menu) -> bool:
        """Is a candidate, or one of as many chips, on a menu?"""
        return candidate in menu or (self.chips is not None and self.chips[candidate] in {self.chips[k] for k in menu})

    def chips_of(self, percent: float) -> float:
        """Per cent of the pot in chips."""
        return percent * self.spot.pot / 100.0

    def _percent(self, value: float) -> float:
        return 100.0 * value / self.spot.pot


def choose(cases: Sequence[Case], keep: int, accuracy: float, gap: float) -> Steps[tuple[Menu, float]]:
    """The best menu found, and by how much another may be better at most; all in per cent of the pot."""
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


def _low(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.low(menu) for case in cases)


def _high(cases: Sequence[Case], menu: Menu) -> float:
    return fmean(case.high(menu) for case in cases)
