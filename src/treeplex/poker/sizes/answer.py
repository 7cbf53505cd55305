"""The answer of ``sizes``: the menu, bounds on its loss, and a row for every candidate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from treeplex.algorithms.protocol import Extras
from treeplex.arrow import Table, table
from treeplex.html import html_picture, html_table

Interval = tuple[float, float]
"""Lower and upper bound."""

UNDECIDED: Final = "not decided yet"
"""Text for a menu that is not known yet."""


@dataclass(frozen=True)
class SizeRow:
    """A candidate, with losses and gains in chips; ``None``: unknown, ambiguous, or several slots are restricted."""

    slot: str  # such as "river bet"
    size: str
    chips: float | None  # None: it depends on the line
    kept: bool
    frequency: float | None  # how often it is bet if all candidates are allowed
    loss_if_only: tuple[float, float | None] | None  # bounds on the loss if it is the only size
    gain_if_added: float | None  # upper bound on the gain if it joins the menu
    loss_if_removed: float | None  # lower bound on the loss if it leaves the candidates


@dataclass(frozen=True)
class SpotSizes:
    """One spot. EV is the number of chips that the player wins from the pot."""

    spot: str
    pot: float
    loss_percent_of_pot: Interval
    ev_rich: Interval
    ev_kept: Interval
    sizes: tuple[SizeRow, ...]


@dataclass(frozen=True)
class Count:
    """The best menu known with ``keep`` sizes."""

    keep: int
    menu: tuple[str, ...]
    loss_percent_of_pot: Interval


@dataclass(frozen=True)
class Sizes(Extras):
    """The best menu known for one spot, or one for several; best responses certify every interval."""

    player: str
    street: str
    keep: int
    menus: dict[str, tuple[str, ...]]  # by street and kind, such as "river bet"
    spots: tuple[SpotSizes, ...]
    better_percent_of_pot: float | None  # upper bound on the advantage of another menu of this size
    work: int  # passes times public nodes, in total
    proved_fewest: bool | None = None  # with a limit on the loss: whether fewer sizes certainly lose more
    by_count: tuple[Count, ...] = ()  # the best menus of other numbers of sizes, if requested
    complete: bool = False  # whether the search has finished

    @property
    def menu(self) -> tuple[str, ...]:
        """The chosen sizes; those of the first slot, if there are several."""
        return next(iter(self.menus.values()))

    @property
    def menus_text(self) -> str:
        """All menus as a line of text."""
        if len(self.menus) == 1:
            return ", ".join(self.menu) or UNDECIDED
        return "; ".join(f"{slot} {', '.join(menu) or UNDECIDED}" for slot, menu in self.menus.items())

    @property
    def loss_percent_of_pot(self) -> Interval:
        """Bounds on the menu's loss against all candidates; the mean over spots."""
        low, high = (sum(spot.loss_percent_of_pot[k] for spot in self.spots) / len(self.spots) for k in (0, 1))
        return low, high

    def summary(self) -> dict[str, Any]:
        """As ``Extras``: JSON; with several spots, each spot has its own EVs and sizes."""
        one = self.spots[0] if len(self.spots) == 1 else None
        return {
            "spots": [asdict(spot) for spot in self.spots],
            "player": self.player,
            "street": self.street,
            "keep": self.keep,
            "menu": list(self.menu),
            "menus": {name: list(menu) for name, menu in self.menus.items()},
            "loss_percent_of_pot": list(self.loss_percent_of_pot),
            "ev_rich": list(one.ev_rich) if one else None,
            "ev_kept": list(one.ev_kept) if one else None,
            "sizes": [asdict(row) for row in one.sizes] if one else None,
            "better_percent_of_pot": self.better_percent_of_pot,
            "proved_fewest": self.proved_fewest,
            "by_count": [asdict(each) for each in self.by_count],
            "work": self.work,
            "complete": self.complete,
            "certified": True,
        }

    def tables(self) -> dict[str, Table]:
        """As ``Extras``."""
        return {"sizes": self.to_arrow()}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {
            "result.json": "the menu, bounds on its loss, every size, and how the run ended",
            "sizes.parquet": "one row per spot and size: its frequency and bounds on its value",
            "log.parquet": "one row per evaluation: iteration, seconds, bounds on the best menu's loss in % of the pot",
        }

    def to_arrow(self) -> Table:
        """Return a table with a row for every spot and candidate."""
        rows = [(spot, row) for spot in self.spots for row in spot.sizes]
        columns: dict[str, list[Any]] = {
            "spot": [spot.spot for spot, _ in rows],
            "pot": [spot.pot for spot, _ in rows],
            "slot": [row.slot for _, row in rows],
            "size": [row.size for _, row in rows],
            "chips": [row.chips for _, row in rows],
            "kept": [row.kept for _, row in rows],
            "frequency": [row.frequency for _, row in rows],
            "loss_if_only_low": [row.loss_if_only and row.loss_if_only[0] for _, row in rows],
            "loss_if_only_high": [row.loss_if_only and row.loss_if_only[1] for _, row in rows],
            "gain_if_added": [row.gain_if_added for _, row in rows],
            "loss_if_removed": [row.loss_if_removed for _, row in rows],
        }
        return table(columns, {})

    def cells(self, spot: SpotSizes) -> list[list[str]]:
        """Return rows of text for a table, with losses in per cent of the pot."""

        def percent(chips: float | None) -> str:
            return "" if chips is None else f"{100.0 * chips / spot.pot:.2f}"

        def alone(loss: tuple[float, float | None] | None) -> str:
            if loss is None:
                return ""
            return f"{percent(loss[0])} or more" if loss[1] is None else f"{percent(loss[0])} to {percent(loss[1])}"

        several = len(self.menus) > 1
        return [
            [
                f"{row.slot} {row.size}" if several else row.size,
                "" if row.chips is None else f"{row.chips:g}",
                "kept" if row.kept else "",
                "" if row.frequency is None else f"{100.0 * row.frequency:.1f}%",
                alone(row.loss_if_only),
                "" if row.gain_if_added is None else f"at most {percent(row.gain_if_added)}",
                f"at least {percent(row.loss_if_removed)}" if row.loss_if_removed else "",
            ]
            for row in spot.sizes
        ]

    def html(self) -> str:
        """As ``Extras``."""
        low, high = self.loss_percent_of_pot
        title = f"{self.menus_text}: loses {low:.3f} to {high:.3f} % of the pot"
        words = html_table(title, COLUMNS, [cells for spot in self.spots for cells in self.cells(spot)])
        return words + html_picture(self.plot().png(), title)

    def plot(self, path: str | Path | None = None) -> Any:
        """As ``Extras``: the loss of each size alone, and how often it is bet."""
        from treeplex.poker.sizes.plot import plot_sizes  # noqa: PLC0415 - that module imports this class

        return plot_sizes(self, path)


COLUMNS = ("size", "chips", "", "used", "lost if only, % of pot", "gained if added, %", "lost if removed, %")
"""Headings of ``Sizes.cells``."""
