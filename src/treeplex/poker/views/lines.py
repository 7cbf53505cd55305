"""Lines in a solved spot: resolve them to decisions and stored boards."""

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
    """A public node. Relabelling suits turns hands of the board that the user named into hands of the stored board."""

    node: BettingNode
    depth: int  # streets dealt since the start
    board: int  # index among the stored boards of that street
    cards: tuple[int, ...]  # the board as the user named it
    suits: Suits  # the stored board's suit for each suit
    steps: tuple[PathStep, ...]


def follow(game: HoldemGame, line: str) -> Position:
    """Return the position that a line leads to."""
    path, first = lines.follow(game.spot, game.root, line), len(game.spot.cards)
    boards = [stored_board(game.deals, path.cards[:count]) for count in range(first, len(path.cards) + 1)]
    steps = (PathStep(_decision(game, step.node, step.depth), step.action, *boards[step.depth]) for step in path.steps)
    depth, board, suits = boards[-1]
    return Position(path.node, depth, board, path.cards, suits, tuple(steps))


def decision_at(game: HoldemGame, position: Position) -> Decision:
    """Return the decision of a position; raise ``ParameterError`` if no player acts there."""
    lines.require_decision(position.node)
    return _decision(game, position.node, position.depth)


def _decision(game: HoldemGame, node: BettingNode, depth: int) -> Decision:
    return next(decision for decision in game.streets[depth].decisions if decision.node is node)
