"""Runouts: both players' EV and equity, and the next strategy, after every card that may come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, BettingNode
from treeplex.games.holdem.cards import HAND_CARDS, card_name
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.browse.lines import actions_at, after_card, crumbs, next_cards, pot_at
from treeplex.poker.views.equity import compatible
from treeplex.poker.views.lines import Position, decision_at, follow
from treeplex.poker.views.node import NodeAction, range_of
from treeplex.poker.views.reader import Reader, shares_of
from treeplex.poker.views.view import average


def chance_line(game: HoldemGame, line: str) -> str:
    """Return the line of the last chance node on the path to a position, or of the position itself."""
    position = follow(game, line)
    steps, path = crumbs(game, position)
    if position.node.kind == CHANCE:
        return path
    before = [step["line"] for step in steps if step["kind"] == CHANCE]
    if not before:
        raise ParameterError(f"The 'line' {quoted(line)} passes no card; name one on a later street.")
    return before[-1]


def runouts(reader: Reader, line: str) -> dict[str, Any]:
    """Return all cards at a chance node, separately even if they differ only by suits.

    ``actions`` has every action that is possible after some card; ``frequencies`` are in its order.
    """
    game, position = reader.game, follow(reader.game, line)
    reach = (reader.reach(position, 0), reader.reach(position, 1))
    cards: list[dict[str, Any]] = []
    totals, weight = np.zeros((2, 2)), 0.0
    equities = reader.equities.below(position, 0, *reach)
    menus: list[BettingNode] = []
    played: list[tuple[dict[str, Any], dict[str, float]]] = []
    for card in next_cards(position):
        to_line, to = after_card(game, line, card)
        left = [np.where(np.isin(HAND_CARDS, card).any(axis=1), 0.0, each) for each in reach]
        often = float((left[0] * compatible(left[1])).sum())
        entry: dict[str, Any] = {"card": card_name(card), "line": to_line}
        shares = shares_of(left[0], left[1])
        equity = average(equities(to), shares)
        ev: list[float | None]
        if to.node.kind == DECISION:
            ev, frequencies = _played(reader, to, left)
            menus.append(to.node)
            names = [action.name for action in to.node.actions]
            played.append((entry, dict(zip(names, frequencies, strict=True))))
            entry |= {"frequencies": frequencies, "to_act": PLAYERS[to.node.player]}
        else:
            pot = pot_at(game, to.node) - game.spot.rake(pot_at(game, to.node))
            ev = [None, None] if equity is None else [equity * pot, (1.0 - equity) * pot]
        entry |= {"ev": ev, "equity": [equity, None if equity is None else 1.0 - equity], "often": often}
        cards.append(entry)
        if equity is not None and ev[0] is not None and ev[1] is not None:
            totals += often * np.array([[ev[0], ev[1]], [equity, 1.0 - equity]])
            weight += often
    for each in cards:
        each["often"] /= weight or 1.0
    pot = pot_at(game, position.node)
    means: list[list[float | None]] = (totals / weight).T.tolist() if weight else [[None, None]] * 2
    ranges = {name: range_of(reach[k], means[k][0], means[k][1], pot) for k, name in enumerate(PLAYERS)}
    actions = _all_actions(game, menus)
    for entry, frequencies in played:
        entry["frequencies"] = [frequencies.get(action["name"], 0.0) for action in actions]
    shown = [{key: action[key] for key in ("name", "short", "colour")} for action in actions]
    return {"line": line, "pot": pot, "cards": cards, "actions": shown, "ranges": ranges}


def _all_actions(game: HoldemGame, menus: list[BettingNode]) -> list[NodeAction]:
    """Return the first actions on a street, smallest bet first: menus may differ by the class of the card."""
    if not menus:
        return []
    every = dict.fromkeys(action for node in menus for action in node.actions)
    return actions_at(game, replace(menus[0], actions=sorted(every, key=lambda action: action.amount)), "")


def _played(reader: Reader, position: Position, reach: list[Floats]) -> tuple[list[float | None], list[float]]:
    """Return both players' EV at the first decision of a street, and the frequencies of its actions."""
    decision = decision_at(reader.game, position)
    first, second = decision.player, 1 - decision.player
    strategy = reader.expand(reader.strategy(decision, position), position, first)
    own = reader.ev(position, decision, first, reach[second])
    share, other = shares_of(reach[first], reach[second]), shares_of(reach[second], reach[first])
    ev = {
        first: average((strategy * own).sum(axis=0), share),
        second: average(reader.ev(position, decision, second, reach[first])[0], other),
    }
    return [ev[0], ev[1]], [float(np.nansum(share * row)) for row in strategy]
