"""Lines as links write them, ``x/b75/c/Qh``, and the path to a node as breadcrumbs."""

from __future__ import annotations

from collections.abc import Sequence

from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import DECISION, Action, BettingNode
from treeplex.games.holdem.cards import CARDS, card_name
from treeplex.games.holdem.lines import action_named, name_of, percent
from treeplex.games.holdem.money import format_amount
from treeplex.games.holdem.spot import PLAYERS
from treeplex.plots.grid import colours
from treeplex.poker.views.lines import Position, follow
from treeplex.poker.views.node import Crumb, NodeAction

SHORT = {"check": "x", "call": "c", "fold": "f", "all-in": "a", "bet": "b", "raise": "r"}


def word(game: HoldemGame, node: BettingNode, number: int) -> str:
    """Return the shortest word that names only this action of a node."""
    action = node.actions[number]
    short = SHORT[action.kind] + (format_amount(action.amount) if action.kind in ("bet", "raise") else "")
    try:
        resolved = action_named(game.spot, node, short)
    except ParameterError:  # ambiguous: the short word names two actions
        resolved = -1
    return short if resolved == number else action.name


def extended(line: str, more: str) -> str:
    """Return a line with one more word."""
    return f"{line}/{more}" if line else more


def short_name(game: HoldemGame, node: BettingNode, action: Action) -> str:
    """Return an action's name with bets in per cent of the pot only: ``bet 50%``."""
    return f"{action.kind} {percent(game.spot, node, action):.0f}%" if action.kind in ("bet", "raise") else action.kind


def actions_at(game: HoldemGame, node: BettingNode, line: str) -> list[NodeAction]:
    """Return the actions of a decision: names, colours, and the lines they lead to."""
    return [
        {
            "name": action.name,
            "label": name_of(game.spot, node, action),
            "short": short_name(game, node, action),
            "colour": colour,
            "line": extended(line, word(game, node, k)),
        }
        for k, (action, colour) in enumerate(zip(node.actions, colours(node.actions), strict=True))
    ]


def crumbs(game: HoldemGame, position: Position) -> tuple[list[Crumb], str]:
    """Return the path to a position, step by step, and its line."""
    steps: list[Crumb] = []
    line, depth, first = "", 0, len(game.spot.cards)
    dealt = [card_name(card) for card in position.cards[first:]]

    def deal(upto: int) -> None:
        nonlocal line, depth
        while depth < upto:
            steps.append({"kind": "chance", "line": line, "card": dealt[depth]})
            line, depth = extended(line, dealt[depth]), depth + 1

    for step in position.steps:
        deal(step.depth)
        node = step.decision.node
        steps.append(
            {
                "kind": "decision",
                "line": line,
                "player": PLAYERS[node.player],
                "pot": pot_at(game, node),
                "actions": actions_at(game, node, line),
                "taken": step.action,
            }
        )
        line = extended(line, word(game, node, step.action))
    deal(position.depth)
    return steps, line


def pot_at(game: HoldemGame, node: BettingNode) -> float:
    """Return all chips in the pot at a node, an uncalled bet included."""
    return game.spot.rounded(game.spot.pot + 2 * node.paid + node.to_call)


def stacks_of(game: HoldemGame, node: BettingNode) -> list[float]:
    """Return both players' remaining stacks."""
    behind = game.spot.rounded(game.spot.effective_stack - node.paid)
    if node.kind != DECISION:
        return [behind, behind]
    left = [behind, behind]
    left[1 - node.player] = game.spot.rounded(behind - node.to_call)
    return left


def next_cards(position: Position, dead: Sequence[int] = ()) -> list[int]:
    """Return the cards that may be dealt at a position, aces first, except ``dead`` ones."""
    return [card for card in range(CARDS - 1, -1, -1) if card not in position.cards and card not in dead]


def after_card(game: HoldemGame, line: str, card: int) -> tuple[str, Position]:
    """Return the line and the position after a card."""
    longer = extended(line, card_name(card))
    return longer, follow(game, longer)
