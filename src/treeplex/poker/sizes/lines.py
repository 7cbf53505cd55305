"""One menu per decision: sizes kept line by line, on the first street.

Each decision's menu is the one with the largest bound against the opponent's strategy, all others as they are: first
that of the rich game, then that of the game with the menus found so far, a few times. The game with the best menus is
solved, so what they lose is certified; that no others are better is not.
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

TRIES: Final = 3

Lines = dict[Line, tuple[Action, ...]]
"""Bets or raises that are kept, by line."""


def restricted_lines(rich: Solve, kinds: tuple[str, ...]) -> list[Line]:
    """Decisions of the player on the first street at which it may bet, or raise."""
    found: list[Line] = []
    for line, (depth, decision) in decisions_by_line(rich.game).items():
        node = decision.node
        kind = "raise" if node.faced else "bet"
        if (
            depth == 0
            and decision.player == rich.player
            and kind in kinds
            and any(each.amount for each in node.actions)
        ):
            found.append(line)
    return sorted(found, key=len)


class LineMenus:
    """Menus by line being found, and the games that are tried."""

    def __init__(self, rich: Solve, kinds: tuple[str, ...], keep: int, percent: float) -> None:
        """``percent``: of the pot, to which games are solved."""
        self.rich, self.lines, self.keep, self.percent = rich, restricted_lines(rich, kinds), keep, percent
        self.tried: list[Solve] = []
        self.best: tuple[Lines, Solve] | None = None

    @property
    def work(self) -> int:
        """Passes times public nodes: of games that were tried, and of a best response for every line of each."""
        return sum(solve.work + len(self.lines) * self.rich.nodes for solve in self.tried)

    def run(self) -> Steps[tuple[Lines, Solve]]:
        """Menus by line, and the game that has them, solved."""
        for attempt in range(TRIES):
            stage = f"menus by line, attempt {attempt + 1}"
            choices = yield Compute(self._choices, stage)
            chosen = zip(self.lines, choices, strict=True)
            menus = {line: _menus(self.rich, line, self.keep)[count_of(choice)] for line, choice in chosen}
            if self.best is not None and menus == self.best[0]:
                break
            spot = spot_with(self.rich.spot, menus)
            self.tried.append(Solve(spot, self.rich.player, self.rich.threads, self.rich))
            solved = yield from narrowed(self.tried[-1], self.percent * spot.pot / 100.0, stage)
            if self.best is None or solved.low > self.best[1].low:
                self.best = menus, solved
        assert self.best is not None  # noqa: S101 - there is at least one attempt
        return reached(self.best[0]), self.best[1]

    def _choices(self) -> list[float]:
        """By line, which menu has the largest sum over hands of what the best action adds."""
        reader = joined(self.rich, self.tried[-1]) if self.tried else self.rich.reader
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
    """The spot with menus at lines that can still be reached."""
    sizes: dict[str, str] = {}
    for line, kept in reached(menus).items():
        faced = line[-1].amount if line else 0
        sizes[line_text(line)] = ", ".join(f"{spot.rounded(action.amount - faced):.12g}c" for action in kept)
    return replace(spot, line_sizes=sizes)


def reached(menus: Lines) -> Lines:
    """Those of lines on which the player keeps to its menus."""
    return {
        line: kept
        for line, kept in menus.items()
        if all(line[k] in menus[line[:k]] for k in range(len(line)) if line[:k] in menus and line[k].amount)
    }


def _menus(rich: Solve, line: Line, keep: int) -> list[tuple[Action, ...]]:
    """All menus of so many sizes at a decision."""
    sized = [action for action in decisions_by_line(rich.game)[line][1].node.actions if action.amount]
    return list(combinations(sized, min(keep, len(sized))))
