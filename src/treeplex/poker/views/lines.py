"""Lines in a solved spot: the decisions and the stored boards that they lead to."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.engines.boards.boards import Suits, stored_board
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Decision
from treeplex.games.holdem import lines
from treeplex.games.holdem.betting import BettingNode


class PathStep(NamedTuple):
    """An action on the path to a position."""

    decision: Decision
    action: int
    depth: int
    board: int
    suits: Suits


class Position(NamedTuple):
    """A public node. Hands of the board that was named become hands of the stored board by changing suits."""

    node: BettingNode
    depth: int  # streets dealt since the start
    board: int  # among the stored boards of that street
    cards: tuple[int, ...]  # the board as it was named
    suits: Suits  # what each suit is on the stored board
    steps: tuple[PathStep, ...]


def follow(game: HoldemGame, line: str) -> Position:
    """Return the position that a line leads to."""
    path, first = lines.follow(game.spot, game.root, line), len(game.spot.cards)
    boards = [stored_board(game.deals, path.cards[:count]) for count in range(first, len(path.cards) + 1)]
    steps = (PathStep(_decision(game, step.node, step.depth), step.action, *boards[step.depth]) for step in path.steps)
    depth, board, suits = boards[-1]
    return Position(path.node, depth, board, path.cards, suits, tuple(steps))


def decision_at(game: HoldemGame, position: Position) -> Decision:
    """Return the decision of a position; a ``ParameterError`` if no player acts there."""
    lines.require_decision(position.node)
    return _decision(game, position.node, position.depth)


def _decision(game: HoldemGame, node: BettingNode, depth: int) -> Decision:
    return next(decision for decision in game.streets[depth].decisions if decision.node is node)
