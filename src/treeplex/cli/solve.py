"""``treeplex solve``: the command most people run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from treeplex.api import DEFAULT_NASH_CONV
from treeplex.cli.output import SOLVED, UNFINISHED, AsJson, GameName, console, load_game, print_json, print_table
from treeplex.errors import ParameterError
from treeplex.evaluation.policy import Policy
from treeplex.solvers import Limits, Solution, solve_game
from treeplex.solvers.run import Progress as Moment
from treeplex.solvers.run import Watcher

Algorithm = Annotated[str, typer.Option(help="See: treeplex list algorithms.")]
NashConv = Annotated[float | None, typer.Option(help="Stop at this NashConv, the sum of both players' gains.")]
Seconds = Annotated[float | None, typer.Option(help="Stop after this long.")]
Iterations = Annotated[int | None, typer.Option(help="Stop after this many iterations.")]
Nodes = Annotated[int | None, typer.Option(help="Stop after touching this many nodes.")]
Seed = Annotated[int, typer.Option(help="For algorithms that draw random numbers.")]
Out = Annotated[Path | None, typer.Option(help="The run folder; runs/GAME-ALGORITHM-N if left out.")]
Show = Annotated[int, typer.Option(min=0, help="How many infosets of each player to print.")]
NoSave = Annotated[bool, typer.Option("--no-save", help="Leave no run folder.")]


def solve(
    game: GameName,
    algorithm: Algorithm = "cfr+",
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    out: Out = None,
    show: Show = 3,
    no_save: NoSave = False,
    as_json: AsJson = False,
) -> None:
    """Find an equilibrium and prove how close it is. Without a limit: to NashConv 0.001. Ctrl-C keeps what is done."""
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(nash_conv=DEFAULT_NASH_CONV)
    if out is not None and out.exists() and not out.is_dir():
        raise ParameterError(f"The option --out must name a folder, but {out} is a file.")
    compiled = load_game(game)
    with _Bar(f"{compiled.name}, {algorithm}", limits) as bar:
        solution = solve_game(compiled, algorithm, limits, seed, bar.watch)
    folder = None if no_save else _save(solution, out)
    if as_json:
        print_json(solution.summary() | ({"folder": str(folder)} if folder else {}))
    else:
        _describe(solution, folder, show)
    reached = solution.status == "solved" or limits.nash_conv is None
    raise typer.Exit(SOLVED if reached and solution.status != "interrupted" else UNFINISHED)


class _Bar:
    """The progress line: a bar on a terminal, a line every two seconds elsewhere."""

    def __init__(self, title: str, limits: Limits) -> None:
        self._title, self._limits = title, limits
        self._next = 2.0
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        self._task = self._bar.add_task(title, total=None) if self._bar else None

    def __enter__(self) -> _Bar:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    @property
    def watch(self) -> Watcher:
        """What the run loop calls."""
        return self._watch

    def _watch(self, moment: Moment) -> None:
        rate = moment.iteration / max(moment.seconds, 1e-9)
        nash_conv = f"NashConv {moment.last.nash_conv:.3g}, " if moment.last else ""
        line = f"{self._title}: {nash_conv}iteration {moment.iteration:,}, {rate:,.0f} a second"
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=line)
        elif moment.seconds >= self._next:
            self._next = moment.seconds + 2.0
            sys.stderr.write(line + "\n")


def _save(solution: Solution, out: Path | None) -> Path:
    folder = out or _unused(Path("runs"), f"{solution.game.name}-{solution.algorithm}")
    try:
        return solution.save(folder)
    except OSError as error:
        raise ParameterError(
            f"The run folder {folder} cannot be written: {error.strerror}; choose another --out."
        ) from error


def _unused(parent: Path, name: str) -> Path:
    """The first of name-1, name-2, ... that is free."""
    stem = re.sub(r"[^\w+.=,-]+", "_", name).strip("_")
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def _describe(solution: Solution, folder: Path | None, show: int) -> None:
    words = {
        "solved": "solved",
        "iterations": "stopped at the limit on iterations",
        "seconds": "stopped at the limit on seconds",
        "nodes": "stopped at the limit on nodes",
        "interrupted": "interrupted",
    }
    console.print(
        f"[bold]{solution.game.name}[/], {solution.algorithm}: {words[solution.status]} after"
        f" {solution.iterations:,} iterations, {solution.seconds:.2f} s",
        highlight=False,
    )
    console.print(
        f"value for player 0: {solution.value:.6g}   NashConv: {solution.nash_conv:.3g}"
        f"   (exploitability {solution.exploitability:.3g})",
        highlight=False,
    )
    if solution.game.constant:
        other = solution.game.constant - solution.value
        console.print(
            f"constant-sum game: player 1 gets {solution.game.constant:g} minus that, {other:.6g}", highlight=False
        )
    if show:
        _strategies(solution.policy, show)
    if folder:
        console.print(
            f"run folder: {folder} (policy.parquet, log.parquet, convergence.png, result.json)", highlight=False
        )


def _strategies(policy: Policy, show: int) -> None:
    rows: list[list[str]] = []
    for player, strategy in enumerate(policy.strategies):
        count = len(strategy.infosets)
        for i in range(min(show, count)):
            label = str(strategy.infosets[i])
            plays = "   ".join(f"{action} {probability:.3f}" for action, probability in strategy.at(i).items())
            rows.append([str(player), label.replace("\n", " ")[:60], plays])
        if count > show:
            rows.append([str(player), f"... {count - show:,} more", ""])
    print_table(["player", "infoset", "strategy"], rows)
