"""The search for the best K bet sizes on one spot, or on several at once, with certificates, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.grown import line_text
from treeplex.poker.sizes.answer import Count, Interval, SizeRow, Sizes, SpotSizes
from treeplex.poker.sizes.cases import Case, choose, menus_of
from treeplex.poker.sizes.lines import LineMenus
from treeplex.poker.sizes.problem import Menu, SizeSearch, Slot
from treeplex.poker.sizes.solves import Solve, Steps, narrowed


class Search:
    """A search: rich games that are solved once, and menus that are compared with them."""

    def __init__(self, problem: SizeSearch, threads: int) -> None:
        self.problem, self.options, self.candidates = problem, problem.options, problem.candidates
        player = self.candidates.player
        self.rich = [Solve(self.candidates.spot(spot, {}), player, threads) for spot in problem.spots]
        self.results: dict[int, Sizes] = {}
        self.cases: list[list[Case]] = []  # by slot and the menus of other slots
        self.menus: dict[Slot, Menu] = {}  # chosen so far, of ``keep`` sizes
        self.keep = self.options.keep
        self.lines: LineMenus | None = None

    def run(self) -> Steps[Sizes]:
        """Run the search and return its answer."""
        for k, (spot, rich) in enumerate(zip(self.problem.spots, self.rich, strict=True)):
            which = f", spot {k + 1} of {len(self.rich)}" if len(self.rich) > 1 else ""
            yield from narrowed(rich, self.options.accuracy * spot.pot / 100.0, f"all candidates{which}")
        if self.options.per_decision:
            return replace((yield from self._by_line()), complete=True)
        lose = self.options.lose
        sizes = (yield from self._best(self.options.keep)) if lose is None else (yield from self._fewest(lose))
        for count in range(1, self.options.counts + 1):
            yield from self._best(count)
        return replace(sizes, by_count=self.by_count, complete=True)

    @property
    def solves(self) -> dict[str, Solve]:
        """All games that are in memory, by name."""
        named = {f"rich.{k}": solve for k, solve in enumerate(self.rich)}
        for i, cases in enumerate(self.cases):
            for k, case in enumerate(cases):
                for menu, solve in case.solves.items():
                    if solve is not case.rich:
                        named[f"menu.{i}.{k}.{'-'.join(map(str, menu))}"] = solve
        games = self.lines.games if self.lines else []
        return named | {f"lines.{k}": solve for k, solve in enumerate(games)}

    @property
    def work(self) -> int:
        """Passes times public nodes so far."""
        cases = sum(case.work for each in self.cases for case in each)
        return sum(solve.work for solve in self.rich) + cases + (self.lines.work if self.lines else 0)

    @property
    def by_count(self) -> tuple[Count, ...]:
        """The best menus so far, by number of sizes, if several numbers are requested."""
        if not self.options.counts and self.options.lose is None:
            return ()
        counts = {each.keep: Count(each.keep, each.menu, each.loss_percent_of_pot) for each in self.results.values()}
        return tuple(counts[keep] for keep in sorted(counts))

    def so_far(self) -> Sizes:
        """Return the answer before the end: the best menus known, and their certified loss."""
        if self.lines is not None and self.lines.best is not None:
            return self._of_lines(*self.lines.best)
        if self.results:
            sizes = self.results.get(self.options.keep) if self.options.lose is None else None
            return replace(sizes or self.results[max(self.results)], by_count=self.by_count)
        menus = dict.fromkeys(self.problem.slots, ()) | self.menus
        cases = self.cases[-1] if self.cases and not self.lines else []
        leader = self._leader(cases)
        if leader is not None:
            menus[cases[0].slot] = leader
        known = leader is not None and all(menus.values())
        spots = [
            _undecided(solve, self.problem.spots[k].pot, _known(cases[k], leader) if known and leader else None)
            for k, solve in enumerate(self.rich)
        ]
        return self._answer(menus, tuple(spots), None, self.keep)

    def _leader(self, cases: list[Case]) -> Menu | None:
        """Return the menu with the best lower bound, among those with at most ``keep`` sizes solved on all spots."""
        if not cases or cases[0].slot in self.menus:
            return self.menus[cases[0].slot] if cases else None
        solved = [menu for menu in cases[0].known if len(menu) <= self.keep and all(menu in c.known for c in cases)]
        return max(solved, key=lambda menu: fmean(case.low(menu) for case in cases), default=None)

    def _best(self, keep: int) -> Steps[Sizes]:
        """Find the best ``keep`` sizes, slot by slot; the menus of earlier slots stay fixed."""
        if keep in self.results:
            return self.results[keep]
        self.menus, self.keep, better = {}, keep, 0.0
        cases: list[Case] = []
        for slot in self.problem.slots:
            cases = self._cases(slot)
            self.menus[slot], better = yield from choose(cases, keep, self.options.accuracy, self.options.gap)
        spots: tuple[SpotSizes, ...] = ()
        for case in cases:
            spots += ((yield from _of_spot(case, self.menus)),)
        known = better if len(self.menus) == 1 else None
        self.results[keep] = self._answer(self.menus, spots, known, max(map(len, self.menus.values())))
        return self.results[keep]

    def _answer(
        self, menus: Mapping[Slot, Menu], spots: tuple[SpotSizes, ...], better: float | None, keep: int
    ) -> Sizes:
        return Sizes(
            player=self.options.player,
            street=str(self.options.street),
            keep=keep,
            menus={" ".join(slot): tuple(self.candidates.of(slot)[k] for k in menu) for slot, menu in menus.items()},
            spots=spots,
            better_percent_of_pot=better,
            work=self.work,
        )

    def _by_line(self) -> Steps[Sizes]:
        """Find one menu per decision of the first street."""
        kinds = tuple(kind for _, kind in self.problem.slots)
        self.lines = LineMenus(self.rich[0], kinds, self.options.keep, self.options.accuracy)
        return self._of_lines(*(yield from self.lines.run()))

    def _of_lines(self, menus: Mapping[tuple[Action, ...], tuple[Action, ...]], solved: Solve) -> Sizes:
        (spot,), (rich,) = self.problem.spots, self.rich
        ends = ((rich.low, rich.high), (solved.low, min(solved.high, rich.high)))
        names = {line_text(line) or "first": tuple(action for action in menu) for line, menu in menus.items()}
        rows = tuple(
            SizeRow(name, action.name, action.amount, True, None, None, None, None)
            for name, menu in names.items()
            for action in menu
        )
        return Sizes(
            player=self.options.player,
            street=spot.street,
            keep=self.options.keep,
            menus={name: tuple(action.name for action in menu) for name, menu in names.items()},
            spots=(_spot_sizes(rich, spot.pot, *ends, rows),),
            better_percent_of_pot=None,
            work=self.work,
        )

    def _fewest(self, lose: float) -> Steps[Sizes]:
        """Find the fewest sizes that lose at most ``lose`` per cent of the pot."""
        most = max(len(self.candidates.of(slot)) for slot in self.problem.slots)
        for keep in range(1, most + 1):
            sizes = yield from self._best(keep)
            if sizes.loss_percent_of_pot[1] <= lose:
                return replace(sizes, proved_fewest=(yield from self._more_is_lost(keep - 1, lose)))
        raise ParameterError(
            f"The 'lose' parameter must be more than the 'accuracy' of {self.options.accuracy:g} % of the pot, within"
            f" which intervals are known, got {lose:g}."
        )

    def _more_is_lost(self, keep: int, lose: float) -> Steps[bool]:
        """Return whether every menu of ``keep`` sizes certainly loses more."""
        if len(self.problem.slots) > 1:
            return False
        cases = self.cases[0]
        menus, rich = menus_of(cases, keep), fmean(case.low(case.all) for case in cases)
        for case in cases:
            yield from case.bound(menus, "do fewer sizes lose more?")
        return all(rich - fmean(case.high(menu) for case in cases) > lose for menu in menus)

    def _cases(self, slot: Slot) -> list[Case]:
        """Return the cases of a slot, with the menus of earlier slots; all searches share those of the first slot."""
        if self.menus or not self.cases:
            pairs = zip(self.problem.spots, self.rich, strict=True)
            self.cases.append([Case(spot, self.candidates, slot, rich, self.menus) for spot, rich in pairs])
            return self.cases[-1]
        return self.cases[0]


def _of_spot(case: Case, menus: Mapping[Slot, Menu]) -> Steps[SpotSizes]:
    """Compute the value of a menu on one spot, and rows for the candidates of its last slot."""
    menu, rich = menus[case.slot], (case.rich.low, case.rich.high)
    menu_value = (case.chips_of(case.low(menu)), case.chips_of(case.high(menu)))
    rows = (yield from _rows(case, menu, rich, menu_value)) if len(menus) == 1 else _slot_rows(case, menus)
    return _spot_sizes(case.rich, case.spot.pot, rich, menu_value, tuple(rows))


def _rows(case: Case, menu: Menu, rich: Interval, menu_value: Interval) -> Steps[list[SizeRow]]:
    others = {size: tuple(k for k in case.distinct if k != size) for size in case.distinct}
    yield from case.bound([(size,) for size in case.distinct])
    yield from case.bound(others.values())
    yield from case.count_frequencies()
    added = yield from case.added(menu, [size for size in case.distinct if not case.same(size, menu)])
    rows: list[SizeRow] = []
    for size in case.distinct:
        low, high = case.chips_of(case.low((size,))), case.chips_of(case.high((size,)))
        alone = _lost(rich, (low, high))
        row = SizeRow(
            slot=" ".join(case.slot),
            size=case.candidates.of(case.slot)[size],
            chips=None if case.chips is None else case.chips[size],
            kept=size not in added,
            frequency=case.frequencies.get(size),
            loss_if_only=(alone[0], alone[1] if math.isfinite(low) else None),
            gain_if_added=max(0.0, case.chips_of(added[size]) - menu_value[0]) if size in added else None,
            loss_if_removed=max(0.0, rich[0] - case.chips_of(case.uppers[others[size]])),
        )
        rows.append(row)
    return rows


def _slot_rows(case: Case, menus: Mapping[Slot, Menu]) -> list[SizeRow]:
    """Return rows of several slots. They have no values, since these would depend on the menus of other slots."""
    return [
        SizeRow(" ".join(slot), name, None, k in menu, None, None, None, None)
        for slot, menu in menus.items()
        for k, name in enumerate(case.candidates.of(slot))
    ]


def _known(case: Case, menu: Menu) -> Interval:
    """Return the bounds on a menu's value in chips, with or without an upper bound of its own."""
    high = case.high(menu) if menu in case.uppers else case.known[menu][1]
    return case.chips_of(case.low(menu)), case.chips_of(high)


def _undecided(rich: Solve, pot: float, menu_value: Interval | None) -> SpotSizes:
    """Return a spot before the end of a search. Values are at least zero for both, since a player need not bet."""
    whole = (max(rich.low, 0.0), min(rich.high, pot))
    return _spot_sizes(rich, pot, whole, menu_value or (0.0, whole[1]), ())


def _spot_sizes(rich: Solve, pot: float, whole: Interval, menu_value: Interval, rows: tuple[SizeRow, ...]) -> SpotSizes:
    loss = _lost(whole, menu_value)
    percent = (100.0 * loss[0] / pot, 100.0 * loss[1] / pot)
    return SpotSizes(rich.spot.board, pot, percent, whole, menu_value, rows)


def _lost(rich: Interval, restricted: Interval) -> Interval:
    """Return bounds on the difference of two values that are known by intervals."""
    return max(0.0, rich[0] - restricted[1]), rich[1] - restricted[0]
