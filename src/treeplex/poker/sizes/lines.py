"""One menu per decision: choose sizes line by line, on the first street.

Each decision's menu is the one with the largest bound against the opponent's strategy, while all other menus are fixed.
The opponent's strategy is first that of the rich game, then that of the game with the latest menus, a few times. The
game with the best menus is solved, so their loss is certified. That no other menus are better is not certified.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Final

from treeplex.arrays import Floats
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.grown import Line, line_text
from treeplex.games.holdem.spot import Spot
from treeplex.poker.sizes.solves import Compute, Solve, Steps, joined, narrowed
from treeplex.tensors import count_of

ATTEMPTS: Final = 3

Lines = dict[Line, tuple[Action, ...]]
"""Chosen bets or raises, by line."""


def restricted_lines(rich: Solve, kinds: tuple[str, ...]) -> list[Line]:
    """Return the lines of the player's decisions on the first street with a bet or raise of these kinds."""
    lines: list[Line] = []
    for line, (depth, decision) in decisions_by_line(rich.game).items():
        node = decision.node
        kind = "raise" if node.faced else "bet"
        if (
            depth == 0
            and decision.player == rich.player
            and kind in kinds
            and any(each.amount for each in node.actions)
        ):
            lines.append(line)
    return sorted(lines, key=len)


class LineMenus:
    """The search for menus by line, and the games that it solves."""

    def __init__(self, rich: Solve, kinds: tuple[str, ...], keep: int, percent: float) -> None:
        """``percent``: NashConv to which games are solved, in per cent of the pot."""
        self.rich, self.lines, self.keep, self.percent = rich, restricted_lines(rich, kinds), keep, percent
        self.games: list[Solve] = []
        self.best: tuple[Lines, Solve] | None = None

    @property
    def work(self) -> int:
        """Passes times public nodes: of all games, and of a best response for every line of each."""
        return sum(solve.work + len(self.lines) * self.rich.nodes for solve in self.games)

    def run(self) -> Steps[tuple[Lines, Solve]]:
        """Search; return the best menus by line and their solved game."""
        for attempt in range(ATTEMPTS):
            stage = f"menus by line, attempt {attempt + 1}"
            choices = yield Compute(self._choices, stage)
            chosen = zip(self.lines, choices, strict=True)
            menus = {line: _menus(self.rich, line, self.keep)[count_of(choice)] for line, choice in chosen}
            if self.best is not None and menus == self.best[0]:
                break
            spot = spot_with(self.rich.spot, menus)
            self.games.append(Solve(spot, self.rich.player, self.rich.threads, self.rich))
            solved = yield from narrowed(self.games[-1], self.percent * spot.pot / 100.0, stage)
            if self.best is None or solved.low > self.best[1].low:
                self.best = menus, solved
        assert self.best is not None  # noqa: S101 - there is at least one attempt
        return reached(self.best[0]), self.best[1]

    def _choices(self) -> list[float]:
        """Return, by line, the index of the menu with the largest sum over hands of the best action's contribution."""
        reader = joined(self.rich, self.games[-1]) if self.games else self.rich.reader
        return [self._choice(line, reader.responses(self.rich.player, line_text(line))[1]) for line in self.lines]

    def _choice(self, line: Line, added: Floats) -> int:
        actions = decisions_by_line(self.rich.game)[line][1].node.actions
        always = [k for k, action in enumerate(actions) if not action.amount]
        sums = [
            float(added[[*always, *(actions.index(action) for action in menu)]].max(axis=0).sum())
            for menu in _menus(self.rich, line, self.keep)
        ]
        return sums.index(max(sums))


def spot_with(spot: Spot, menus: Lines) -> Spot:
    """Return the spot with menus at lines that can still be reached."""
    sizes: dict[str, str] = {}
    for line, menu in reached(menus).items():
        faced = line[-1].amount if line else 0
        sizes[line_text(line)] = ", ".join(f"{spot.rounded(action.amount - faced):.12g}c" for action in menu)
    return replace(spot, line_sizes=sizes)


def reached(menus: Lines) -> Lines:
    """Return the menus of lines on which the player keeps to its menus."""
    return {
        line: menu
        for line, menu in menus.items()
        if all(line[k] in menus[line[:k]] for k in range(len(line)) if line[:k] in menus and line[k].amount)
    }


def _menus(rich: Solve, line: Line, keep: int) -> list[tuple[Action, ...]]:
    """Return all menus of ``keep`` sizes at a decision."""
    sized = [action for action in decisions_by_line(rich.game)[line][1].node.actions if action.amount]
    return list(combinations(sized, min(keep, len(sized))))
