"""``treeplex compare``: run several algorithms on one game, and plot them together."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from treeplex.algorithms.registry import build
from treeplex.cli import complete
from treeplex.cli.answer import exit_code
from treeplex.cli.options import AsJson, GameName, Quiet, Values, grouped
from treeplex.cli.output import loaded, new_folder, print_json, print_table, say
from treeplex.cli.progress import ProgressLine
from treeplex.cli.tabulate import tabulate
from treeplex.errors import ParameterError
from treeplex.plots.plot import plot_convergence
from treeplex.problems import kinds
from treeplex.problems.exploring import DEFAULT_SECONDS
from treeplex.runs import Solution
from treeplex.runs.folder_lock import claimed_for
from treeplex.runs.requests import solving
from treeplex.runs.schema import BIG_BLIND, LIMITS, Options, named
from treeplex.runs.solve import execute
from treeplex.runs.status import INTERRUPTED, SENTENCES
from treeplex.system import answering

Algorithms = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ALGORITHM...",
        help="One or more algorithms, or --all. See: treeplex list algorithms.",
        show_default=False,
        autocompletion=complete.algorithms,
    ),
]
All = Annotated[bool, typer.Option("--all", help="Compare every algorithm that can solve the game, in a table.")]
Seeds = Annotated[
    int | None,
    typer.Option(
        help="Number of seeds for algorithms that draw random numbers; prints a table of medians and quartiles."
    ),
]
Accuracies = Annotated[
    str | None,
    typer.Option(help="Print work and time to these fractions of the uniform policy's NashConv, such as 1e-3,1e-5."),
]

OUT = named("out")[0]._replace(help="Folder for the plot and the runs. Default: runs/GAME-compare-N.")
OPTIONS = (*LIMITS, BIG_BLIND, *named("seed", "cluster"), OUT, *named("checkpoint_seconds"))


@grouped
def compare(
    *,
    game: GameName,
    algorithms: Algorithms = None,
    values: Annotated[Values, OPTIONS],
    every: All = False,
    seeds: Seeds = None,
    accuracies: Accuracies = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run algorithms side by side and plot NashConv. Default limits: NashConv 0.001, or 60 seconds.

    With --all, --seeds or --accuracies it prints a table of nodes and seconds to several accuracies; the default time
    limit is then 10 seconds per run. The same comparison in the same folder continues. An algorithm that is named twice
    runs twice.
    """
    if bool(algorithms) == every:
        raise ParameterError("Name one or more algorithms, or give --all, but not both. See: treeplex list algorithms.")
    for algorithm in algorithms or ():
        build(algorithm)
    if every or seeds is not None or accuracies is not None:
        tabulate(game, algorithms, seeds or 1, accuracies, values, as_json)
    elif values.pop("cluster") is not None:
        raise ParameterError("The option --cluster is only for tables: also give --seeds, --accuracies or --all.")
    else:
        side_by_side(game, algorithms or [], values, as_json)


def side_by_side(game: str, algorithms: list[str], values: Values, as_json: bool) -> None:
    """Run each algorithm to the same limits, and plot all of them."""
    shared, out = Options(**values), values["out"]
    problem = loaded(lambda source, report: kinds.solving(source, report=report), game)
    default = replace(problem.default_limits(ends=False), seconds=DEFAULT_SECONDS)
    limits = shared.limits(problem.pot).otherwise(default)
    solutions: dict[str, Solution] = {}

    def run(label: str, algorithm: str, folder: Path) -> Solution:
        def answer(solution: Solution) -> None:
            line.stop()
            solutions[label] = solution
            if as_json:
                print_json(solution.summary())

        exact = build(algorithm).ends  # it supports no limits on iterations and nodes, which apply to the others
        own = replace(limits, iterations=None, nodes=None) if exact else limits
        with ProgressLine(f"{problem.name}, {label}", own, problem.pot) as line:
            options = replace(shared.limited(own), out=folder, watch=line.watch, answer=answer)
            return execute(solving(problem.game, algorithm, **vars(options)))

    purpose = {"game": problem.name, "algorithms": algorithms, "seed": shared.seed}
    with (
        answering() as interruption,
        nullcontext(out) if out else new_folder(f"{problem.name.replace(' ', '')}-compare") as free,
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
            print_json({"game": problem.name, "runs": runs, "files": [str(plot)]})
        plot_convergence({label: solution.log for label, solution in solutions.items()}, problem.name, plot)
    if not as_json:
        say(f"plot: {plot}")
    raise exit_code(limits, *solutions.values())


def _labelled(algorithms: list[str]) -> dict[str, str]:
    """Map labels to algorithms; the label is ``cfr (2)`` if ``cfr`` is named for the second time."""
    labels: dict[str, str] = {}
    for algorithm in algorithms:
        count = 1 + list(labels.values()).count(algorithm)
        labels[algorithm if count == 1 else f"{algorithm} ({count})"] = algorithm
    return labels


def _describe(solutions: dict[str, Solution]) -> None:
    rows = [
        [
            label,
            SENTENCES[solution.status],
            f"{solution.iterations:,}",
            f"{solution.nodes_touched:,}",
            f"{solution.seconds:.2f}",
            f"{solution.nash_conv:.3g}",
            f"{solution.value:.6g}",
        ]
        for label, solution in solutions.items()
    ]
    print_table(["algorithm", "ended", "iterations", "nodes touched", "seconds", "NashConv", "value"], rows)
