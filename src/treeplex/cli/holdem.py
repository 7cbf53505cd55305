"""``treeplex holdem``: solve a spot, look at the answer, see how large one is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treeplex import api
from treeplex.api import DEFAULT_SPOT_ALGORITHM, DEFAULT_SPOT_TARGET, Watch
from treeplex.arrow import write_parquet
from treeplex.cli.answer import say, tell, unused_folder
from treeplex.cli.options import (
    CheckpointSeconds,
    Folder,
    Iterate,
    Iterations,
    NashConv,
    Nodes,
    NoSave,
    Out,
    Seconds,
    Storage,
    Threads,
)
from treeplex.cli.output import AsJson, console, print_json, print_table
from treeplex.cli.progress import ProgressLine
from treeplex.compile.memory import GIB
from treeplex.engines.boards.game import BYTES, HoldemGame, load_spot
from treeplex.errors import ParameterError
from treeplex.evaluation.spots import View
from treeplex.games.holdem.cards import hand_name
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.spot import PLAYERS, Spot, make_spot, read_spot, sizes_for
from treeplex.poker.grid import save_grid, terminal_grid
from treeplex.poker.solving import open_run
from treeplex.runs.folder import RunFolder
from treeplex.runs.limits import Limits
from treeplex.runs.request import SPOT
from treeplex.runs.solution import Solution
from treeplex.runs.targets import nash_conv_of

holdem = typer.Typer(
    name="holdem",
    help="Texas hold'em subgames: solve a spot, look at the answer, see how large one is.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SpotFile = Annotated[
    str | None,
    typer.Argument(metavar="[SPOT]", help="A JSON or TOML file, or FILE#NAME; left out: give --board and the rest."),
]
Board = Annotated[str | None, typer.Option(help='Three to five cards, such as "Ks 9h 6d".')]
Pot = Annotated[int | None, typer.Option(help="Chips in the pot.")]
Stack = Annotated[int | None, typer.Option(help="Chips each player has left.")]
Oop = Annotated[str | None, typer.Option(help='Range out of position, such as "22+,A5s-A2s,KQo:0.5".')]
Ip = Annotated[str | None, typer.Option(help="Range in position.")]
Bet = Annotated[str | None, typer.Option(help='Bet sizes on every street, such as "33%, 75%, a".')]
Raise = Annotated[str | None, typer.Option("--raise", help='Raise sizes on every street, such as "2.5x, a".')]
Until = Annotated[
    str | None,
    typer.Option(
        "--exploitability",
        "--until",
        help=f"Exploitability to reach: 0.3%pot, 5mbb or 2chips. Default {DEFAULT_SPOT_TARGET}.",
    ),
]
BigBlind = Annotated[float | None, typer.Option(help="Chips of a big blind, to count in thousandths of it (mbb).")]
Algorithm = Annotated[str, typer.Option(help="cfr, cfr+, lcfr, dcfr, pcfr+ or pdcfr+, with parameters.")]
Locks = Annotated[
    Path | None, typer.Option("--lock", help="A JSON file: [{line, strategy: {range: {action: share}}}].")
]
Line = Annotated[str, typer.Option(help='The way to the node, such as "check, bet 75%, call, 2c". Empty: the start.')]


@holdem.command()
def solve(
    spot: SpotFile = None,
    until: Until = None,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    algorithm: Algorithm = DEFAULT_SPOT_ALGORITHM,
    storage: Storage = None,
    threads: Threads = 0,
    board: Board = None,
    pot: Pot = None,
    stack: Stack = None,
    oop: Oop = None,
    ip: Ip = None,
    bet: Bet = None,
    raise_: Raise = None,
    lock: Locks = None,
    iterate: Iterate = "average",
    big_blind: BigBlind = None,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Solve a spot and prove how close the answer is. Ctrl-C keeps what is done."""
    given = make_spot_from(spot, board, pot, stack, oop, ip, bet, raise_)
    with console.status("building the tree", spinner="dots"):
        game = load_spot(given)
    limits = _limits(given.pot, until, nash_conv, big_blind, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(nash_conv_of(DEFAULT_SPOT_TARGET, given.pot))
    folder = None if no_save else out or unused_folder(f"{game.name.replace(' ', '')}-{algorithm}")
    locks = _locks(lock)

    def start(watch: Watch) -> Solution:
        return api.solve(
            game,
            algorithm,
            nash_conv=limits.nash_conv,
            seconds=seconds,
            iterations=iterations,
            nodes=nodes,
            storage=storage,
            threads=threads,
            locks=locks,
            iterate=iterate,
            out=folder,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        )

    raise _follow(f"{game.name}, {algorithm}", limits, start, folder, given.pot, big_blind, as_json)


@holdem.command()
def resume(
    folder: Folder,
    until: Until = None,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    threads: Threads = 0,
    big_blind: BigBlind = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    as_json: AsJson = False,
) -> None:
    """As ``treeplex resume``."""
    request = RunFolder.open(folder).request
    if request.kind != SPOT:
        raise ParameterError(
            f"The run in {folder} is about {request.game}, not a hold'em spot: treeplex resume {folder}"
        )
    pot = int(request.source["pot"])
    limits = _limits(pot, until, nash_conv, big_blind, seconds, iterations, nodes)

    def start(watch: Watch) -> Solution:
        return api.resume(
            folder,
            nash_conv=limits.nash_conv,
            seconds=seconds,
            iterations=iterations,
            nodes=nodes,
            threads=threads,
            checkpoint_seconds=checkpoint_seconds,
            watch=watch,
        )

    wanted = limits if limits.any else request.limits
    raise _follow(f"{request.game}, {request.asked}", wanted, start, folder, pot, big_blind, as_json)


@holdem.command()
def show(
    folder: Folder,
    line: Line = "",
    hand: Annotated[str | None, typer.Option(help="Only hands of this range, such as AKs or QQ+.")] = None,
    grid: Annotated[bool, typer.Option("--grid", help="The 13 x 13 grid of hand classes, in colours.")] = False,
    png: Annotated[Path | None, typer.Option(help="Save the grid as a picture.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Save one row a hand and action.")] = None,
    most: Annotated[int, typer.Option(min=0, help="How many hands to print.")] = 12,
    as_json: AsJson = False,
) -> None:
    """Strategy, EV and equity at a node of a solved spot."""
    with console.status("reading the run", spinner="dots"):
        view = open_run(folder).at(line)
    if png is not None:
        _saved(save_grid, view, png)
    if parquet is not None:
        _saved(_save_table, view, parquet)
    if as_json:
        print_json(view.summary())
        return
    if grid:
        Console(emoji=False).print(terminal_grid(view), soft_wrap=True)
    else:
        _describe(view, hand, most)
    for path in (png, parquet):
        if path is not None:
            console.print(f"saved {path}", markup=False, highlight=False)


@holdem.command()
def info(
    spot: SpotFile = None,
    board: Board = None,
    pot: Pot = None,
    stack: Stack = None,
    oop: Oop = None,
    ip: Ip = None,
    bet: Bet = None,
    raise_: Raise = None,
    as_json: AsJson = False,
) -> None:
    """Nodes, memory, and what suit isomorphism saves."""
    given = make_spot_from(spot, board, pot, stack, oop, ip, bet, raise_)
    with console.status("building the tree", spinner="dots"):
        game = load_spot(given)
        whole = game if len(game.streets) == 1 else load_spot(given, isomorphic=False)
    fields = _sizes(game, whole)
    if as_json:
        print_json(fields)
        return
    rows = [
        ["nodes", f"{fields['nodes']:,}"],
        ["decisions by street", "  ".join(f"{n:,}" for n in fields["action_nodes_by_street"])],
        ["hands", f"oop {fields['hands'][0]}, ip {fields['hands'][1]}"],
        ["boards", "  ".join(f"{n:,}" for n in fields["boards_by_street"])],
        ["isomorphism gain", f"{fields['isomorphism_gain']:.2f} times fewer river boards"],
        *[[f"memory, {storage}", _bytes(size)] for storage, size in fields["bytes"].items()],
    ]
    print_table([game.name, ""], rows)


def make_spot_from(
    file: str | None,
    board: str | None,
    pot: int | None,
    stack: int | None,
    oop: str | None,
    ip: str | None,
    bet: str | None,
    raise_: str | None,
) -> Spot:
    """The spot of a file, or of the options; options replace what a file says."""
    given: dict[str, Any] = {
        "board": board,
        "pot": pot,
        "effective_stack": stack,
        "oop_range": oop,
        "ip_range": ip,
        "sizes": sizes_for(bet or "", raise_ or "") if bet is not None or raise_ is not None else None,
    }
    named = {key: value for key, value in given.items() if value is not None}
    if file is None:
        for key in ("board", "pot", "effective_stack", "oop_range", "ip_range"):
            if key not in named:
                option = {"effective_stack": "--stack", "oop_range": "--oop", "ip_range": "--ip"}.get(key, f"--{key}")
                raise ParameterError(f"Give a spot file, or the option {option} too.")
        return make_spot(named)
    return make_spot(read_spot(file).summary() | named)


def _limits(
    pot: int,
    until: str | None,
    nash_conv: float | None,
    big_blind: float | None,
    seconds: float | None,
    iterations: int | None,
    nodes: int | None,
) -> Limits:
    if until is not None:
        if nash_conv is not None:
            raise ParameterError("Give --exploitability or --nash-conv, not both: one is twice the other.")
        nash_conv = nash_conv_of(until, pot, big_blind)
    return Limits(nash_conv, seconds, iterations, nodes)


def _locks(path: Path | None) -> tuple[Lock, ...]:
    if path is None:
        return ()
    try:
        entries: Any = json.loads(path.read_text(encoding="utf-8"))
        return tuple(Lock(entry["line"], entry["strategy"]) for entry in entries)
    except OSError as error:
        raise ParameterError(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError(
            f"The file {path} must hold a list of locks, each with line and strategy ({error})."
        ) from error


def _follow(
    title: str,
    limits: Limits,
    start: Callable[[Watch], Solution],
    folder: Path | None,
    pot: int,
    big_blind: float | None,
    as_json: bool,
) -> typer.Exit:
    with ProgressLine(title, limits, pot) as line:
        solution = start(line.watch)
    mbb = None if big_blind is None else {"exploitability_mbb": solution.mbb(big_blind)}
    code = tell(solution, limits, folder, 0, as_json, mbb)
    if mbb and not as_json:
        say(f"exploitability {mbb['exploitability_mbb']:.3g} mbb")
    return code


def _describe(view: View, hand: str | None, most: int) -> None:
    from treeplex.games.holdem.ranges import parse_range  # noqa: PLC0415 - only where a range is given

    chosen = view.hands()
    if hand is not None:
        wanted = parse_range(hand, "hand")
        chosen = [number for number in chosen if wanted[number] > 0.0]
    totals = ", ".join(f"{name} {100 * x:.1f}%" for name, x in zip(view.names, view.totals().values(), strict=True))
    console.print(
        f"{PLAYERS[view.player]} to act, pot {view.pot}: {totals}", markup=False, highlight=False, soft_wrap=True
    )
    rows = [
        [
            hand_name(number),
            f"{view.reach[number]:.3f}",
            *(f"{x:.3f}" for x in view.strategy[:, number]),
            f"{view.value(number):.2f}",
            f"{100 * view.equity[number]:.1f}",
        ]
        for number in chosen[:most]
    ]
    print_table(["hand", "reach", *(action.name for action in view.actions), "EV", "equity %"], rows)
    if len(chosen) > most:
        console.print(f"... {len(chosen) - most} more; --most shows them", highlight=False)


def _save_table(view: View, path: Path) -> None:
    write_parquet(view.table(), path)


def _saved(save: Callable[[View, Path], None], view: View, path: Path) -> None:
    try:
        save(view, path)
    except OSError as error:
        raise ParameterError(f"The file {path} cannot be written: {error.strerror}.") from error


def _sizes(game: HoldemGame, whole: HoldemGame) -> dict[str, Any]:
    counts = game.counts()
    return {
        "board": game.name,
        "nodes": game.nodes,
        **{key: counts[key] for key in counts if key != "nodes_by_kind"},
        "boards_by_street": [len(level) for level in game.deals],
        "hands": [int(hands.held[0]) for hands in game.boards[0].hands],
        "elements": [game.elements(player) for player in (0, 1)],
        "combinations": game.combinations,
        "isomorphism_gain": len(whole.deals[-1]) / len(game.deals[-1]),
        "bytes": {storage: game.memory(storage) for storage in BYTES},
    }


def _bytes(size: int) -> str:
    return f"{size / GIB:,.2f} GiB" if size >= GIB / 10 else f"{size / 2**20:,.1f} MiB"
