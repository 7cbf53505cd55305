"""``treeplex holdem report``: compare a line of play over many boards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.arrow import write_parquet
from treeplex.cli.options import FOLDER, AsJson, Force, Quiet
from treeplex.cli.output import check_files, chips, print_json, print_table, say, working
from treeplex.files import replace_text
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.report import Report, ReportRow
from treeplex.poker.report import report as gather
from treeplex.poker.report.page import page


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of solved spots.", show_default=False, **FOLDER)],
    line: Annotated[
        list[str] | None,
        typer.Option(help='Line of play to the node; "*" stands for every card, as in "x/x/*". Can be repeated.'),
    ] = None,
    hand: Annotated[str | None, typer.Option(help="Report only these hands, such as AKs or QQ+.")] = (None),
    by_class: Annotated[
        bool, typer.Option("--by-class", help="Print one row per class of hands, such as top pair.")
    ] = False,
    only: Annotated[
        str, typer.Option(help='Use only boards with all of these textures, such as "paired, A-high".')
    ] = "",
    without: Annotated[str, typer.Option(help="Use only boards with none of these textures.")] = "",
    threads: Annotated[int, typer.Option(min=0, help="Number of threads (0 = automatic).")] = 0,
    csv: Annotated[Path | None, typer.Option(help="Save the table as CSV.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Save the table as Parquet.")] = None,
    html: Annotated[Path | None, typer.Option(help="Save the report as a single HTML page.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare a line of play over many boards: frequency, EV, equity and actions, per board and on average."""
    check_files(force=force, csv=csv, parquet=parquet, html=html)
    lines = line or [""]
    with working("opening runs") as more:
        result = gather(
            runs,
            lines,
            hands=hand,
            by_class=by_class,
            only=_words(only),
            without=_words(without),
            threads=threads,
            watch=more,
        )
    if as_json:
        print_json(result.summary())
    else:
        _print(result)
    if not result.rows:
        say("no board of these runs has the requested textures")
    if csv is not None:
        replace_text(csv, result.to_csv())
    if parquet is not None:
        write_parquet(result.to_arrow(), parquet)
    if html is not None:
        replace_text(html, page(result, f"{', '.join(each or 'root' for each in lines)}: {len(result.rows)} rows"))
    if not as_json:
        say(*(f"saved {path}" for path in (csv, parquet, html) if path is not None))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _print(result: Report) -> None:
    """Print a table of nodes, then of averages."""
    actions = list(dict.fromkeys(action for row in result.rows for action in row.actions))
    several = len({row.run for row in result.rows}) > 1
    columns = [*(["run"] if several else []), "board", "line", "hands", "often"]
    texts = len(columns) - 1
    columns += [f"{player} {name}" for player in PLAYERS for name in ("EV", "equity", "realised")]
    columns += [f"{action} (EV)" for action in actions]
    rows = [_cells(row, actions, several) for row in (*result.rows, *result.averages)]
    print_table(columns, rows, right=range(texts, len(columns)))


def _cells(row: ReportRow, actions: list[str], several: bool) -> list[str]:
    cells = [*([row.run] if several else []), row.board if several or row.textures else f"average of {row.board}"]
    cells += [row.line or "root", row.hands, _percent(row.often * row.share, 2)]
    for k in range(len(PLAYERS)):
        cells += [chips(row.ev[k]), _percent(row.equity[k]), _percent(row.realisation[k])]
    for action in actions:
        if action in row.actions:
            at = row.actions.index(action)
            cells.append(f"{_percent(row.frequencies[at])} ({chips(row.action_ev[at])})")
        else:
            cells.append("")
    return cells


def _percent(x: float | None, digits: int = 1) -> str:
    return "unknown" if x is None else f"{100 * x:z.{digits}f}%"
