"""``treeplex holdem``: solve a spot, look at the answer, see how large one is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treeplex.algorithms.holdem import DEFAULT
from treeplex.arrow import write_parquet
from treeplex.cli.answer import ENDINGS, unused_folder
from treeplex.cli.options import CheckpointSeconds, Iterate, Iterations, Seconds
from treeplex.cli.output import SOLVED, UNFINISHED, AsJson, console, print_json, print_table
from treeplex.cli.progress import ProgressLine
from treeplex.compile.memory import GIB
from treeplex.engines.boards.game import BYTES, HoldemGame, load_spot
from treeplex.engines.boards.locks import Lock
from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import hand_name
from treeplex.games.holdem.spot import PLAYERS, Spot, make_spot, read_spot, sizes_for
from treeplex.poker.folder import HoldemFolder
from treeplex.poker.grid import save_grid, terminal_grid
from treeplex.poker.reading import View
from treeplex.poker.solving import DEFAULT_PERCENT, HoldemSolution, open_run
from treeplex.poker.solving import resume as resume_folder
from treeplex.poker.solving import solve as solve_spot
from treeplex.runs.limits import Limits

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
    str | None, typer.Option(help=f"Exploitability to reach: 0.3%pot, 5mbb or 2chips. Default {DEFAULT_PERCENT}%pot.")
]
BigBlind = Annotated[float | None, typer.Option(help="Chips of a big blind, to count in thousandths of it (mbb).")]
Algorithm = Annotated[str, typer.Option(help="cfr, cfr+, lcfr, dcfr, pcfr+ or pdcfr+, with parameters.")]
Storage = Annotated[str, typer.Option(help="float32, int16 (half the memory) or float64.")]
Threads = Annotated[int, typer.Option(help="0: all cores for large trees.")]
Locks = Annotated[
    Path | None, typer.Option("--lock", help="A JSON file: [{line, strategy: {range: {action: share}}}].")
]
Out = Annotated[Path | None, typer.Option(help="The run folder; runs/BOARD-ALGORITHM-N if left out.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Leave no run folder.")]
Folder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)]
Line = Annotated[str, typer.Option(help='The way to the node, such as "check, bet 75%, call, 2c". Empty: the start.')]


@holdem.command()
def solve(
    spot: SpotFile = None,
    until: Until = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    algorithm: Algorithm = DEFAULT,
    storage: Storage = "float32",
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
    percent = _percent(until, game.spot.pot, big_blind)
    if percent is None and seconds is None and iterations is None:
        percent = DEFAULT_PERCENT
    folder = None if no_save else out or unused_folder(f"{game.name.replace(' ', '')}-{algorithm}")
    limits = Limits(None if percent is None else percent * game.spot.pot / 50.0, seconds, iterations)
    with ProgressLine(f"{game.name}, {algorithm}", limits) as progress:
        solution = solve_spot(
            game,
            algorithm,
            percent_of_pot=percent,
            seconds=seconds,
            iterations=iterations,
            storage=storage,
            threads=threads,
            locks=_locks(lock),
            iterate=iterate,
            folder=folder,
            checkpoint_seconds=checkpoint_seconds,
            watch=progress.watch,
        )
    raise _tell(solution, folder, big_blind, percent is not None, as_json)


@holdem.command()
def resume(
    folder: Folder,
    until: Until = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    big_blind: BigBlind = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was stopped or killed. Without a limit: to those it had."""
    request = HoldemFolder.open(folder).request
    percent = _percent(until, request.spot.pot, big_blind)
    target = None if percent is None else percent * request.spot.pot / 50.0
    limits = Limits(target, seconds, iterations)
    wanted = limits if limits.any else request.limits
    with ProgressLine(f"{request.spot.board}, {request.algorithm}", wanted) as progress:
        solution = resume_folder(
            folder,
            percent_of_pot=percent,
            seconds=seconds,
            iterations=iterations,
            checkpoint_seconds=checkpoint_seconds,
            watch=progress.watch,
        )
    raise _tell(solution, folder, big_blind, wanted.nash_conv is not None, as_json)


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


def _percent(until: str | None, pot: int, big_blind: float | None) -> float | None:
    """What --until says, in per cent of the pot."""
    if until is None:
        return None
    found = re.match(r"^\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%\s*(?:pot)?|mbb|chips?)\s*$", until, re.IGNORECASE)
    if found is None or float(found[1]) <= 0.0:
        raise ParameterError(f"The option --until must be such as 0.3%pot, 5mbb or 2chips, got {until!r}.")
    amount, unit = float(found[1]), found[2].lower()
    if unit.startswith("%"):
        return amount
    if unit == "mbb":
        if big_blind is None or not big_blind > 0.0:
            raise ParameterError("The option --until in mbb needs --big-blind, the chips of a big blind.")
        amount *= big_blind / 1000.0
    return 100.0 * amount / pot


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


def _tell(
    solution: HoldemSolution, folder: Path | None, big_blind: float | None, target: bool, as_json: bool
) -> typer.Exit:
    fields = solution.summary()
    if big_blind:
        fields["exploitability_mbb"] = solution.mbb(big_blind)
    if as_json:
        print_json(fields | ({"folder": str(folder)} if folder else {}))
    else:
        mbb = f", {fields['exploitability_mbb']:.3g} mbb" if big_blind else ""
        lines = [
            f"{solution.game.name}, {solution.request.algorithm}: {ENDINGS[solution.status]} after"
            f" {solution.iterations:,} iterations, {solution.seconds:.2f} s",
            f"EV oop {solution.ev[0]:.3f}, ip {solution.ev[1]:.3f} of a pot of {solution.game.spot.pot};"
            f" equity {100 * fields['equity'][0]:.2f}%, {100 * fields['equity'][1]:.2f}%",
            f"exploitability {solution.exploitability:.4g} chips, {solution.percent_of_pot:.3g}% of the pot{mbb}",
            "oop starts with: " + ", ".join(f"{name} {100 * x:.1f}%" for name, x in fields["root_strategy"].items()),
        ]
        if folder:
            lines.append(f'run folder: {folder} (look at it with: treeplex holdem show {folder} --line "check" --grid)')
        for line in lines:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    missed = target and solution.status != "solved"
    return typer.Exit(UNFINISHED if missed or solution.status == "interrupted" else SOLVED)


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
