"""``treeplex grow``: which sizes matter here? Solve a game while they are found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.api import DEFAULT_GROWTH_SECONDS, regrow, sized_game
from treeplex.api import grow as grow_api
from treeplex.cli.answer import ENDINGS, unused_folder
from treeplex.cli.options import CheckpointSeconds, Iterations, Nodes, Seconds
from treeplex.cli.output import SOLVED, UNFINISHED, AsJson, GameName, console, print_json, print_table
from treeplex.cli.progress import ProgressLine
from treeplex.errors import ParameterError
from treeplex.evaluation.log import LogRow
from treeplex.runs.grown import GrownSolution, Growth, Progress
from treeplex.runs.limits import Limits
from treeplex.runs.run import Progress as Moment

NashConv = Annotated[float | None, typer.Option(help="Stop at this NashConv in the full game, every size legal.")]
Method = Annotated[str, typer.Option(help="Add sizes by a recovery game or by transfer of regret.")]
Factor = Annotated[
    float, typer.Option(help="How much stronger a reason to ask for than the paper's; inf adds nothing.")
]
Every = Annotated[int, typer.Option(help="Iterations between two looks for a size to add.")]
Estimate = Annotated[str, typer.Option(help="Tell the regret of sizes not offered by transfer or by best-response.")]
Discount = Annotated[str, typer.Option(help="Weigh the past as recommended or by the bound of the theorem.")]
Algorithm = Annotated[str, typer.Option(help="cfr or cfr+.")]
Archive = Annotated[int, typer.Option(help="Put aside what nobody reached for so many looks; 0 never does.")]
Out = Annotated[Path | None, typer.Option(help="The run folder; runs/GAME-grow-N if left out.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Leave no run folder.")]
Show = Annotated[int, typer.Option(min=0, help="How many of the sizes found to print.")]


def grow(
    game: GameName,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    method: Method = "recovery",
    factor: Factor = 1.01,
    every: Every = 5,
    estimate: Estimate = "transfer",
    discount: Discount = "recommended",
    algorithm: Algorithm = "cfr",
    archive: Archive = 0,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    show: Show = 12,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Solve a game while the bet sizes that matter are found. Without a limit: for ten seconds. Ctrl-C keeps all."""
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(seconds=DEFAULT_GROWTH_SECONDS)
    if out is not None and out.exists() and not out.is_dir():
        raise ParameterError(f"The option --out must name a folder, but {out} is a file.")
    growth = Growth(method, factor, every, estimate, discount, algorithm, archive)
    start = sized_game(game)
    folder = None if no_save else out or unused_folder(f"{start.rules.name}-grow")
    with ProgressLine(start.name, limits) as line:
        solution = grow_api(
            start,
            nash_conv=limits.nash_conv,
            seconds=limits.seconds,
            iterations=limits.iterations,
            nodes=limits.nodes,
            growth=growth,
            folder=folder,
            checkpoint_seconds=checkpoint_seconds,
            watch=lambda progress: line.watch(moment(progress)),
        )
    raise tell_growth(solution, limits, folder, show, as_json)


def resume_grow(folder: Path, limits: Limits, wanted: Limits, name: str, every: float, as_json: bool) -> typer.Exit:
    """Go on with a run of ``treeplex grow``."""
    with ProgressLine(name, wanted) as line:
        solution = regrow(
            folder,
            nash_conv=limits.nash_conv,
            seconds=limits.seconds,
            iterations=limits.iterations,
            nodes=limits.nodes,
            checkpoint_seconds=every,
            watch=lambda progress: line.watch(moment(progress)),
        )
    return tell_growth(solution, wanted, folder, 12, as_json)


def moment(progress: Progress) -> Moment:
    """What a progress line shows of a growing run."""
    rows = [
        LogRow(
            row.iteration,
            row.nodes_touched,
            row.seconds,
            row.evaluation_seconds,
            row.value,
            row.nash_conv,
            row.exploitability,
        )
        for row in progress.rows
    ]
    return Moment(progress.iteration, progress.seconds, rows)


def tell_growth(solution: GrownSolution, limits: Limits, folder: Path | None, show: int, as_json: bool) -> typer.Exit:
    """Print what was found; returns the exit code to raise: 0 solved, 1 stopped before the target."""
    if as_json:
        print_json(solution.summary() | ({"folder": str(folder)} if folder else {}))
    else:
        _describe(solution, folder, show)
    missed = limits.nash_conv is not None and solution.status != "solved"
    return typer.Exit(UNFINISHED if missed or solution.status == "interrupted" else SOLVED)


def _describe(solution: GrownSolution, folder: Path | None, show: int) -> None:
    last, first = solution.rows[-1], solution.rows[0]
    lines = [
        f"{solution.start.name}, {solution.growth.algorithm}: {ENDINGS[solution.status]} after {last.iteration:,}"
        f" iterations, {solution.seconds:.2f} s",
        f"value for player 0: {last.value:.6g}   NashConv in the full game: {last.nash_conv:.3g}"
        f"   (exploitability {last.exploitability:.3g}; with the sizes offered alone, NashConv {last.inside:.3g})",
        f"{len(solution.additions):,} sizes found; the abstraction grew from {first.histories:,} to"
        f" {last.histories + last.archived:,} histories",
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if show and solution.found:
        _sizes(solution, show)
    if folder:
        told = f"run folder: {folder} (sizes.json, additions.parquet, policy.parquet, growth.png; see its README.md)"
        console.print(told, markup=False, highlight=False, soft_wrap=True)


def _sizes(solution: GrownSolution, show: int) -> None:
    hands = solution.start.rules.hands()[0]
    rows: list[list[str]] = []
    for one in solution.found[:show]:
        addition = one.addition
        used = "  ".join(f"{hand} {share:.0%}" for hand, share in one.by_hand.items())
        rows.append(
            [
                addition.decision or "(first to act)",
                str(addition.player),
                f"{addition.word} {100 * addition.size:.3g} % of the pot",
                f"{1000 * one.worth:.3g}",
                f"{one.frequency:.1%}",
                used,
                f"{addition.iteration:,}",
            ]
        )
    left = len(solution.found) - show
    if left > 0:
        rows.append([f"... {left:,} more", "", "", "", "", "", ""])
    print_table(["decision", "player", "size found", "worth", "used", f"by hand ({', '.join(hands)})", "at"], rows)
    console.print(
        "worth: thousandths of a chip a hand that an opponent would lose to it who did not know it; used: how often it"
        " is chosen by whoever gets there; at: the iteration at which it was added",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
