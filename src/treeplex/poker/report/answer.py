"""The answer of a report: a row for every node, and averages."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa

from treeplex.arrow import Table, table
from treeplex.games.holdem.spot import PLAYERS

LEADING: Final = ("run", "board", "line", "textures", "hands", "weight", "often", "share", "pot", "to_act")
COMMON: Final = ("ev", "equity", "realisation")
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class ReportRow:
    """One node of one run; ``None``: unknown, because the line is never played there."""

    run: str
    board: str
    line: str
    textures: tuple[str, ...]
    hands: str  # all, a range, or a class such as "top pair"
    weight: float  # in averages: number of boards that differ only by suits, times the frequency of the line
    often: float  # fraction of all deals of its run in which the line is played
    share: float  # fraction of the deals that get here that have ``hands``
    pot: float
    to_act: str
    ev: tuple[
        float | None, float | None
    ]  # chips of the pot: the player to act with ``hands``, the other with all hands
    equity: tuple[float | None, float | None]
    realisation: tuple[float | None, float | None]
    actions: tuple[str, ...] = ()
    frequencies: tuple[float, ...] = ()
    action_ev: tuple[float | None, ...] = ()
    pattern: str = ""  # the line as the caller wrote it; averages are over nodes with the same pattern

    def fields(self) -> dict[str, Any]:
        """Return flat columns for tables, with one pair of columns per action."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in LEADING} | {
            "textures": " ".join(self.textures)
        }
        for name in COMMON:
            columns |= {f"{player}_{name}": getattr(self, name)[k] for k, player in enumerate(PLAYERS)}
        for action, frequency, ev in zip(self.actions, self.frequencies, self.action_ev, strict=True):
            columns |= {f"{action} frequency": frequency, f"{action} ev": ev}
        return columns


@dataclass(frozen=True)
class Report:
    """All rows, and an average per group of the same pattern and hands."""

    rows: tuple[ReportRow, ...]
    averages: tuple[ReportRow, ...] = field(default=())

    def columns(self) -> list[str]:
        """Return the columns of flat tables; actions are in their order in the rows."""
        names: dict[str, None] = {}
        for row in self.rows:
            names |= dict.fromkeys(row.fields())
        return list(names)

    def summary(self) -> dict[str, Any]:
        """Return rows and averages as JSON."""
        return {"rows": [row.fields() for row in self.rows], "averages": [row.fields() for row in self.averages]}

    def to_arrow(self) -> Table:
        """Return a table with a row for every node; cells are empty where a run does not have the action."""
        texts, flat = ("run", "board", "line", "textures", "hands", "to_act"), [row.fields() for row in self.rows]
        types = {name: pa.string() if name in texts else pa.float64() for name in self.columns()}
        return table({name: [row.get(name) for row in flat] for name in types}, types)

    def to_csv(self) -> str:
        """Return the table as CSV, averages last."""
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns(), lineterminator="\n")
        writer.writeheader()
        for row in (*self.rows, *self.averages):
            writer.writerow({name: _plain(cell) for name, cell in row.fields().items()})
        return out.getvalue()


class Total(NamedTuple):
    """Totals over all nodes of a pattern."""

    weight: float
    boards: float  # weight of their runs' boards


def averaged(rows: Sequence[ReportRow], totals: Mapping[str, Total]) -> tuple[ReportRow, ...]:
    """Return one row per pattern and hands, weighted by how often each node is played."""
    groups: dict[tuple[str, str], list[ReportRow]] = {}
    for row in rows:
        groups.setdefault((row.pattern, row.hands), []).append(row)
    return tuple(_average(group, totals[line]) for (line, _), group in groups.items() if len(group) > 1)


def _average(rows: list[ReportRow], total: Total) -> ReportRow:
    weights = [row.weight * row.share for row in rows]
    names = list(dict.fromkeys(action for row in rows for action in row.actions))
    columns: list[tuple[float, float | None]] = []
    for name in names:
        at = [row.actions.index(name) if name in row.actions else -1 for row in rows]
        played = [row.frequencies[k] if k >= 0 else 0.0 for k, row in zip(at, rows, strict=True)]
        values = [row.action_ev[k] if k >= 0 else None for k, row in zip(at, rows, strict=True)]
        both = [weight * p for weight, p in zip(weights, played, strict=True)]
        columns.append((_mean(played, weights) or 0.0, _mean(values, both)))

    def pair(name: str) -> tuple[float | None, float | None]:
        first, second = (_mean([getattr(row, name)[k] for row in rows], weights) for k in (0, 1))
        return first, second

    return ReportRow(
        "average",
        f"{len(rows)} boards",
        rows[0].pattern,
        (),
        rows[0].hands,
        total.weight,
        total.weight / total.boards,
        sum(weights) / total.weight if total.weight else 0.0,
        _mean([row.pot for row in rows], weights) or rows[0].pot,
        rows[0].to_act,
        pair("ev"),
        pair("equity"),
        (_realised(rows, 0, weights), _realised(rows, 1, weights)),
        tuple(names),
        tuple(frequency for frequency, _ in columns),
        tuple(ev for _, ev in columns),
        rows[0].pattern,
    )


def _realised(rows: Sequence[ReportRow], player: int, weights: Sequence[float]) -> float | None:
    """Return EV as a fraction of equity times the pot, both summed over all rows first."""
    ev = _mean([row.ev[player] for row in rows], weights)
    equity = _mean([row.pot * (x or 0.0) for row in rows for x in (row.equity[player],)], weights)
    return ev / equity if ev is not None and equity else None


def _plain(cell: str | float | None) -> Any:
    """Escape text that spreadsheets would read as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean of the known values, or None."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total > 0.0 else None
