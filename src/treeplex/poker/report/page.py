"""A report as a self-contained HTML page: a table with bars that sorts by a click on a column head."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Final, NamedTuple

from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.report.answer import Report, ReportRow

STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --bar: #d55e0055; --soft: #8882; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.2rem; } p { color: GrayText; max-width: 60rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .5rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { position: sticky; top: 0; background: Canvas; cursor: pointer; vertical-align: bottom; }
th:focus-visible { outline: 2px solid #0072b2; }
td.text, th.text { text-align: left; }
td.bar { background: linear-gradient(90deg, var(--bar) var(--part), transparent var(--part)); }
tfoot td { font-weight: 600; border-top: 2px solid; border-bottom: 0; }
tbody tr:hover { background: var(--soft); }
input { font: inherit; padding: .2rem .4rem; margin-bottom: .6rem; width: 22rem; max-width: 100%; }
"""

SCRIPT: Final = """
const table = document.querySelector("table"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
let last = -1, up = false;
function value(row, k) {
  const { dataset, textContent } = row.cells[k];
  return dataset.value === undefined ? textContent : +dataset.value;
}
function sort(k) {
  up = last === k ? !up : false;
  last = k;
  const order = (a, b) => { const x = value(a, k), y = value(b, k); return x < y ? -1 : x > y ? 1 : 0; };
  const rows = [...body.rows].sort(order);
  body.append(...(up ? rows : rows.reverse()));
  heads.forEach((cell, j) => cell.setAttribute("aria-sort", j !== k ? "none" : up ? "ascending" : "descending"));
}
heads.forEach((cell, k) => {
  cell.addEventListener("click", () => sort(k));
  cell.addEventListener("keydown", e => {
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort(k); }
  });
});
document.querySelector("input").addEventListener("input", e => {
  const words = e.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const row of body.rows) row.hidden = !words.every(w => row.textContent.toLowerCase().includes(w));
});
"""


class Column(NamedTuple):
    """A column of the table. If all rows agree, it becomes a few words above the table."""

    name: str
    cell: Callable[[ReportRow], str]
    text: bool = False
    may_be_alike: bool = False


def page(report: Report, title: str) -> str:
    """Return the whole page; texts from runs are escaped."""
    columns = _columns(report)
    alike = [
        each for each in columns if each.may_be_alike and len({_words(each.cell(row)) for row in report.rows}) == 1
    ]
    shown = [each for each in columns if each not in alike]
    common = "; ".join(f"{each.name} {_words(each.cell(report.rows[0]))}" for each in alike)
    head = "".join(f'<th scope="col" tabindex="0"{_left(each.text)}>{escape(each.name)}</th>' for each in shown)
    body, foot = (
        "".join(f"<tr>{''.join(each.cell(row) for each in shown)}</tr>" for row in rows)
        for rows in (report.rows, report.averages)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1><p>{common}</p>"
        '<input type="search" placeholder="filter rows, such as: paired A-high" aria-label="filter rows">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody><tfoot>{foot}</tfoot></table>"
        "<p>Click a head to sort. EV is the number of chips won from the pot, from the node on. Realised is EV as a"
        " fraction of equity times the pot. Frequencies and EVs of actions belong to the player to act. Averages weight"
        " boards by the number of boards that differ only by suits, and by how often the line is played.</p>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _columns(report: Report) -> list[Column]:
    """Return all columns, including those that are not shown."""
    listed = [
        Column("run", partial(_word, "run"), text=True, may_be_alike=True),
        Column("board", partial(_word, "board"), text=True),
        Column("line", partial(_word, "line"), text=True, may_be_alike=True),
        Column("hands", partial(_word, "hands"), text=True, may_be_alike=True),
        Column("to act", partial(_word, "to_act"), text=True, may_be_alike=True),
        Column("often", partial(_number, "often", True), may_be_alike=True),
        Column("share", partial(_number, "share", True), may_be_alike=True),
        Column("pot", partial(_number, "pot", False), may_be_alike=True),
    ]
    for action in dict.fromkeys(action for row in report.rows for action in row.actions):
        listed += [
            Column(action, partial(_played, action)),
            Column(f"{action} EV", partial(_action_ev, action)),
        ]
    for k, player in enumerate(PLAYERS):
        listed += [
            Column(f"{player.upper()} EV", partial(_of_player, "ev", k, False)),
            Column(f"{player.upper()} equity", partial(_of_player, "equity", k, True)),
            Column(f"{player.upper()} realised", partial(_of_player, "realisation", k, True)),
        ]
    return [*listed, Column("texture", partial(_word, "textures"), text=True)]


def _word(name: str, row: ReportRow) -> str:
    word = getattr(row, name)
    return _text((word if isinstance(word, str) else " ".join(word)) or ("root" if name == "line" else ""))


def _number(name: str, percent: bool, row: ReportRow) -> str:
    return _cell(getattr(row, name), percent=percent)


def _played(action: str, row: ReportRow) -> str:
    number = row.frequencies[row.actions.index(action)] if action in row.actions else None
    return _cell(number, percent=True, bar=True)


def _action_ev(action: str, row: ReportRow) -> str:
    return _cell(row.action_ev[row.actions.index(action)] if action in row.actions else None)


def _of_player(name: str, player: int, percent: bool, row: ReportRow) -> str:
    return _cell(getattr(row, name)[player], percent=percent)


def _left(text: bool) -> str:
    return ' class="text"' if text else ""


def _text(word: str) -> str:
    return f'<td class="text">{escape(word)}</td>'


def _words(cell: str) -> str:
    """Return the text of a cell."""
    return cell.partition(">")[2].rpartition("<")[0]


def _cell(number: float | None, *, percent: bool = False, bar: bool = False) -> str:
    if number is None:
        return '<td data-value="-1e300">–</td>'
    text = f"{100 * number:z.1f}%" if percent else f"{number:z.2f}"
    part = f' class="bar" style="--part:{100 * min(max(number, 0.0), 1.0):.1f}%"' if bar else ""
    return f'<td data-value="{number!r}"{part}>{text}</td>'
