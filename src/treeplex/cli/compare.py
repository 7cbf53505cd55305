"""``treeplex compare``: several algorithms on one game, one plot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.registry import build
from treeplex.cli.answer import ENDINGS, exit_code
from treeplex.cli.options import AsJson, GameName, Goal, Seed, as_arguments, grouped
from treeplex.cli.output import loaded, print_json, print_table, say, unused_folder, writing
from treeplex.cli.progress import ProgressLine
from treeplex.evaluation.plot import plot_convergence
from treeplex.runs import Solution
from treeplex.runs.loop import INTERRUPTED

Algorithms = Annotated[
    list[str],
    typer.Argument(metavar="ALGORITHM...", help="One or more. See: treeplex list algorithms.", show_default=False),
]
Out = Annotated[Path | None, typer.Option(help="The folder for plot and runs; runs/GAME-compare-N if left out.")]


@grouped
def compare(
    *,
    game: GameName,
    algorithms: Algorithms,
    goal: Goal,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run algorithms side by side and plot NashConv against iterations, nodes and seconds."""
    for algorithm in algorithms:
        build(algorithm)
    chosen = loaded(api.load, game)
    pot = api.pot_of(chosen)
    limits = goal.limits(pot).otherwise(replace(api.default_limits(chosen), seconds=api.DEFAULT_SECONDS))
    folder = out or unused_folder(f"{chosen.name.replace(' ', '')}-compare")
    solutions: list[Solution] = []

    def answer(solution: Solution) -> None:
        solutions.append(solution)
        if as_json:
            print_json(solution.summary())

    try:
        for algorithm in dict.fromkeys(algorithms):
            kept = folder / algorithm
            exact = build(algorithm).ends  # and heeds no limit on iterations and nodes: these are for the others
            own = replace(limits, iterations=None, nodes=None) if exact else limits
            with ProgressLine(f"{chosen.name}, {algorithm}", limits, pot) as line:
                api.solve(chosen, algorithm, **as_arguments(own), seed=seed, out=kept, watch=line.watch, answer=answer)
            if solutions[-1].status == INTERRUPTED:
                break
    finally:
        if solutions and not as_json:
            _describe(solutions)
    plot = folder / "comparison.png"
    if as_json:
        print_json({"game": chosen.name, "runs": [s.summary() for s in solutions], "files": [str(plot)]})
    with writing(plot):
        plot_convergence({solution.algorithm: solution.log for solution in solutions}, chosen.name, plot)
    if not as_json:
        say(f"plot: {plot}")
    raise exit_code(limits, *solutions)


def _describe(solutions: list[Solution]) -> None:
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
