"""Remove sizes from a hold'em spot (section 6), so that iterations visit less.

Two of the paper's three cases:

    "current"    the current strategies are the solution (CFR+): a size that they never bet is removed
    "discard"    early iterations weigh little in the averages of DCFR, LCFR and CFR+: a hardly bet size is removed

The third, an archive on disk, would save no iteration, since the engine passes over parts that neither player reaches.

A size is removed under three conditions. For ``IDLE_CHECKS`` checks in a row its player has bet it in fewer than
``LEAST`` of the cases in which it reaches the decision by its own actions ("current": in none). Proposition 1 would not
suggest it were it missing. The regrets of both players together do not rise by more than ``RISE``. It must be a
candidate, so that it may be suggested again later, and a recovery game then fills in the iterations that it skipped. A
decision keeps at least one size, since others are read as it. Nothing else changes: neither regrets nor averages.

Differs from the paper in: with "discard" nothing is subtracted from averages, and removed sizes may have been played a
little. The change of the solution is measured, not bounded: ``RISE``. The paper does not say when to remove.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.rows import hand_rows
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.cards import HANDS
from treeplex.games.holdem.grown import Line, line_text, without_sizes
from treeplex.games.holdem.sizes import text_of
from treeplex.games.holdem.translation import rule_of
from treeplex.growth.check import needed
from treeplex.growth.spot_plans import as_it_is, plan_of
from treeplex.growth.spots import GrowingSpot, nodes_behind, start_weights

IDLE_CHECKS: Final = 3  # checks in a row without enough bets
LEAST: Final = 0.001  # fraction of the cases in which the player reaches the decision
RISE: Final = 0.01  # largest rise of the sum of both players' regrets


class Unused(NamedTuple):
    """A size that is hardly bet, or not at all."""

    line: Line
    action: Action
    player: int
    frequency: float
    nodes: int  # nodes behind it, with its own

    @property
    def text(self) -> str:
        """Line and size as text."""
        return line_text((*self.line, self.action))


class SizeRemoved(NamedTuple):
    """A removed size: when, where, which, and the nodes saved."""

    iteration: int
    player: int
    street: str
    decision: str  # the line of actions that leads there, with classes of cards if menus differ by them
    action: str  # "bet 50"
    size: str  # "50%"
    frequency: float  # frequency with which its player bet it at the decision
    nodes: int  # nodes removed with it


def remove(spot: GrowingSpot) -> list[SizeRemoved]:
    """Remove sizes at this check, and return them; counts this check for all others."""
    idle = [one for one in unused(spot) if spot.idle[one.text] >= IDLE_CHECKS]
    leaving = tops(_but_the_last_size(spot.game, idle))
    if not leaving:
        return []
    before = float(spot.regrets().sum())
    trial = without(spot, leaving)
    staying = _missed(trial, leaving)
    leaving = [one for one in leaving if one.text not in staying]
    if staying and leaving:
        trial = without(spot, leaving)
    while leaving and float(trial.regrets().sum()) > (1.0 + RISE) * before:
        leaving = sorted(leaving, key=lambda one: one.frequency)[: len(leaving) // 2]
        spot.touched = trial.touched
        trial = without(spot, leaving)
    decisions = decisions_by_line(spot.game)
    removed = [
        SizeRemoved(
            iteration=spot.iteration,
            player=one.player,
            street=spot.game.streets[decisions[one.line][0]].name,
            decision=line_text(one.line),
            action=one.action.name,
            size=text_of(rule_of(one.action)),
            frequency=one.frequency,
            nodes=one.nodes,
        )
        for one in leaving
    ]
    spot.touched = trial.touched
    if leaving:
        spot.game, spot.state = trial.game, trial.state
    spot.idle = {name: count for name, count in spot.idle.items() if count < IDLE_CHECKS}  # others restart
    return removed


def unused(spot: GrowingSpot) -> list[Unused]:
    """Return all sizes that are hardly bet now; ``spot.idle`` counts the checks in a row at which they were."""
    least, sizes = 0.0 if spot.current else LEAST, list[Unused]()
    behind, chosen_by_line = nodes_behind(spot.game), frequencies(spot)
    for line, (_, decision) in decisions_by_line(spot.game).items():
        chosen = chosen_by_line[line]
        for k, action in enumerate(decision.node.actions):
            if action.amount and chosen[k] <= least:
                nodes = behind[id(decision.node.children[k])]
                sizes.append(Unused(line, action, decision.player, float(chosen[k]), nodes))
    spot.idle = {one.text: spot.idle.get(one.text, 0) + 1 for one in sizes}
    return sizes


def frequencies(spot: GrowingSpot) -> dict[Line, Floats]:
    """Return the [actions] frequencies of each decision's actions for the player there, over all boards; by line."""
    game, result = spot.game, dict[Line, Floats]()
    plans = [_plan(spot, player) for player in (0, 1)]
    rows = [hand_rows(game, player) for player in (0, 1)]
    dealt = [start_weights(game, player) if spot.current else np.ones(HANDS + 1) for player in (0, 1)]  # in averages
    for line, (depth, decision) in decisions_by_line(game).items():
        here = rows[decision.player][depth, decision.texture]
        where = here.actions(decision.slot, len(decision.node.actions))
        numbers = plans[decision.player][where].astype(np.float64) @ (here.boards * dealt[decision.player][here.number])
        total = float(numbers.sum())
        result[line] = numbers / total if total > 0.0 else np.zeros(len(numbers))
    return result


def _plan(spot: GrowingSpot, player: int) -> npt.NDArray[Any]:
    """Return numbers in proportion to ``player``'s own probability of reaching a decision and choosing an action."""
    if spot.current:
        return plan_of(spot.game, spot.answer.sources, player, as_it_is(spot.root)).numbers
    return spot.averages[player]


def tops(sizes: list[Unused]) -> list[Unused]:
    """Return the sizes without those behind others."""
    lines = {(*one.line, one.action) for one in sizes}
    return [one for one in sizes if not any(one.line[:k] in lines for k in range(1, len(one.line) + 1))]


def without(spot: GrowingSpot, sizes: list[Unused]) -> GrowingSpot:
    """Return the run without some sizes; everything else learnt is unchanged."""
    old = spot.game
    fewer = without_sizes(old.spot, spot.root, [(one.line, one.action) for one in sizes])
    new = load_spot(fewer, like=old)
    trial = GrowingSpot(spot.solver, spot.offered, new, spot.carried_to(new), spot.current)
    trial.touched, trial.cuts = spot.touched, spot.cuts
    return trial


def _missed(trial: GrowingSpot, leaving: list[Unused]) -> set[str]:
    """Return sizes that proposition 1 would add at once, and those that are not candidates and could never return."""
    regrets, by_text = trial.regrets(), {one.text: one for one in leaving}
    missed = set(by_text)
    for player in {one.player for one in leaving}:
        for decision in trial.decision_gains(player):
            for k, action in enumerate(decision.real.node.actions):
                one = by_text.get(line_text((*decision.line, action)))
                if one is not None:
                    gain = trial.effective * float(decision.gains[k])
                    least = needed(regrets[player], trial.game.nodes, one.nodes, trial.effective, 1.0)
                    missed -= {one.text} if gain <= float(least) else set()
    return missed


def _but_the_last_size(game: HoldemGame, sizes: list[Unused]) -> list[Unused]:
    """Return the sizes without the largest one of decisions that would have none left."""
    decisions, staying = decisions_by_line(game), set[str]()
    listed = {one.text for one in sizes}
    for line in {one.line for one in sizes}:
        sized = [line_text((*line, action)) for action in decisions[line][1].node.actions if action.amount]
        if listed.issuperset(sized):
            staying.add(sized[-1])
    return [one for one in sizes if one.text not in staying]
