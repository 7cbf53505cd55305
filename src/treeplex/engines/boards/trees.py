"""Decisions of a subgame by node and by line, and a subgame's cards with another betting tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.boards import lay_out_storage
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Decision, split_streets
from treeplex.games.holdem.betting import CHANCE, DECISION, Action, BettingNode
from treeplex.games.holdem.classes import EVERY_BOARD


def with_tree(game: HoldemGame, root: BettingNode) -> HoldemGame:
    """Return a game with the same cards and chips but another betting tree."""
    streets = split_streets(root)
    return replace(game, streets=streets, boards=lay_out_storage(streets, game.boards[: len(streets)]), locks=())


def by_node(game: HoldemGame) -> dict[int, tuple[int, Decision]]:
    """Return the street and the record of every decision, by the identity of its node."""
    return {id(each.node): (depth, each) for depth, street in enumerate(game.streets) for each in street.decisions}


def decisions_by_line(game: HoldemGame) -> dict[tuple[Action, ...], tuple[int, Decision]]:
    """Return all decisions by the actions that lead to them, with the number of streets dealt before.

    Cards do not matter. If the spot distinguishes classes of cards, the line has a word for each class dealt.
    """
    known = {id(each.node): (depth, each) for depth, street in enumerate(game.streets) for each in street.decisions}
    decisions: dict[tuple[Action, ...], tuple[int, Decision]] = {}
    waiting: list[tuple[BettingNode, tuple[Action, ...]]] = [(game.root, ())]
    while waiting:
        node, line = waiting.pop()
        if node.kind == CHANCE and not node.actions:
            waiting.append((node.children[0], line))
            continue
        if node.kind == DECISION:
            decisions[line] = known[id(node)]
        waiting += [(child, (*line, action)) for child, action in zip(node.children, node.actions, strict=True)]
    return decisions


def copy_rows(game: HoldemGame, numbers: Floats, of: HoldemGame, stored: Floats, player: int) -> None:
    """Copy numbers ``stored`` for ``player`` in game ``of`` into ``numbers``, wherever line and actions agree.

    Both games have the same cards.
    """
    lines = decisions_by_line(of)
    for line, (depth, decision) in decisions_by_line(game).items():
        _, source = lines.get(line, (0, decision))
        if decision.player != player or line not in lines or source.node.actions != decision.node.actions:
            continue
        ours, theirs, actions = game.boards[depth].hands[player], of.boards[depth].hands[player], source.node.actions
        for board, width in enumerate(np.diff(ours.start).tolist()):
            if decision.texture not in (EVERY_BOARD, game.deals[depth][board].texture):
                continue
            first, start = (
                int(hands.storage[board]) + slot * width
                for hands, slot in ((theirs, source.slot), (ours, decision.slot))
            )
            numbers[start : start + len(actions) * width] = stored[first : first + len(actions) * width]
