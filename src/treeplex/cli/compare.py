"""``treeplex compare``: several algorithms on one game, one plot."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from treeplex import api
from treeplex.algorithms.registry import build
from treeplex.cli import complete
from treeplex.cli.answer import ENDINGS, exit_code
from treeplex.cli.options import (
    FOLDER,
    AsJson,
    CheckpointSeconds,
    Cluster,
    GameName,
    Goal,
    Quiet,
    Seed,
    as_arguments,
    grouped,
)
from treeplex.cli.output import loaded, new_folder, print_json, print_table, say
from treeplex.cli.progress import ProgressLine
from treeplex.cli.tabulate import Table, tabulate
from treeplex.errors import ParameterError
from treeplex.plots.plot import plot_convergence
from treeplex.runs import Solution
from treeplex.runs.asking import default_limits, pot_of
from treeplex.runs.claim import claimed_for
from treeplex.runs.loop import INTERRUPTED
from treeplex.system import answering

Algorithms = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ALGORITHM...",
        help="One or more, or --all. See: treeplex list algorithms.",
        show_default=False,
        autocompletion=complete.algorithms,
    ),
]
All = Annotated[bool, typer.Option("--all", help="Every algorithm that can solve the game, as a table.")]
Seeds = Annotated[
    int | None, typer.Option(help="Runs of algorithms that draw random numbers; a table with medians and quartiles.")
]
Accuracies = Annotated[
    str | None,
    typer.Option(help="A table of what it takes to come so close, in parts of the uniform policy's NashConv."),
]
Out = Annotated[
    Path | None, typer.Option(help="The folder for plot and runs; runs/GAME-compare-N if left out.", **FOLDER)
]


@grouped
def compare(
    *,
    game: GameName,
    algorithms: Algorithms = None,
    goal: Goal,
    every: All = False,
    seeds: Seeds = None,
    accuracies: Accuracies = None,
    seed: Seed = 0,
    cluster: Cluster = None,
    out: Out = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run algorithms side by side and plot how NashConv falls. Without a limit: to NashConv 0.001 or for 60 seconds.

    With --all, --seeds or --accuracies: a table of nodes and seconds to several accuracies, 10 seconds for each run.
    The same comparison in the same folder continues; an algorithm that is named twice runs twice.
    """
    if bool(algorithms) == every:
        raise ParameterError("Name one or more algorithms, or give --all, not both: see treeplex list algorithms.")
    for algorithm in algorithms or ():
        build(algorithm)
    if every or seeds is not None or accuracies is not None:
        wanted = Table(game, algorithms, seeds or 1, accuracies, cluster)
        tabulate(wanted, goal, seed, out, checkpoint_seconds, as_json)
    elif cluster is not None:
        raise ParameterError("The option --cluster is for tables: give --seeds, --accuracies or --all, too.")
    else:
        side_by_side(game, algorithms or [], goal, seed, out, checkpoint_seconds, as_json)


def side_by_side(
    game: str,
    algorithms: list[str],
    goal: Goal,
    seed: int,
    out: Path | None,
    checkpoint_seconds: float,
    as_json: bool,
) -> None:
    """Each to the same limits, and a plot of all."""
    chosen = loaded(api.load, game)
    pot = pot_of(chosen)
    limits = goal.limits(pot).otherwise(replace(default_limits(chosen), seconds=api.DEFAULT_SECONDS))
    solutions: dict[str, Solution] = {}

    def run(label: str, algorithm: str, folder: Path) -> Solution:
        def answer(solution: Solution) -> None:
            line.stop()
            solutions[label] = solution
            if as_json:
                print_json(solution.summary())

        exact = build(algorithm).ends  # and heeds no limit on iterations and nodes: these are for the others
        own = replace(limits, iterations=None, nodes=None) if exact else limits
        with ProgressLine(f"{chosen.name}, {label}", own, pot) as line:
            return api.solve(
                chosen,
                algorithm,
                **as_arguments(own),
                seed=seed,
                out=folder,
                checkpoint_seconds=checkpoint_seconds,
                watch=line.watch,
                answer=answer,
            )

    purpose = {"game": chosen.name, "algorithms": algorithms, "seed": seed}
    with (
        answering() as interruption,
        nullcontext(out) if out else new_folder(f"{chosen.name.replace(' ', '')}-compare") as free,
        claimed_for(free, "comparison", purpose) as folder,
    ):
        try:
            for label, algorithm in _labelled(algorithms).items():
                run(label, algorithm, folder / label)
                if interruption.is_set() or solutions[label].status == INTERRUPTED:
                    break
        finally:
            if solutions and not as_json:
                _describe(solutions)
        plot = folder / "comparison.png"
        if as_json:
            runs = [solution.summary() for solution in solutions.values()]
            print_json({"game": chosen.name, "runs": runs, "files": [str(plot)]})
        plot_convergence({label: solution.log for label, solution in solutions.items()}, chosen.name, plot)
    if not as_json:
        say(f"plot: {plot}")
    raise exit_code(limits, *solutions.values())


def _labelled(algorithms: list[str]) -> dict[str, str]:
    """Algorithms by what they are called in the answer: ``cfr (2)`` if it is named for the second time."""
    labels: dict[str, str] = {}
    for algorithm in algorithms:
        count = 1 + list(labels.values()).count(algorithm)
        labels[algorithm if count == 1 else f"{algorithm} ({count})"] = algorithm
    return labels


def _describe(solutions: dict[str, Solution]) -> None:
    rows = [
        [
            label,
            ENDINGS[solution.status],
            f"{solution.iterations:,}",
            f"{solution.nodes_touched:,}",
            f"{solution.seconds:.2f}",
            f"{solution.nash_conv:.3g}",
            f"{solution.value:.6g}",
        ]
        for label, solution in solutions.items()
    ]
    print_table(["algorithm", "ended", "iterations", "nodes touched", "seconds", "NashConv", "value"], rows)
