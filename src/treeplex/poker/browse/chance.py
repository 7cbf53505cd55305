"""The cards that may come: what each of them does to both players' EV and equity, and to what is played next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.lines import Place, decision_at, follow
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, Node
from treeplex.games.holdem.cards import HAND_CARDS, card_name
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.browse.lines import actions_at, after_card, crumbs, next_cards, pot_at
from treeplex.poker.browse.nodes import realisation
from treeplex.poker.views.equity import met
from treeplex.poker.views.reader import Reader, shares_of
from treeplex.poker.views.view import average


def chance_line(game: HoldemGame, line: str) -> str:
    """The line of the last chance node on the way to a place, or of the place itself."""
    place = follow(game, line)
    steps, told = crumbs(game, place)
    if place.node.kind == CHANCE:
        return told
    before = [step["line"] for step in steps if step["kind"] == CHANCE]
    if not before:
        raise ParameterError(f"The 'line' {quoted(line)} passes no card; name one on a later street.")
    return before[-1]


def runouts(reader: Reader, line: str) -> dict[str, Any]:
    """All cards at a chance node. Cards that suits make alike are told one by one.

    ``actions`` has all that may be done after some card; ``frequencies`` are in their order.
    """
    game, place = reader.game, follow(reader.game, line)
    reach = (reader.reach(place, 0), reader.reach(place, 1))
    cards: list[dict[str, Any]] = []
    totals, weight = np.zeros((2, 2)), 0.0
    equities = reader.equities.below(place, 0, *reach)
    menus: list[Node] = []
    played: list[tuple[dict[str, Any], dict[str, float]]] = []
    for card in next_cards(place):
        to_line, to = after_card(game, line, card)
        left = [np.where(np.isin(HAND_CARDS, card).any(axis=1), 0.0, each) for each in reach]
        often = float((left[0] * met(left[1])).sum())
        told: dict[str, Any] = {"card": card_name(card), "line": to_line}
        shares = shares_of(left[0], left[1])
        equity = average(equities(to), shares)
        ev: list[float | None]
        if to.node.kind == DECISION:
            ev, frequencies = _played(reader, to, left)
            menus.append(to.node)
            names = [action.name for action in to.node.actions]
            played.append((told, dict(zip(names, frequencies, strict=True))))
            told |= {"frequencies": frequencies, "to_act": PLAYERS[to.node.player]}
        else:
            pot = pot_at(game, to.node) - game.spot.rake(pot_at(game, to.node))
            ev = [None, None] if equity is None else [equity * pot, (1.0 - equity) * pot]
        told |= {"ev": ev, "equity": [equity, None if equity is None else 1.0 - equity], "often": often}
        cards.append(told)
        if equity is not None and ev[0] is not None and ev[1] is not None:
            totals += often * np.array([[ev[0], ev[1]], [equity, 1.0 - equity]])
            weight += often
    for each in cards:
        each["often"] /= weight or 1.0
    pot = pot_at(game, place.node)
    ranges = {name: _range(reach[k], totals[:, k] / weight if weight else None, pot) for k, name in enumerate(PLAYERS)}
    actions = _all_actions(game, menus)
    for told, frequencies in played:
        told["frequencies"] = [frequencies.get(action["name"], 0.0) for action in actions]
    shown = [{key: action[key] for key in ("name", "short", "colour")} for action in actions]
    return {"line": line, "pot": pot, "cards": cards, "actions": shown, "ranges": ranges}


def _all_actions(game: HoldemGame, menus: list[Node]) -> list[dict[str, Any]]:
    """What may be done first on a street, smallest bet first: menus may differ by the class of the card."""
    if not menus:
        return []
    every = dict.fromkeys(action for node in menus for action in node.actions)
    return actions_at(game, replace(menus[0], actions=sorted(every, key=lambda action: action.amount)), "")


def _played(reader: Reader, place: Place, reach: list[Floats]) -> tuple[list[float | None], list[float]]:
    """EV of both players at the first decision of a street, and how often each of its actions is taken."""
    decision = decision_at(reader.game, place)
    first, second = decision.player, 1 - decision.player
    strategy = reader.expand(reader.strategy(decision, place), place, first)
    own = reader.ev(place, decision, first, reach[second])
    share, other = shares_of(reach[first], reach[second]), shares_of(reach[second], reach[first])
    ev = {
        first: average((strategy * own).sum(axis=0), share),
        second: average(reader.ev(place, decision, second, reach[first])[0], other),
    }
    return [ev[0], ev[1]], [float(np.nansum(share * row)) for row in strategy]


def _range(reach: Floats, found: Floats | None, pot: float) -> dict[str, Any]:
    ev, equity = (None, None) if found is None else (float(found[0]), float(found[1]))
    return {"combos": float(reach.sum()), "ev": ev, "equity": equity, "realisation": realisation(ev, equity, pot)}
