"""How a run is followed and how its solution is shown: in words and small tables, or as one JSON line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from treeplex.cli.output import SOLVED, UNFINISHED, console, print_json, print_table
from treeplex.cli.progress import ProgressLine
from treeplex.evaluation.policy import Policy
from treeplex.runs.limits import Limits
from treeplex.runs.request import EXPLORATION, GROWTH, SPOT
from treeplex.runs.solution import Solution

ENDINGS = {
    "solved": "solved",
    "iterations": "iteration limit reached",
    "seconds": "time limit reached",
    "nodes": "node limit reached",
    "interrupted": "interrupted",
}


def follow(
    title: str,
    limits: Limits,
    start: Callable[[Callable[..., None]], Solution],
    folder: Path | None,
    show: int,
    as_json: bool,
    pot: float | None = None,
) -> typer.Exit:
    """Run with a progress line and show what came of it; returns the exit code to raise."""
    with ProgressLine(title, limits, pot) as line:
        solution = start(line.watch)
    return tell(solution, limits, folder, show, as_json)


def tell(
    solution: Solution,
    limits: Limits,
    folder: Path | None,
    show: int,
    as_json: bool,
    more: dict[str, Any] | None = None,
) -> typer.Exit:
    """Print the solution; returns the exit code to raise: 0 target met or none given, 1 missed or interrupted."""
    if as_json:
        print_json(solution.summary() | (more or {}) | ({"folder": str(folder)} if folder else {}))
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


def say(*lines: str) -> None:
    """Words for people, on stderr."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _describe(solution: Solution, folder: Path | None, show: int) -> None:
    kind = solution.request.kind
    say(
        f"{solution.request.game}, {solution.algorithm}: {ENDINGS[solution.status]} after {solution.iterations:,}"
        f" iterations, {solution.seconds:.2f} s"
    )
    {SPOT: _spot, GROWTH: _growth, EXPLORATION: _exploration}.get(kind, _game)(solution, show)
    if folder:
        look = (
            f'look at it with: treeplex holdem show {folder} --line "check" --grid'
            if kind == SPOT
            else "see its README.md"
        )
        say(f"run folder: {folder} ({look})")


def _quality(solution: Solution) -> str:
    return f"value for player 0: {solution.value:.6g}   NashConv: {solution.nash_conv:.3g}"


def _game(solution: Solution, show: int) -> None:
    constant = solution.game.constant
    say(f"{_quality(solution)}   (exploitability {solution.exploitability:.3g})")
    if constant:
        say(f"constant-sum game: player 1 gets {constant:g} minus that, {constant - solution.value:.6g}")
    if show:
        _strategies(solution.policy, show)


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


def _spot(solution: Solution, show: int) -> None:
    fields, pot = solution.summary(), solution.game.spot.pot
    first, second = solution.ev
    root = ", ".join(f"{name} {100 * x:.1f}%" for name, x in fields["root_strategy"].items())
    say(
        f"EV oop {first:.3f}, ip {second:.3f} of a pot of {pot};"
        f" equity {100 * fields['equity'][0]:.2f}%, {100 * fields['equity'][1]:.2f}%",
        f"exploitability {solution.percent_of_pot:.3g}% of the pot ({solution.exploitability:.4g} chips)",
        f"OOP at root: {root}",
    )


def _growth(solution: Solution, show: int) -> None:
    first, last = solution.rows[0].extra, solution.rows[-1].extra
    say(
        f"{_quality(solution)} in the full game (in the abstraction {last['nash_conv_in_abstraction']:.3g})",
        f"{len(solution.additions):,} sizes found; the abstraction grew from {first['histories']:,} to"
        f" {last['histories'] + last['archived']:,} histories",
    )
    if show and solution.found:
        _sizes(solution, show)


def _sizes(solution: Solution, show: int) -> None:
    hands = solution.game.rules.hands()[0]
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
    print_table(["decision", "player", "size found", "loss", "used", f"by hand ({', '.join(hands)})", "added at"], rows)
    say(
        "loss: per hand, in thousandths of a chip, of an opponent who maps this size to its neighbours; used: how often"
        " it is chosen by whoever reaches the decision; added at: the iteration"
    )


def _exploration(solution: Solution, show: int) -> None:
    fields = solution.summary()
    visited = " + ".join(f"{count:,}" for count in fields["infosets"])
    say(f"{solution.nodes_touched:,} histories, {visited} infosets visited")
    rows = [
        ["value for player 0, sampled", f"{fields['value_sampled']:.4g} ± {fields['value_margin']:.2g}"],
        [
            "sampled lower bound on NashConv",
            f"{fields['nash_conv_sampled_at_least']:.4g} ± {fields['nash_conv_margin']:.2g}",
        ],
    ]
    print_table(["", "95 % interval"], rows)
