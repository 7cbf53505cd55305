"""``treeplex.holdem.sizes``: the best K bet sizes on a spot, or for several spots at once, with certificates."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final, cast

from treeplex.algorithms.options import named
from treeplex.engines.boards.game import load_spot
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.spot import PLAYERS, Spot, make_spot
from treeplex.kernels.jit import CompileTimer, timed_compilation
from treeplex.poker.sizes.answer import Count, Interval, SizeRow, Sizes, SpotSizes
from treeplex.poker.sizes.cases import Case
from treeplex.poker.sizes.choose import Watch, choose, menus_of
from treeplex.poker.sizes.lines import keep_lines, restricted_lines, told
from treeplex.poker.sizes.menus import Candidates, Menu, Slot, listed
from treeplex.poker.sizes.solves import Solve

ACCURACY: Final = 0.04  # NashConv of rich and kept game, per cent of the pot
GAP: Final = 0.25  # per cent of the pot by which another menu may be better
RESTRICT: Final = {"bets": ("bet",), "raises": ("raise",), "both": ("bet", "raise")}


def sizes(
    spots: Any,
    *,
    keep: int = 1,
    lose: float | None = None,
    player: str = "oop",
    street: str | None = None,
    bets: str = BETS,
    raises: str = RAISES,
    restrict: str = "bets",
    per_decision: bool = False,
    counts: int = 0,
    accuracy: float = ACCURACY,
    gap: float = GAP,
    threads: int = 0,
    watch: Watch | None = None,
) -> Sizes:
    """The best ``keep`` sizes for a player whose opponent keeps every candidate.

    ``spots``: one, or several that share the menu. ``lose``: instead of ``keep``, the fewest sizes that lose at most
    so many per cent of the pot. ``street``: where candidates are and the menu applies; by default the first one, "all":
    a menu on every street. ``per_decision``: one menu per line, on the first street of one spot. ``counts``: also the
    best menus of 1, 2, ... up to so many sizes. ``accuracy``: NashConv of both games, in per cent of the pot. ``gap``:
    solve other menus until none can be better by more.

    >>> from treeplex.holdem import Spot, sizes
    >>> answer = sizes(Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs,76s", "QQ,KTs"), bets="50%, a", raises="a")
    >>> answer.menu, answer.loss_percent_of_pot[1] < 0.5
    (('a',), True)
    """
    several, candidates, slots = checked(
        spots, keep, lose, player, street, bets, raises, restrict, per_decision, counts, accuracy, gap
    )
    tell = watch or _nothing
    with timed_compilation(lambda _: tell("compiling kernels, once on this machine")) as compilation:
        search = _Search(several, candidates, slots, accuracy, gap, threads, tell, compilation)
        if per_decision:
            return replace(search.by_line(keep), street=several[0].street)
        found = search.best(keep) if lose is None else search.fewest(lose)
        for count in range(1, counts + 1):
            search.best(count)
    by_count = search.by_count if counts or lose is not None else ()
    return replace(found, street=street or several[0].street, by_count=by_count)


def checked(
    spots: Any,
    keep: int = 1,
    lose: float | None = None,
    player: str = "oop",
    street: str | None = None,
    bets: str = BETS,
    raises: str = RAISES,
    restrict: str = "bets",
    per_decision: bool = False,
    counts: int = 0,
    accuracy: float = ACCURACY,
    gap: float = GAP,
) -> tuple[list[Spot], Candidates, list[Slot]]:
    """What ``sizes`` was asked; refuses what it refuses, and solves nothing."""
    several = _spots(spots)
    candidates, slots = _candidates(several, player, street, bets, raises, restrict)
    _check(keep, lose, counts, accuracy, gap)
    if per_decision:
        _check_per_decision(several, lose, street)
    return several, candidates, slots


class _Search:
    """Rich games that are solved once, and menus tried on them."""

    def __init__(
        self,
        spots: list[Spot],
        candidates: Candidates,
        slots: list[Slot],
        accuracy: float,
        gap: float,
        threads: int,
        watch: Watch,
        compilation: CompileTimer,
    ) -> None:
        self.candidates, self.slots, self.accuracy, self.gap, self.watch = candidates, slots, accuracy, gap, watch
        self.compilation = compilation
        self.began, self.spots, self.rich = time.perf_counter(), spots, list[Solve]()
        for k, spot in enumerate(spots):
            watch(f"all candidates, spot {k + 1} of {len(spots)}" if len(spots) > 1 else "all candidates")
            game = load_spot(candidates.spot(spot, {}))
            self.rich.append(Solve(game, candidates.player, threads).until(accuracy * spot.pot / 100.0))
        self.found: dict[int, Sizes] = {}
        self.cases: list[list[Case]] = []  # by slot and what is held elsewhere
        self.first = self._cases(slots[0], {})

    def best(self, keep: int) -> Sizes:
        """The best ``keep`` sizes, slot by slot: what was chosen for one is kept while the next is chosen."""
        if keep in self.found:
            return self.found[keep]
        menus: dict[Slot, Menu] = {}
        cases, better = self.first, 0.0
        for slot in self.slots:
            cases = self._cases(slot, menus) if menus else self.first
            menus[slot], better = choose(cases, keep, self.accuracy, self.gap, self.watch)
        self.watch("what each size is worth")
        names = {" ".join(slot): tuple(self.candidates.of(slot)[k] for k in menu) for slot, menu in menus.items()}
        self.found[keep] = Sizes(
            player=PLAYERS[self.candidates.player],
            street="",
            keep=max(map(len, menus.values())),
            menus=names,
            spots=tuple(_of_spot(case, menus) for case in cases),
            better_percent_of_pot=better if len(self.slots) == 1 else None,
            seconds=self.seconds,
            work=sum(solve.work for solve in self.rich) + sum(case.work for each in self.cases for case in each),
        )
        return self.found[keep]

    def by_line(self, keep: int) -> Sizes:
        """One menu per decision of the first street."""
        (spot,), (rich,) = self.spots, self.rich
        lines = restricted_lines(rich, tuple(kind for _, kind in self.slots))
        menus, solved, work = keep_lines(rich, lines, keep, self.accuracy, self.watch)
        ends = ((rich.low, rich.high), (solved.low, min(solved.high, rich.high)))
        loss = _lost(*ends)
        percent = (100.0 * loss[0] / spot.pot, 100.0 * loss[1] / spot.pot)
        rows = tuple(
            SizeRow(told(line) or "first", action.name, action.amount, True, None, None, None, None)
            for line, kept in menus.items()
            for action in kept
        )
        return Sizes(
            player=PLAYERS[self.candidates.player],
            street="",
            keep=keep,
            menus={told(line) or "first": tuple(action.name for action in kept) for line, kept in menus.items()},
            spots=(SpotSizes(rich.game.name, spot.pot, percent, *ends, rows),),
            better_percent_of_pot=None,
            seconds=self.seconds,
            work=rich.work + work,
        )

    @property
    def by_count(self) -> tuple[Count, ...]:
        """The best menus so far; those of more sizes than there are are not told twice."""
        found = {each.keep: Count(each.keep, each.menu, each.loss_percent_of_pot) for each in self.found.values()}
        return tuple(found[keep] for keep in sorted(found))

    @property
    def seconds(self) -> float:
        """So far, without what it takes to compile kernels."""
        return time.perf_counter() - self.began - self.compilation.seconds

    def fewest(self, lose: float) -> Sizes:
        """As few sizes as lose at most so many per cent of the pot."""
        most = max(len(self.candidates.of(slot)) for slot in self.slots)
        for keep in range(1, most + 1):
            found = self.best(keep)
            if found.loss_percent_of_pot[1] <= lose:
                return replace(found, proved_fewest=self._more_is_lost(keep - 1, lose))
        raise ParameterError(
            f"The 'lose' parameter must be more than the 'accuracy' of {self.accuracy:g} % of the pot, within which"
            f" intervals are known, got {lose:g}."
        )

    def _more_is_lost(self, keep: int, lose: float) -> bool:
        """Is it certain that every menu of ``keep`` sizes loses more?"""
        if len(self.slots) > 1:
            return False
        cases, rich = self.first, fmean(case.low(case.all) for case in self.first)
        return all(rich - fmean(case.high(menu) for case in cases) > lose for menu in menus_of(cases, keep))

    def _cases(self, slot: Slot, held: Mapping[Slot, Menu]) -> list[Case]:
        pairs = zip(self.spots, self.rich, strict=True)
        self.cases.append([Case(spot, self.candidates, slot, rich, held) for spot, rich in pairs])
        return self.cases[-1]


def _of_spot(case: Case, menus: Mapping[Slot, Menu]) -> SpotSizes:
    """What the menu keeps on one spot, and what candidates of its last slot are worth there."""
    menu, spot, rich = menus[case.slot], case.spot, (case.rich.low, case.rich.high)
    kept = (case.chips_of(case.low(menu)), case.chips_of(case.high(menu)))
    loss = _lost(rich, kept)
    rows = [_row(case, menu, k, rich, kept) for k in case.distinct] if len(menus) == 1 else _kept(case, menus)
    percent = (100.0 * loss[0] / spot.pot, 100.0 * loss[1] / spot.pot)
    return SpotSizes(case.rich.game.name, spot.pot, percent, rich, kept, tuple(rows))


def _row(case: Case, menu: Menu, size: int, rich: Interval, kept: Interval) -> SizeRow:
    inside = case.same(size, menu)
    slot = " ".join(case.slot)
    low, high = case.chips_of(case.low((size,))), case.chips_of(case.high((size,)))
    alone = _lost(rich, (low, high))
    others = tuple(k for k in case.distinct if k != size)
    return SizeRow(
        slot=slot,
        size=case.candidates.of(case.slot)[size],
        chips=None if case.chips is None else case.chips[size],
        kept=inside,
        frequency=case.frequencies.get(size),
        loss_if_only=(alone[0], alone[1] if math.isfinite(low) else None),
        gain_if_added=None if inside else max(0.0, case.chips_of(case.added(menu, size)) - kept[0]),
        loss_if_removed=max(0.0, rich[0] - case.chips_of(case.upper(others))),
    )


def _kept(case: Case, menus: Mapping[Slot, Menu]) -> list[SizeRow]:
    """Candidates of several slots: which are kept. What one is worth would depend on what is kept elsewhere."""
    return [
        SizeRow(" ".join(slot), name, None, k in menu, None, None, None, None)
        for slot, menu in menus.items()
        for k, name in enumerate(case.candidates.of(slot))
    ]


def _lost(rich: Interval, kept: Interval) -> Interval:
    """Between two values that are known by intervals: at least, at most."""
    return max(0.0, rich[0] - kept[1]), rich[1] - kept[0]


def _spots(spots: Any) -> list[Spot]:
    given: list[Any] = list(cast(Sequence[Any], spots)) if isinstance(spots, list | tuple) else [spots]
    made = [spot if isinstance(spot, Spot) else make_spot(spot) for spot in given]
    if not made:
        raise ParameterError("The 'spots' parameter must name at least one spot.")
    if any(spot.rake(spot.pot) > 0.0 for spot in made):
        raise ParameterError(
            "Sizes are compared by the value of a game, and with rake there is none: leave out the rake."
        )
    if len({spot.street for spot in made}) > 1:
        raise ParameterError("Spots that share a menu must start on the same street.")
    return made


def _candidates(
    spots: list[Spot], player: str, street: str | None, bets: str, raises: str, restrict: str
) -> tuple[Candidates, list[Slot]]:
    number = named("player", player, {name: k for k, name in enumerate(PLAYERS)})
    kinds, played = named("restrict", restrict, RESTRICT), spots[0].streets
    streets = named("street", street or played[0], {**{each: (each,) for each in played}, "all": played})
    listed_bets, listed_raises = listed(bets, "bets", raises=False), listed(raises, "raises", raises=True)
    slots = [(each, kind) for each in streets for kind in kinds]
    return Candidates(number, streets, listed_bets, listed_raises), slots


def _check(keep: Any, lose: Any, counts: Any, accuracy: Any, gap: Any) -> None:
    for name, value, least in (("keep", keep, 1), ("counts", counts, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"The '{name}' parameter must be a whole number from {least}, got {quoted(value)}.")
    for name, value in (("lose", 1.0 if lose is None else lose), ("accuracy", accuracy), ("gap", gap)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= 100.0:
            raise ParameterError(
                f"The '{name}' parameter must be per cent of the pot, more than 0 and at most 100, got {quoted(value)}."
            )


def _check_per_decision(spots: list[Spot], lose: float | None, street: str | None) -> None:
    if len(spots) > 1 or lose is not None or street not in (None, spots[0].street):
        raise ParameterError(
            "The 'per_decision' parameter is for one spot, its first street, and a number of sizes to keep."
        )


def _nothing(_: str) -> None:
    """Nobody watches."""
