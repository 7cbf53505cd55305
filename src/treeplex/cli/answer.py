"""How a run is followed and how its solution is shown: in words and small tables, or as one JSON line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import typer

from treeplex.cli import SOLVED, UNFINISHED
from treeplex.cli.output import print_json, print_table, say, tell
from treeplex.cli.progress import ProgressLine
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.sizes.answer import COLUMNS, UNDECIDED
from treeplex.policies.policy import Policy
from treeplex.runs.limits import Limits
from treeplex.runs.loop import INTERRUPTED
from treeplex.runs.loop import Progress as Moment
from treeplex.runs.progress import duration
from treeplex.runs.request import EXPLORATION, GROWTH, SIZES, SPOT
from treeplex.runs.solution import Solution

ENDINGS = {
    "solved": "solved",
    "missed": "ended above the target",
    "iterations": "iteration limit reached",
    "seconds": "time limit reached",
    "nodes": "node limit reached",
    "interrupted": "interrupted",
}


@dataclass(frozen=True)
class Screen:
    """How the answer of a run is shown."""

    folder: Path | None  # where the run is kept
    as_json: bool
    show: int = 0  # how many infosets per player, or sizes found
    big_blind: float | None = None  # chips, to show exploitability in mbb
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])  # fields of the JSON result
    note: str = ""  # what was chosen for the user, said once the run has begun

    def tell(self, solution: Solution) -> None:
        """Print the solution."""
        if self.as_json:
            folder = {"folder": str(self.folder)} if self.folder else {}
            print_json(solution.summary() | self._mbb(solution) | dict(self.more) | folder)
            return
        _describe(solution, self.show)
        note = solution.extras.note()
        if note:
            say(note)
        for mbb in self._mbb(solution).values():
            tell(f"exploitability {mbb:.3g} mbb")
        if self.folder:
            spot = solution.request.kind == SPOT
            look = f'look at it with: treeplex holdem show {self.folder} --line "check" --grid'
            say(f"run folder: {self.folder} ({look if spot else 'see its README.md'})")

    def _mbb(self, solution: Solution) -> dict[str, float]:
        if self.big_blind is None or solution.request.kind != SPOT:
            return {}
        return {"exploitability_mbb": solution.mbb(self.big_blind)}


def follow(
    title: str, limits: Limits, screen: Screen, start: Callable[..., Solution], pot: float | None = None
) -> Solution:
    """Run with a progress line and print what came of it.

    ``start`` takes ``watch`` and ``answer`` as the Python API does: the answer is printed before files are written.
    """
    notes = [screen.note] if screen.note else []
    with ProgressLine(title, limits, pot) as line:

        def watch(moment: Moment) -> None:
            while notes:
                say(notes.pop())
            line.watch(moment)

        def answer(solution: Solution) -> None:
            line.stop()
            say(*notes)
            screen.tell(solution)

        return start(watch=watch, answer=answer)


def exit_code(limits: Limits, *solutions: Solution) -> typer.Exit:
    """0: target met, or none given; 1: missed, or interrupted."""
    statuses = {solution.status for solution in solutions}
    missed = limits.nash_conv is not None and statuses != {"solved"}
    return typer.Exit(UNFINISHED if missed or INTERRUPTED in statuses else SOLVED)


def _describe(solution: Solution, show: int) -> None:
    if solution.request.kind == SIZES:
        _bet_sizes(solution, solution.extras)
        return
    tell(
        f"{solution.request.game}, {solution.algorithm}: {ENDINGS[solution.status]} after {solution.iterations:,}"
        f" iterations, {solution.seconds:.2f} s"
    )
    kinds = {SPOT: _spot, GROWTH: _growth, EXPLORATION: _exploration}
    kinds.get(solution.request.kind, _game)(solution, show)


def _quality(solution: Solution) -> str:
    return f"value for player 0: {solution.value:.6g}   NashConv: {solution.nash_conv:.3g}"


def _game(solution: Solution, show: int) -> None:
    constant = solution.game.constant
    tell(f"{_quality(solution)}   (exploitability {solution.exploitability:.3g})")
    if constant:
        tell(f"constant-sum game: player 1 gets {constant:g} minus that, {constant - solution.value:.6g}")
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
    tell(
        f"EV oop {first:.3f}, ip {second:.3f} of a pot of {pot};"
        f" equity {100 * fields['equity'][0]:.2f}%, {100 * fields['equity'][1]:.2f}%",
        *_close(solution),
        f"OOP at root: {root}",
    )


def _close(solution: Solution) -> tuple[str, ...]:
    """How close to equilibrium a spot's answer is; with rake, what may be said of it and what not."""
    said = f"{solution.percent_of_pot:.3g}% of the pot ({solution.exploitability:.4g} chips)"
    if solution.zero_sum:
        return (f"exploitability {said}",)
    first, second = solution.gains
    return (
        f"a best response gains oop {first:.4g}, ip {second:.4g} chips; on average {said}",
        "with rake a spot is not zero-sum: it has no value, and these strategies promise nothing against others",
    )


READINGS: Final = {
    "told": "a bettor is told what a size off the menu is read as, so this is an upper bound",
    "secret": "what a size off the menu is read as is kept secret",
}
"""What NashConv in the full game counts on."""


def _growth(solution: Solution, show: int) -> None:
    if solution.request.is_spot:
        _grown_spot(solution, show)
        return
    first, last = solution.rows[0].extra, solution.rows[-1].extra
    tell(
        f"{_quality(solution)} in the full game (in the abstraction {last['nash_conv_in_abstraction']:.3g});"
        f" {READINGS[solution.reading]}",
        f"{len(solution.additions):,} sizes found{_removed(solution)}; the abstraction grew from"
        f" {first['histories']:,} to {last['histories'] + last['archived']:,} histories",
    )
    if show and solution.found:
        _sizes(solution, show)


def _removed(solution: Solution) -> str:
    return f", {len(solution.removals):,} taken out again" if solution.removals else ""


def _grown_spot(solution: Solution, show: int) -> None:
    first, last, pot = solution.rows[0].extra, solution.rows[-1].extra, solution.game.spot.pot
    inside = 50.0 * last["nash_conv_in_abstraction"] / pot
    tell(
        f"EV oop {solution.ev[0]:.3f}, ip {solution.ev[1]:.3f} of a pot of {pot}",
        f"exploitability {solution.percent_of_pot:.3g}% of the pot if every candidate may be bet, and bets off the menu"
        f" are read in secret as sizes on it; {inside:.3g}% if only sizes on the menus may",
        f"{len(solution.additions):,} sizes found{_removed(solution)}; the tree grew from {first['histories']:,} to"
        f" {last['histories']:,} nodes",
    )
    rows: list[list[str]] = []
    for one in solution.found[:show]:
        added = one.addition
        where, player = str(added.decision) or "(first to act)", PLAYERS[int(added.player)]
        counts = f"{added.gain:.3g}", f"{one.frequency:.1%}", f"{added.iteration:,}"
        rows.append([where, player, added.action, added.size, *counts])
    if not rows:
        return
    if len(solution.found) > show:
        rows.append([f"... {len(solution.found) - show:,} more", "", "", "", "", "", ""])
    print_table(["decision", "player", "found", "size", "gain", "used", "added at"], rows)
    tell(
        "gain: when it was added, what the size won from an opponent who read it as one of its neighbours, in % of the"
        " pot, had the player come there with every hand; used: how often it is chosen there now; added at: the"
        " iteration"
    )


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
    tell(
        "loss: per hand, in thousandths of a chip, of an opponent who maps this size to its neighbours; used: how often"
        " it is chosen by whoever reaches the decision; added at: the iteration"
    )


def _bet_sizes(solution: Solution, found: Any) -> None:
    low, high = found.loss_percent_of_pot
    for name, menu in found.menus.items():
        tell(f"{found.player}, {name}: {', '.join(menu) or UNDECIDED}")
    where = "" if len(found.spots) == 1 else f" on average over {len(found.spots)} spots"
    tell(f"loses {low:.3f} to {high:.3f} % of the pot{where} to an opponent with every size;"
         f" {duration(solution.seconds)}")  # fmt: skip
    if not found.complete:
        tell(f"{ENDINGS[solution.status]} before the search was over; another menu may be better")
        return
    if found.better_percent_of_pot is not None and found.better_percent_of_pot > 0.0:
        tell(f"no other {'size' if found.keep == 1 else f'{found.keep} sizes'} can be better by more than"
             f" {found.better_percent_of_pot:.3f} % of the pot")  # fmt: skip
    elif found.better_percent_of_pot is not None:
        tell("no other choice of as many sizes is better")
    if found.proved_fewest is not None:
        tell("fewer sizes lose more" if found.proved_fewest else "fewest found; that fewer lose more is not proved")
    if len(found.spots) == 1 and len(found.menus) > 1:
        return  # what one size is worth would depend on what is kept elsewhere
    if len(found.spots) == 1:
        print_table(list(COLUMNS), found.cells(found.spots[0]), right=(1, 3))
        return
    cells = [
        [each.spot, f"{each.loss_percent_of_pot[0]:.3f}", f"{each.loss_percent_of_pot[1]:.3f}"] for each in found.spots
    ]
    print_table(["spot", "loses at least", "at most, % of pot"], cells, right=(1, 2))


def _exploration(solution: Solution, show: int) -> None:
    fields = solution.summary()
    visited = " + ".join(f"{count:,}" for count in fields["infosets"])
    tell(f"{solution.nodes_touched:,} histories, {visited} infosets visited")
    sampled = {
        "value for player 0, sampled": ("value_sampled", "value_margin"),
        "sampled lower bound on NashConv": ("nash_conv_sampled_at_least", "nash_conv_margin"),
    }
    rows = [[name, f"{fields[mean]:.4g} ± {fields[margin]:.2g}"] for name, (mean, margin) in sampled.items()]
    print_table(["", "95 % interval"], rows)
