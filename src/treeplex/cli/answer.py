"""How a solution is told: in words and a small table, or as one JSON line."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from treeplex.cli.output import SOLVED, UNFINISHED, console, print_json, print_table
from treeplex.evaluation.policy import Policy
from treeplex.runs.limits import Limits
from treeplex.runs.solution import Solution

ENDINGS = {
    "solved": "solved",
    "iterations": "stopped at the limit on iterations",
    "seconds": "stopped at the limit on seconds",
    "nodes": "stopped at the limit on nodes",
    "interrupted": "interrupted",
}


def tell(solution: Solution, limits: Limits, folder: Path | None, show: int, as_json: bool) -> typer.Exit:
    """Print the solution; returns the exit code to raise: 0 solved, 1 stopped before the target."""
    if as_json:
        print_json(solution.summary() | ({"folder": str(folder)} if folder else {}))
    else:
        _describe(solution, folder, show)
    missed = limits.nash_conv is not None and solution.status != "solved"
    return typer.Exit(UNFINISHED if missed or solution.status == "interrupted" else SOLVED)


def unused_folder(name: str) -> Path:
    """The first of runs/name-1, runs/name-2, ... that is free."""
    parent = Path("runs")
    stem = re.sub(r"[^\w+.=,-]+", "_", name).strip("_")
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def _describe(solution: Solution, folder: Path | None, show: int) -> None:
    game, constant = solution.game, solution.game.constant
    lines = [
        f"{game.name}, {solution.algorithm}: {ENDINGS[solution.status]} after {solution.iterations:,} iterations,"
        f" {solution.seconds:.2f} s",
        f"value for player 0: {solution.value:.6g}   NashConv: {solution.nash_conv:.3g}"
        f"   (exploitability {solution.exploitability:.3g})",
    ]
    if constant:
        lines.append(f"constant-sum game: player 1 gets {constant:g} minus that, {constant - solution.value:.6g}")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if show:
        _strategies(solution.policy, show)
    if folder:
        told = f"run folder: {folder} (policy.parquet, log.parquet, convergence.png; see its README.md)"
        console.print(told, markup=False, highlight=False, soft_wrap=True)


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
