"""What is known of every menu on one spot: bounds from solves, from one best response, and from other menus.

A menu's value can only rise when a size is added. So what a menu guarantees holds for all menus that contain it, and
what is conceded to a menu holds for all menus that it contains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from treeplex.arrays import Floats
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.games.holdem.spot import Spot
from treeplex.poker.sizes.menus import Candidates, Menu, Slot, distinct
from treeplex.poker.sizes.solves import STORAGE, Solve, concede, joined

LARGE: Final = 2**26  # bytes from which games are freed as soon as they are out of the running


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
        self.passes = 0  # beside solves, times public nodes
        if not held:
            self.solves[self.all] = rich
            self.known[self.all] = (self._percent(rich.low), self._percent(rich.high))

    @property
    def distinct(self) -> Menu:
        """Candidates that differ here."""
        return tuple(distinct(self.chips, self.candidates.of(self.slot))) if self.chips is not None else self.all

    def game(self, menu: Menu) -> HoldemGame:
        """The player held to a menu."""
        return load_spot(self.candidates.spot(self.spot, {**self.held, self.slot: menu}), like=self.rich.game)

    def solve(self, menu: Menu, percent: float) -> Solve:
        """Until the interval of a menu is no wider than so much of the pot; continued where it stood."""
        if menu not in self.solves:
            self.solves[menu] = Solve(self.game(menu), self.player, self.threads)
        solved = self.solves[menu].until(percent * self.spot.pot / 100.0)
        before = self.known.get(menu, (-math.inf, math.inf))
        self.known[menu] = (max(before[0], self._percent(solved.low)), min(before[1], self._percent(solved.high)))
        return solved

    def drop(self, menu: Menu) -> None:
        """Free a large game that is out of the running; what is known of it stays."""
        solved = self.solves.get(menu)
        if solved is not None and solved is not self.rich and solved.game.memory(STORAGE, threads=1) > LARGE:
            self.passes += solved.work
            del self.solves[menu]

    def low(self, menu: Menu) -> float:
        """What the menu is known to be worth at least."""
        inside = self._actions(menu)
        return max((low for known, (low, _) in self.known.items() if inside >= self._actions(known)), default=-math.inf)

    def high(self, menu: Menu) -> float:
        """What the menu is known to be worth at most."""
        inside = self._actions(menu)
        solved = [high for known, (_, high) in self.known.items() if inside <= self._actions(known)]
        return min([self.upper(menu), *solved])

    def upper(self, menu: Menu) -> float:
        """What the opponent concedes to a menu by playing on as with all candidates."""
        if self.chips is None or self.held:
            if menu not in self._uppers:
                self._uppers[menu] = self._conceded(menu, [self.rich])
            return self._uppers[menu]
        taken, added = self._responses
        rows = [0, *(self._row(k) for k in menu)]
        return self._percent(taken + float((added[rows].max(axis=0) - added.max(axis=0)).sum()))

    def added(self, menu: Menu, size: int) -> float:
        """What a solved menu with one more size is worth at most.

        The opponent plays as to the menu, and answers the size as with all candidates; or as with all; or one or the
        other, as a coin falls: what is conceded then is at most the mean of both.
        """
        more = tuple(sorted({*menu, size}))
        if self.chips is None or self.held:
            return min(self.high(more), self._conceded(more, [self.solves[menu], self.rich]))
        (all_taken, all_added), (taken, added) = self._responses, self._responses_to(menu)
        rows = [0, *(self._row(k) for k in more)]
        rest, others = taken - float(added.max(axis=0).sum()), all_taken - float(all_added.max(axis=0).sum())
        conceded = [
            part * rest
            + (1.0 - part) * others
            + float((part * added + (1.0 - part) * all_added)[rows].max(axis=0).sum())
            for part in (0.5, 1.0)
        ]
        return min(self.high(more), *map(self._percent, conceded))

    @property
    def work(self) -> int:
        """Passes times public nodes so far, without those of the rich game."""
        return self.passes + sum(solve.work for solve in self.solves.values() if solve is not self.rich)

    @cached_property
    def frequencies(self) -> dict[int, float]:
        """How often the player bets each candidate with all of them at hand; empty where it depends on the line."""
        if self.chips is None:
            return {}
        shares = self.rich.reader.frequencies(self.line)
        return {k: shares[self._row(k)] for k in self.distinct}

    @property
    def line(self) -> str:
        """To the player's first bet on the first street."""
        return "check" if self.player else ""

    @cached_property
    def _uppers(self) -> dict[Menu, float]:
        return {}

    @cached_property
    def _responses(self) -> tuple[float, Floats]:
        self.passes += self.rich.game.nodes
        return self.rich.reader.responses(self.player, self.line)

    def _responses_to(self, menu: Menu) -> tuple[float, Floats]:
        """The same against an opponent who plays as to a menu, where it has the line."""
        if menu not in self._to_menus:
            self.passes += self.rich.game.nodes
            self._to_menus[menu] = joined(self.rich, self.solves[menu]).responses(self.player, self.line)
        return self._to_menus[menu]

    @cached_property
    def _to_menus(self) -> dict[Menu, tuple[float, Floats]]:
        return {}

    def _actions(self, menu: Menu) -> frozenset[int]:
        """The bets of a menu, whatever they are called; where chips depend on the line, its candidates."""
        return frozenset(menu if self.chips is None else map(self._row, menu))

    def _row(self, candidate: int) -> int:
        """Which action of the decision a candidate is."""
        chips = self.chips or []
        return 1 + sorted(set(chips)).index(chips[candidate])

    def _conceded(self, menu: Menu, known: list[Solve]) -> float:
        game = self.game(menu)
        self.passes += game.nodes
        return self._percent(concede(game, self.player, known, self.threads))

    def same(self, candidate: int, menu: Menu) -> bool:
        """Is a candidate, or one of as many chips, on a menu?"""
        return candidate in menu or (self.chips is not None and self.chips[candidate] in {self.chips[k] for k in menu})

    def chips_of(self, percent: float) -> float:
        """Per cent of the pot in chips."""
        return percent * self.spot.pot / 100.0

    def _percent(self, value: float) -> float:
        return 100.0 * value / self.spot.pot
