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
from treeplex.engines.boards.game import load_spot
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.games.holdem.betting import Action
from treeplex.games.holdem.spot import Spot
from treeplex.poker.sizes.choose import Watch
from treeplex.poker.sizes.solves import Solve, joined

TRIES: Final = 3

Line = tuple[Action, ...]
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


def keep_lines(rich: Solve, lines: list[Line], keep: int, percent: float, watch: Watch) -> tuple[Lines, Solve, int]:
    """Menus by line, the game that has them, solved to so many per cent of the pot; and the work of games tried."""
    best: tuple[Lines, Solve] | None = None
    reader, work = rich.reader, 0
    for attempt in range(TRIES):
        menus = {line: _best_menu(rich, reader.responses(rich.player, told(line))[1], line, keep) for line in lines}
        if best is not None and menus == best[0]:
            break
        watch(f"menus by line, attempt {attempt + 1}")
        game = load_spot(spot_with(rich.game.spot, menus), like=rich.game)
        solved = Solve(game, rich.player, rich.threads).until(percent * game.spot.pot / 100.0)
        work += solved.work + len(lines) * rich.game.nodes
        if best is None or solved.low > best[1].low:
            best = menus, solved
        reader = joined(rich, solved)
    assert best is not None  # noqa: S101 - there is at least one attempt
    return reached(best[0]), best[1], work


def spot_with(spot: Spot, menus: Lines) -> Spot:
    """The spot with menus at lines that can still be reached."""
    sizes: dict[str, str] = {}
    for line, kept in reached(menus).items():
        faced = line[-1].amount if line else 0
        sizes[told(line)] = ", ".join(f"{spot.rounded(action.amount - faced):.12g}c" for action in kept)
    return replace(spot, line_sizes=sizes)


def reached(menus: Lines) -> Lines:
    """Those of lines on which the player keeps to its menus."""
    return {
        line: kept
        for line, kept in menus.items()
        if all(line[k] in menus[line[:k]] for k in range(len(line)) if line[:k] in menus and line[k].amount)
    }


def told(line: Line) -> str:
    """As people write it."""
    return ", ".join(action.name for action in line)


def _best_menu(rich: Solve, added: Floats, line: Line, keep: int) -> tuple[Action, ...]:
    """The sizes with the largest sum over hands of what the best action adds."""
    actions = decisions_by_line(rich.game)[line][1].node.actions
    always = [k for k, action in enumerate(actions) if not action.amount]
    sized = [k for k, action in enumerate(actions) if action.amount]
    menus = combinations(sized, min(keep, len(sized)))
    chosen = max(menus, key=lambda menu: float(added[[*always, *menu]].max(axis=0).sum()))
    return tuple(actions[k] for k in chosen)
