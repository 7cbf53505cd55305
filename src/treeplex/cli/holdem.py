"""``treeplex holdem``: solve hold'em spots, show their solutions, and estimate their size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treeplex import api
from treeplex.arrow import write_parquet
from treeplex.cli.convert import convert
from treeplex.cli.lazy import HELP_OPTIONS
from treeplex.cli.options import AsJson, Folder, Force, NoSave, Quiet, Values, grouped
from treeplex.cli.output import byte_count, check_files, chips, console, print_json, print_table, say
from treeplex.cli.report import report
from treeplex.cli.sizes import sizes
from treeplex.cli.solve import Algorithm, run
from treeplex.cli.spots import SpotOptions
from treeplex.compile.memory import available
from treeplex.engines.boards.game import HoldemGame, load_spot, threads_for
from treeplex.engines.boards.solver import seconds_to_solve
from treeplex.errors import ParameterError
from treeplex.games.holdem.files import read_file
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.spot import DEFAULT_MENU, PLAYERS, Spot
from treeplex.plots.grid import plot_grid, print_grid
from treeplex.poker.solving import open_run
from treeplex.poker.views.node import Row
from treeplex.poker.views.view import View
from treeplex.runs.progress import duration
from treeplex.runs.requests import solving
from treeplex.runs.schema import SOLVE, with_unit

holdem = typer.Typer(
    name="holdem",
    help="Texas hold'em subgames: solve spots, show solutions, estimate sizes.",
    no_args_is_help=True,
    add_completion=False,
    context_settings=dict(HELP_OPTIONS),
)

SHOWN = 30
"""Default number of hands that ``show`` prints on the screen."""

Locks = Annotated[
    Path | None,
    typer.Option("--lock", help="JSON file of locked decisions: [{line, strategy: {range: {action: probability}}}]."),
]
Line = Annotated[
    str, typer.Option(help='Line of play to the node, such as "check, bet 75%, call, 2c". Default: the root.')
]


@holdem.command()
@grouped
def solve(
    *,
    spot: SpotOptions,
    algorithm: Algorithm = None,
    values: Annotated[Values, with_unit(SOLVE)],
    lock: Locks = None,
    no_save: NoSave = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve a spot and prove how close the result is. Default target: 0.5% of the pot. Ctrl-C stops and saves."""
    source, locks = spot.read(), () if lock is None else make_locks(read_file(lock, "file of locks"))
    with console.status("building the tree", spinner="dots"):
        request = solving(source, algorithm, locks=locks, **values)
    raise run(request, no_save, 0, as_json)


holdem.command()(sizes)
holdem.command()(report)
holdem.command()(convert)


@holdem.command()
def show(
    folder: Folder,
    line: Line = "",
    player: Annotated[str | None, typer.Option(help="Player to show: oop or ip. Default: the player to act.")] = None,
    hand: Annotated[str | None, typer.Option(help="Show only hands of this range, such as AKs or QQ+.")] = None,
    sort: Annotated[str, typer.Option(help="Sort by class, reach, ev, equity, or an action, such as check.")] = "class",
    by_class: Annotated[bool, typer.Option("--by-class", help="Show totals per class of hands, such as AKs.")] = False,
    grid: Annotated[bool, typer.Option("--grid", help="Show the 13 x 13 grid of hand classes.")] = False,
    png: Annotated[Path | None, typer.Option(help="Save the grid to this PNG.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Save a Parquet table with one row per hand and action.")] = None,
    force: Force = False,
    most: Annotated[
        int | None,
        typer.Option(min=0, help=f"Maximum number of hands to list. Default: {SHOWN} on the screen, all otherwise."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show strategy, EV of every action, and equity at a node of a solved spot."""
    if grid and (as_json or by_class or most is not None or sort != "class"):
        raise ParameterError(
            "The option --grid shows all classes in a fixed order: leave out --json, --by-class, --sort and --most."
        )
    check_files(force=force, png=png, parquet=parquet)
    with console.status("reading the run", spinner="dots"):
        view = open_run(folder).at(line, player)
    rows = view.rows(hand, sort, most, by_class=by_class)
    if as_json:
        print_json(view.summary(rows))
    elif grid:
        print_grid(view, Console(emoji=False), hand)
    else:
        _describe(view, rows if most is not None else rows[:SHOWN], by_class)
        if most is None and len(rows) > SHOWN:
            say(f"... {len(rows) - SHOWN} more: use --most {len(rows)}, --by-class or --hand")
    if not view.share.any():
        say("this line is never played: no hand of one player reaches it")
    elif hand is not None and not rows and most != 0:
        say(f"no hand of {hand!r:.80} is in {PLAYERS[view.player]}'s range here")
    if png is not None:
        plot_grid(view, png, hand)
    if parquet is not None:
        write_parquet(view.table(rows), parquet)
    if not as_json:
        say(*(f"saved {path}" for path in (png, parquet) if path is not None))


@holdem.command()
@grouped
def info(*, spot: SpotOptions, as_json: AsJson = False) -> None:
    """Show nodes, memory, savings by suit isomorphism, and the estimated solve time of a spot."""
    tell_size(spot.read(), as_json)


def tell_size(spot: Spot, as_json: bool) -> None:
    """Print the size of a spot."""
    with console.status("building the tree", spinner="dots"):
        game = load_spot(spot)
        whole = game if len(game.streets) == 1 else load_spot(spot, isomorphic=False)
    advice = api.recommended(game)
    fields: dict[str, Any] = {**_sizes(game, whole), "recommended": advice}
    if as_json:
        print_json(fields)
        return
    dealt, stored = len(whole.deals[-1]), len(game.deals[-1])
    alike = f"{stored:,} of {dealt:,} river boards ({fields['isomorphism_gain']:.2f}×)"
    times = ", ".join(f"{duration(max(x, 1.0))} to {to}" for to, x in fields["seconds_estimated"].items())
    rows = [
        ["nodes", f"{fields['nodes']:,}"],
        ["decisions by street", "  ".join(f"{n:,}" for n in fields["action_nodes_by_street"])],
        ["hands", f"oop {fields['hands'][0]}, ip {fields['hands'][1]}"],
        ["boards by street", "  ".join(f"{n:,}" for n in fields["boards_by_street"])],
        *([["sizes (default)", DEFAULT_MENU]] if spot.has_default_sizes else []),
        *([["suit isomorphism", alike]] if stored < dealt else []),
        *[[f"memory, {storage}", byte_count(size)] for storage, size in fields["bytes"].items()],
        ["free memory", byte_count(fields["bytes_free"])],
        ["recommended", f"--algorithm {advice['algorithm']} --backend {advice['backend']}"],
        ["time (rough estimate)", f"{times}, with {threads_for(game)} thread{'s' * (threads_for(game) > 1)}"],
    ]
    print_table([game.name, ""], rows)


def _describe(view: View, rows: list[Row], by_class: bool) -> None:
    """Print the strategy of all hands, then a table of some: frequency and EV of each action."""
    totals = zip(view.names, view.totals().values(), strict=True)
    plays = ", ".join(f"{name} {100 * x:.1f}%" for name, x in totals) or f"hands of {PLAYERS[view.player]}"
    typer.echo(f"{PLAYERS[view.to_act]} to act, pot {view.pot:.10g}: {plays}")
    if not rows:
        return
    first = ["class", "combos"] if by_class else ["hand", "reach"]
    columns = [*first, *(f"{action.name} (EV)" for action in view.actions), "EV", "equity"]
    cells = [
        [
            row.hand,
            f"{row.reach:.3f}",
            *(f"{100 * x:.1f}% ({chips(ev)})" for x, ev in zip(row.strategy, row.ev, strict=True)),
            chips(row.value),
            "unknown" if row.equity is None else f"{100 * row.equity:.1f}%",
            *(["indifferent" if row.indifferent else ""] if view.actions else []),
        ]
        for row in rows
    ]
    print_table([*columns, ""] if view.actions else columns, cells, right=range(1, len(columns)))


def _sizes(game: HoldemGame, whole: HoldemGame) -> dict[str, Any]:
    measured = {"bytes_free": available(), "seconds_estimated": seconds_to_solve(game)}
    return game.summary() | {"isomorphism_gain": len(whole.deals[-1]) / len(game.deals[-1])} | measured
