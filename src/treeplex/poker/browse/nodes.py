"""A node as the page shows it: its path, strategy and EV of every hand and class, and both ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import FREE
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD
from treeplex.games.holdem.cards import card_name
from treeplex.games.holdem.ranges import class_hands
from treeplex.games.holdem.spot import PLAYERS, STREETS
from treeplex.plots.grid import RANKS, SIDE, class_name
from treeplex.poker.browse.lines import actions_at, crumbs, extended, next_cards, pot_at, stacks_of
from treeplex.poker.views.lines import Position, decision_at, follow
from treeplex.poker.views.node import Hand, Node, Range, node_class, node_hand, range_of
from treeplex.poker.views.reader import Reader, shares_of
from treeplex.poker.views.view import View, average, known_or_none


def node(reader: Reader, line: str, player: str | None, runouts: Callable[[str], dict[str, Any]]) -> Node:
    """Return the node that a line leads to."""
    game, position = reader.game, follow(reader.game, line)
    common = common_fields(game, position)
    if position.node.kind == DECISION:
        return _decision(reader, position, common, player)[0]
    if position.node.kind == CHANCE:
        names = [card_name(card) for card in next_cards(position)]
        cards = [{"card": name, "line": extended(common["line"], name)} for name in names]
        return {**common, "cards": cards, "ranges": runouts(common["line"])["ranges"]}
    if position.node.kind == FOLD:
        return {**common, "result": f"{PLAYERS[position.node.player]} folds"}
    return {**common, "result": "showdown", "ranges": shown_down(reader, position)}


def exploit(reader: Reader, line: str, player: str | None) -> Node:
    """Return a node with the best response from there on, hand by hand."""
    position = follow(reader.game, line)
    if position.node.kind != DECISION:
        raise ParameterError(f"The 'line' {quoted(line)} does not lead to a decision; choose one where a player acts.")
    shown, view, hands = _decision(reader, position, common_fields(reader.game, position), player)
    decision = decision_at(reader.game, position)
    values = reader.ev(position, decision, view.player, view.opponent, best=True)
    known = np.where(np.isnan(values) | np.isnan(view.values), -np.inf, values)
    best, choice = known.max(axis=0), known.argmax(axis=0)
    free = np.ones(len(best), np.bool_)
    if view.actions:  # a locked hand also plays its locked strategy in a best response
        free = ~reader.locked(position, decision)
        best = np.where(free, best, np.where(np.isnan(view.played), -np.inf, view.played))
    gain = np.where(np.isfinite(best), np.maximum(best - view.played, 0.0), np.nan)
    for hand, row in zip(view.hands(), hands, strict=True):
        row["best"] = int(choice[hand]) if view.actions and free[hand] and np.isfinite(best[hand]) else None
        row["best_ev"], row["gain"] = known_or_none(best[hand]), known_or_none(gain[hand])
    return {**shown, "gain": float(np.nansum(gain * view.share))}


def common_fields(game: HoldemGame, position: Position) -> Node:
    """Return the fields that all nodes have."""
    steps, line = crumbs(game, position)
    kind = position.node.kind
    return {
        "kind": "decision" if kind == DECISION else "chance" if kind == CHANCE else "terminal",
        "line": line,
        "board": [card_name(card) for card in position.cards],
        "street": STREETS[len(position.cards) - 3],
        "pot": pot_at(game, position.node),
        "stacks": stacks_of(game, position.node),
        "to_call": position.node.to_call,
        "crumbs": steps,
    }


def _decision(reader: Reader, position: Position, common: Node, player: str | None) -> tuple[Node, View, list[Hand]]:
    """Return a decision, the view it comes from, and its hands."""
    game, decision = reader.game, decision_at(reader.game, position)
    view = reader.at(common["line"], player)
    mine, theirs = view.player, 1 - view.player
    other = reader.ev(position, decision, theirs, view.reach)
    if view.actions:
        strategy, share, opponent = view.strategy, view.share, other[0]
        ev = reader.ev(position, decision, mine, view.opponent)
    else:
        strategy = reader.expand(reader.strategy(decision, position), position, theirs)
        ev, share = other, shares_of(view.opponent, view.reach)
        opponent = (strategy * other).sum(axis=0)
    actions = actions_at(game, position.node, common["line"])
    for k, action in enumerate(actions):
        weight = share * strategy[k]
        action["frequency"], action["ev"] = float(np.nansum(weight)), average(ev[k], weight)
    index = game.boards[position.depth].hands[decision.player].decision[position.board] + decision.number
    equity = average(view.equity, view.share)
    value = average(opponent, shares_of(view.opponent, view.reach))
    both = {
        mine: range_of(view.reach, view.range_ev, equity, view.pot),
        theirs: range_of(view.opponent, value, None if equity is None else 1.0 - equity, view.pot),
    }
    hands = [node_hand(row, view.pot) for row in view.rows()]
    shown: Node = {
        **common,
        "to_act": PLAYERS[decision.player],
        "player": PLAYERS[mine],
        "actions": actions,
        "tolerance": view.tolerance,
        "hands": hands,
        "classes": _classes(view, game.spot.weights(mine)),
        "ranges": {name: both[k] for k, name in enumerate(PLAYERS)},
        "locked": bool(reader.keep().playing.frozen.where[decision.player][index] != FREE),
    }
    return shown, view, hands


def shown_down(reader: Reader, position: Position) -> dict[str, Range]:
    """Return both ranges at a node after which nobody bets any more."""
    reach = [reader.reach(position, player) for player in (0, 1)]
    equity = average(reader.equities.at(position, 0, reach[0], reach[1]), shares_of(reach[0], reach[1]))
    pot = pot_at(reader.game, position.node)
    left = pot - reader.game.spot.rake(pot)
    parts = [None, None] if equity is None else [equity, 1.0 - equity]
    return {
        name: range_of(reach[k], None if part is None else part * left, part, pot)
        for k, (name, part) in enumerate(zip(PLAYERS, parts, strict=True))
    }


def _classes(view: View, weights: Floats) -> list[Hand | None]:
    """Return the classes row by row, aces first; None where no hand of a class gets here."""
    rows = {row.hand: row for row in view.rows(by_class=True)}
    classes: list[Hand | None] = []
    for name in (class_name(row, column) for row, column in np.ndindex(SIDE, SIDE)):
        if name not in rows:
            classes.append(None)
            continue
        hands = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])
        start = float(weights[hands].sum())
        classes.append(node_class(rows[name], view.pot, rows[name].reach / start if start > 0.0 else 0.0))
    return classes
