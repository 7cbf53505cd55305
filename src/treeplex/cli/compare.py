"""``treeplex compare``: several algorithms on one game, one plot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_NASH_CONV, solve
from treeplex.cli.answer import ENDINGS, unused_folder
from treeplex.cli.options import Iterations, NashConv, Nodes, Seconds, Seed
from treeplex.cli.output import SOLVED, UNFINISHED, AsJson, GameName, console, load_game, print_json, print_table
from treeplex.cli.progress import ProgressLine
from treeplex.evaluation.plot import plot_convergence
from treeplex.runs import Limits, Solution
from treeplex.runs.loop import INTERRUPTED

Algorithms = Annotated[
    list[str],
    typer.Argument(metavar="ALGORITHM...", help="One or more. See: treeplex list algorithms.", show_default=False),
]
Out = Annotated[Path | None, typer.Option(help="The folder for plot and logs; runs/GAME-compare-N if left out.")]


def compare(
    game: GameName,
    algorithms: Algorithms,
    nash_conv: NashConv = None,
    seconds: Seconds = None,
    iterations: Iterations = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run algorithms side by side and plot NashConv against iterations, nodes and seconds."""
    limits = Limits(nash_conv, seconds, iterations, nodes)
    if not limits.any:
        limits = Limits(nash_conv=DEFAULT_NASH_CONV, seconds=60.0)
    for algorithm in algorithms:
        build(algorithm)
    compiled = load_game(game)
    folder = out or unused_folder(f"{compiled.name}-compare")
    solutions: list[Solution] = []
    for algorithm in dict.fromkeys(algorithms):
        with ProgressLine(f"{compiled.name}, {algorithm}", limits) as line:
            solution = solve(
                compiled,
                algorithm,
                nash_conv=limits.nash_conv,
                seconds=limits.seconds,
                iterations=limits.iterations,
                nodes=limits.nodes,
                seed=seed,
                watch=line.watch,
            )
        solution.save(folder / algorithm)
        solutions.append(solution)
        if as_json:
            print_json(solution.summary())
        if solution.status == INTERRUPTED:
            break
    picture = folder / "comparison.png"
    plot_convergence({solution.algorithm: solution.log for solution in solutions}, compiled.name, picture)
    if as_json:
        print_json({"game": compiled.name, "runs": [s.summary() for s in solutions], "files": [str(picture)]})
    else:
        _describe(solutions, picture)
    missed = limits.nash_conv is not None and any(solution.status != "solved" for solution in solutions)
    raise typer.Exit(UNFINISHED if missed or solutions[-1].status == INTERRUPTED else SOLVED)


def _describe(solutions: list[Solution], picture: Path) -> None:
    rows = [
        [
            solution.algorithm,
            ENDINGS[solution.status],
            f"{solution.iterations:,}",
            f"{solution.nodes_touched:,}",
            f"{solution.seconds:.2f}",
            f"{solution.nash_conv:.3g}",
            f"{solution.value:.6g}",
        ]
        for solution in solutions
    ]
    print_table(["algorithm", "ended", "iterations", "nodes touched", "seconds", "NashConv", "value"], rows)
    console.print(f"plot: {picture}", markup=False, highlight=False, soft_wrap=True)
